#!/usr/bin/env bash
# Sourced by the image's entry point at the first start; docker_process_sql is its own.
docker_process_sql <<SQL
CREATE USER 'relay'@'%' IDENTIFIED BY '${ROMA_RELAY_PASSWORD:?}';
GRANT REPLICATION SLAVE, BINLOG MONITOR, SELECT ON *.* TO 'relay'@'%';
SQL
