-- Orders and amounts by state, from the logical table shop.orders in topic shop-rows.
-- In the SQL client: bin/sql-client.sh -j flink-sql-connector-kafka-5.0.0-2.2.jar -f orders_by_state.sql

-- A copy of the table (roma snapshot) sends rows again that the topic already has: with a primary key,
-- Flink then compares each message with the row that it has. Without it the sums count rows twice.
SET 'table.exec.source.cdc-events-duplicate' = 'true';

CREATE TABLE orders (
  id INT,
  state STRING,
  amount DECIMAL(10, 2),
  paid_at TIMESTAMP(0),  -- of DATETIME and of TIMESTAMP; TIMESTAMP_LTZ fails
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop-rows',
  'properties.bootstrap.servers' = 'kafka:9092',
  'properties.group.id' = 'orders-flink',
  'properties.isolation.level' = 'read_committed',  -- without it, aborted rows appear
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'canal-json',
  'canal-json.database.include' = 'shop',
  'canal-json.table.include' = 'orders'
);

SELECT state, COUNT(*) AS orders, SUM(amount) AS amount, MAX(paid_at) AS last_paid
FROM orders GROUP BY state;
