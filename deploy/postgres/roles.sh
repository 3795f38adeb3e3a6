#!/bin/sh
# What an administrator of PostgreSQL does once (docs/operations.md); the image runs it on its empty server.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres <<'SQL'
\set password `cat /run/secrets/console-password`
create role console_app nologin;
create role console login password :'password' in role console_app;
create database console owner console;
SQL
