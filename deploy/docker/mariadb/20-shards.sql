-- Two physical shards of one shop.
CREATE DATABASE shop_01;
CREATE DATABASE shop_02;
CREATE TABLE shop_01.customer_01 (id BIGINT PRIMARY KEY, name VARCHAR(50) NOT NULL, email VARCHAR(100));
CREATE TABLE shop_02.customer_02 LIKE shop_01.customer_01;
INSERT INTO shop_01.customer_01 VALUES (1, 'Ada', 'ada@example.org');
INSERT INTO shop_02.customer_02 VALUES (2, 'Grace', NULL);
