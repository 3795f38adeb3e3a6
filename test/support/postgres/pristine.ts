/** A database as the migrations leave it, and as they leave it again after what tests have written. */
import type { PGlite } from "@electric-sql/pglite"

/** Asks a database as its superuser; every statement here answers one text. */
export type Ask = (statement: string) => Promise<ReadonlyArray<{ readonly answer: string | null }>>

/** PGlite's superuser. */
export const embedded = (database: PGlite): Ask => async (statement) =>
  (await database.query<{ readonly answer: string | null }>(statement)).rows

/** What the migrations leave. */
export interface Pristine {
  /** Everything but rows: tables, rights, functions, roles, statistics. */
  readonly schema: string
  /** The rows of the tables that have any, by table, as JSON. */
  readonly rows: Readonly<Record<string, string>>
}

/** Catalogs whose rows change with the schema alone; each row says which transaction has written it. */
const written = [
  "pg_attribute",
  "pg_attrdef",
  "pg_constraint",
  "pg_default_acl",
  "pg_extension",
  "pg_index",
  "pg_policy",
  "pg_proc",
  "pg_rewrite",
  "pg_sequence",
  "pg_statistic",
  "pg_trigger"
]

/** The catalogs that say what a schema is; those of whole rows hold nothing that changes with the rows of tables. */
const catalogs: ReadonlyArray<string> = [
  ...written.map((catalog) => `select concat_ws(' ', count(*), max(xmin::text::int8)) from ${catalog}`),
  `select concat_ws(' ', oid, relname, relkind, relpersistence, relowner, relacl, relrowsecurity, relforcerowsecurity,
    reloptions, relhastriggers, relhasrules) from pg_class
    where relnamespace = 'public'::regnamespace and relpersistence <> 't'`,
  `select concat_ws(' ', oid, nspname, nspowner, nspacl) from pg_namespace
    where nspname not like 'pg\\_temp\\_%' and nspname not like 'pg\\_toast\\_temp\\_%'`,
  `select concat_ws(' ', setrole, setconfig) from pg_db_role_setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))`,
  `select concat_ws(' ', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls,
    rolconnlimit) from pg_authid where rolname ~ '^console'`,
  `select concat_ws(' ', roleid::regrole, member::regrole, admin_option) from pg_auth_members
    where roleid::regrole::text ~ '^console'`
]

const schemaOf = catalogs
  .map((catalog) =>
    `(select coalesce(md5(string_agg(one, ',' order by one collate "C")), '-') from (${catalog}) as rows (one))`
  )
  .join(", ")

const tables = `select oid::regclass::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r'`

const schema = async (ask: Ask): Promise<string> =>
  (await ask(`select concat_ws(' ', ${schemaOf}) as answer`))[0]?.answer ?? ""

const rowsOf = async (ask: Ask, table: string): Promise<string> =>
  (await ask(`select coalesce(json_agg(to_json(rows)), '[]') :: text as answer from ${table} as rows`))[0]?.answer ?? ""

/** Reads what the migrations have left. */
export const read = async (ask: Ask): Promise<Pristine> => {
  const rows: Record<string, string> = {}
  for (const { answer } of await ask(`select name as answer from (${tables}) as tables order by name`)) {
    const found = await rowsOf(ask, answer ?? "")
    if (found !== "[]") rows[answer ?? ""] = found
  }
  return { schema: await schema(ask), rows }
}

/** Up to so many bytes a table is emptied row by row: the planner takes it for that large when it is empty, too. */
const small = 10 * 8192

/** Empties every table that has a row, whatever keeps others from it, and starts each sequence anew. */
const empty = `do $$
declare
  place record;
  large text[] := '{}';
begin
  perform set_config('session_replication_role', 'replica', true);
  for place in select name, pg_relation_size(name::regclass) as bytes from (${tables}) as tables loop
    if place.bytes > ${small} then large := large || place.name;
    elsif place.bytes > 0 then execute format('delete from %s', place.name);
    end if;
  end loop;
  if large <> '{}' then
    execute 'truncate ' || array_to_string(large, ', ') || ' cascade';
  end if;
  for place in select format('%I.%I', schemaname, sequencename) as name, start_value as start from pg_sequences
    where schemaname = 'public' and last_value is not null loop
    perform setval(place.name, place.start, false);
  end loop;
end $$`

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Brings the database back to that; answers whether it is, which is not so where a test has changed more than rows. */
export const restore = async (ask: Ask, pristine: Pristine): Promise<boolean> => {
  if (await schema(ask) !== pristine.schema) return false
  await ask(empty)
  for (const [table, rows] of Object.entries(pristine.rows)) {
    await ask(
      `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ${
        literal(rows)
      })`
    )
  }
  return true
}
