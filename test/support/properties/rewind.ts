/** A database that can be put back to where it stood, for many short sequences from one beginning. */
import { Effect } from "effect"
import { Client } from "pg"
import { LastUses } from "../../../src/layers/sql/credentials/LastUses.ts"
import { counters } from "../postgres/rows.ts"

/** A session above every wall, which sees what is there and puts it back. */
export type Overseer = Client

export const oversee = async (url: string): Promise<Overseer> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

/** Rows that nobody has written since the last rewinding carry its transaction: only other tables are written anew. */
const rewindTable = (name: string, columns: string, rows: number): string => `
  select xid into clean from saved.clean where name = '${name}';
  select count(*) filter (where xmin = clean), count(*) into same, found from public."${name}";
  if same <> ${rows} or found <> ${rows} then
    delete from public."${name}";
    insert into public."${name}" (${columns}) overriding system value select ${columns} from saved."${name}";
    update saved.clean set xid = (select xmin from public."${name}" limit 1) where name = '${name}';
  end if;`

/** Keeps every row as it is now; `rewind` comes back to it. */
export const save = async (overseer: Overseer): Promise<void> => {
  // Generated columns follow from the others.
  const { rows } = await overseer.query<{ name: string; columns: string }>(`
    select relname::text as name,
      (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migration'
    order by relname`)
  await overseer.query("create schema saved; create table saved.clean (name text primary key, xid xid)")
  const counted: Array<string> = []
  for (const { columns, name } of rows) {
    const saved = await overseer.query(`create table saved."${name}" as table public."${name}"`)
    await overseer.query("insert into saved.clean (name) values ($1)", [name])
    counted.push(rewindTable(name, columns, saved.rowCount ?? 0))
  }
  await overseer.query(`
    create function saved.rewind() returns void language plpgsql set session_replication_role = replica as $$
    declare clean xid; same bigint; found bigint;
    begin ${counted.join("")}
    end $$`)
}

/**
 * Puts every row back to where `save` found it, with nothing left that the service is still to write of what it was
 * asked.
 */
export const rewind = Effect.fnUntraced(function*(overseer: Overseer) {
  yield* LastUses.use(({ written }) => written)
  yield* Effect.promise(() => overseer.query("select saved.rewind()"))
})

/** Frees what the rewinding has left behind. */
export const tidy = async (overseer: Overseer): Promise<void> => {
  await overseer.query("vacuum")
}

/** A key's ending, and what is sealed, differ each time that they are made. */
const random = ["last_used_at", "last_four", "letter_sealed", "sealed", "state_sealed"]

/** An account's slot follows from its id. */
const left = (table: string) =>
  (table === "monitor" ? [...random, "slot"] : random).map((name) => `'${name}'`).join(", ")

const rowsOf = (table: string, column: string): string =>
  `select '${table}' as name, to_jsonb(one) - array[${left(table)}] as row from "${table}" one where ${column} = $1`

/** A statement that reads everything of one organization, its people on the messenger too. */
export const everythingOf = async (overseer: Overseer): Promise<string> => {
  const { rows } = await overseer.query<{ table_name: string }>(`
    select table_name from information_schema.columns
    where table_schema = 'public' and column_name = 'organization_id'
      and table_name not in (${counters.map((name) => `'${name}'`).join(", ")}) order by table_name`)
  const people = "in (select messenger_user_id from account where organization_id = $1)"
  return `select name, row::text as row from (${
    [
      rowsOf("organization", "id"),
      ...rows.map(({ table_name }) => rowsOf(table_name, "organization_id")),
      `select 'simulated_account', to_jsonb(one) from simulated_account one where user_id ${people}`,
      `select 'simulated_authorization', to_jsonb(one) from simulated_authorization one where user_id ${people}`
    ].join(" union all ")
  }) everything order by name, coalesce(row ->> 'sequence', row ->> 'created_at', ''), row::text collate "C"`
}
