/** What the two have written into their journals, and whether each is whole. */
import * as childProcess from "node:child_process"
import * as path from "node:path"
import { promisify } from "node:util"
import type { Client } from "pg"
import { main } from "../../test/support/run/program.ts"

const execFile = promisify(childProcess.execFile)
const root = path.join(import.meta.dirname, "../..")

/** What both keep of an entry, but its place in the chain, its time and the ids that are made for it. */
const facts =
  `jsonb_build_array(action, outcome, actor_type, actor_admin_id, actor_name, credential_kind, credential_id,
  credential_label, via, account_id, target_type, target_id, details, ip, closes) as entry`

const rowsOf = {
  service: `select ${facts} from journal_event where organization_id = $1 and sequence > $2 order by sequence`,
  peer: `select ${facts} from journal where organization_id = $1 and sequence > $2 order by sequence`
}

const lastOf = {
  service: "select coalesce(max(sequence), 0)::int as last from journal_event where organization_id = $1",
  peer: "select coalesce(max(sequence), 0)::int as last from journal where organization_id = $1"
}

export interface Databases {
  readonly service: Client
  readonly peer: Client
}

export type Places = Readonly<Record<keyof Databases, number>>

/** The places of the newest entries. */
export const lastEntries = async (databases: Databases, organizationId: string): Promise<Places> => {
  const last = async (of: keyof Databases) =>
    (await databases[of].query<{ last: number }>(lastOf[of], [organizationId])).rows[0]?.last ?? 0
  return { service: await last("service"), peer: await last("peer") }
}

/** Where the peer's entries since those places are not the service's. */
export const entryDifferences = async (
  databases: Databases,
  organizationId: string,
  since: Places
): Promise<ReadonlyArray<string>> => {
  const entries = async (of: keyof Databases) =>
    (await databases[of].query<{ entry: unknown }>(rowsOf[of], [organizationId, since[of]])).rows
      .map(({ entry }) => JSON.stringify(entry))
  const ours = await entries("service")
  const theirs = await entries("peer")
  if (ours.length === 0) return ["The service has written no entry of the journal"]
  return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, index) => index)
    .filter((index) => ours[index] !== theirs[index])
    .map((index) => `Entry ${index}\n  the service: ${ours[index]}\n  the peer:    ${theirs[index]}`)
}

/** The peer's entries that are not chained to the one before by their hash, or whose head is another. */
const broken = `
  select organization_id, sequence from (
    select journal.*, journal_text(journal.*) as text, journal_head.sequence as last, journal_head.hash as last_hash,
      lag(journal.sequence, 1, 0::bigint) over chain as sequence_before,
      lag(journal.hash, 1, sha256(convert_to(organization_id, 'UTF8'))) over chain as hash_before
    from journal join journal_head using (organization_id)
    window chain as (partition by organization_id order by journal.sequence)
  ) as entry
  where sequence <> sequence_before + 1 or prev_hash <> hash_before or hash <> sha256(prev_hash || text)
    or sequence > last or (sequence = last and hash <> last_hash)`

/** Fails unless the command line finds every journal of the service whole, and the peer's chains hold. */
export const verifyJournals = async (databaseUrl: string, pepper: string, peer: Client): Promise<void> => {
  await execFile(process.execPath, [main, "journal", "verify"], {
    cwd: root,
    env: { ...process.env, CONSOLE_DATABASE_URL: databaseUrl, CONSOLE_PEPPERS: pepper, CONSOLE_CHECKPOINT_KEYS: pepper }
  })
  const { rows } = await peer.query<{ organization_id: string; sequence: number }>(broken)
  const [first] = rows
  if (first !== undefined) throw new Error(`The peer's journal of ${first.organization_id} breaks at ${first.sequence}`)
}
