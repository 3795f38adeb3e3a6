#!/bin/sh
# What an administrator of PostgreSQL does once (docs/operations.md); the image runs it on its empty server.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres <<'SQL'
\set password `cat /run/secrets/console-password`
\set owner_password `cat /run/secrets/console-owner-password`
create role console_app nologin;
create role console_service nologin noinherit in role console_app;
create role console_owner login password :'owner_password';
create role console login password :'password' in role console_service;
create database console owner console_owner;
SQL
