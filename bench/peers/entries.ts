/** What both have written into the journal of one organization, by turns. */
import * as childProcess from "node:child_process"
import * as path from "node:path"
import { promisify } from "node:util"
import type { Client } from "pg"

const execFile = promisify(childProcess.execFile)
const root = path.join(import.meta.dirname, "../..")

/** Everything of an entry but its place in the chain, its time and the ids that are made for it. */
const entryRows = `
  select to_jsonb(journal_event) - array['id', 'sequence', 'at', 'request_id', 'prev_hash', 'hash'] as entry
  from journal_event where organization_id = $1 and sequence > $2 order by sequence`

const lastRow = "select coalesce(max(sequence), 0)::int as last from journal_event where organization_id = $1"

/** The place of the newest entry. */
export const lastEntry = async (database: Client, organizationId: string): Promise<number> => {
  const { rows } = await database.query<{ last: number }>(lastRow, [organizationId])
  return rows[0]?.last ?? 0
}

/** Where the peer's entry since that place is not the service's: they stand in pairs, the service's first. */
export const entryDifferences = async (
  database: Client,
  organizationId: string,
  since: number
): Promise<ReadonlyArray<string>> => {
  const { rows } = await database.query<{ entry: object }>(entryRows, [organizationId, since])
  const entries = rows.map(({ entry }) => JSON.stringify(entry))
  if (entries.length === 0 || entries.length % 2 !== 0) {
    return [`The two have written ${entries.length} entries together, where each writes the same`]
  }
  return entries.flatMap((entry, index) =>
    index % 2 === 1 || entry === entries[index + 1]
      ? []
      : [`An entry of the journal\n  the service: ${entry}\n  the peer:    ${entries[index + 1]}`]
  )
}

/** Fails unless the command line finds every journal whole. */
export const verifyJournals = async (databaseUrl: string, pepper: string): Promise<void> => {
  await execFile(process.execPath, ["src/cli/main.ts", "journal", "verify"], {
    cwd: root,
    env: { ...process.env, CONSOLE_DATABASE_URL: databaseUrl, CONSOLE_PEPPERS: pepper, CONSOLE_CHECKPOINT_KEYS: pepper }
  })
}
