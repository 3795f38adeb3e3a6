-- The changes of the schema that a database has: number 0 is the tables of this folder, and those after it are
-- migrations such as `0001_verb_noun`.

create table schema_migration (
  migration_id integer primary key, -- the number in the migration's name
  created_at timestamptz not null default now(), -- the time when it ran, by the database's clock
  name text not null -- the name without the number
);
grant select on schema_migration to console_service;

insert into schema_migration (migration_id, name) values (0, 'baseline');
