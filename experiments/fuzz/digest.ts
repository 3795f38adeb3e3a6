/** One text for everything that the database holds, so that a change shows. */
import { unsaidColumns } from "../../test/support/world.ts"

/** Runs a statement and answers its rows. */
export type Query = (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>

/** Counters of requests and attempts, which refusals are for. */
const counters = new Set(["archive_attempt", "archive_read", "rate_limit", "password_throttle", "simulated_call"])

/** Whether the table is a part of the journal. */
export const isJournal = (table: string): boolean => table.startsWith("journal_")

/** Writes the digest of every table beside its name, but for what a refusal may change. */
export const digest = async (query: Query): Promise<string> => {
  const tables = await query(`select c.relname::text as name from pg_class c
    where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p') and not c.relispartition order by c.relname`)
  const parts = tables.map(({ name }) => String(name)).filter((name) => !counters.has(name)).map((name) =>
    `select '${name}' as name, md5(coalesce(string_agg(md5(row), '' order by row collate "C"), '')) as digest
     from (select (to_jsonb(rows) - ${unsaidColumns})::text as row from "${name}" rows) as texts`
  )
  const rows = await query(parts.join(" union all "))
  return rows.map(({ digest, name }) => `${String(name)} ${String(digest)}`).join("\n")
}

/** The tables whose digests differ. */
export const difference = (before: string, after: string): ReadonlyArray<string> => {
  const known = new Set(before.split("\n"))
  return after.split("\n").filter((line) => !known.has(line)).map((line) => line.split(" ", 1)[0] ?? "")
}

/** What the watch has done in its own time: how many events no request asked for, and how often accounts were held. */
export const watched = async (query: Query): Promise<string> => {
  const [row] = await query(`select concat_ws(' ', (select count(*) from journal_event where actor_type <> 'admin'),
    (select sum(fence) from monitor)) as done`)
  return String(row?.["done"])
}
