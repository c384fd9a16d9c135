#!/bin/sh
# Runs once, when the database's volume is new. The role of the ingest: it makes and owns its tables, and may do nothing else. It reads
# no other table and no file, makes no role and no database. To change its password: ALTER ROLE firsttoken_ingest PASSWORD '…'.
set -eu

psql --set ON_ERROR_STOP=1 --set password="${INGEST_PG_PASSWORD:?}" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE firsttoken_ingest LOGIN PASSWORD :'password' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO firsttoken_ingest;
SQL
