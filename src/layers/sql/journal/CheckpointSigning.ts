/**
 * Signs the heads of journals into one chain over all of them.
 *
 * The owner of the database can change every row that this goes by. What is to be signed therefore follows from the
 * heads and the last checkpoints, each last checkpoint is checked by its signature, and a journal is read again from
 * there to its head before the head is signed.
 */
import { Array, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Checkpoint, noDigest } from "../../../domain/journal/Checkpoint.ts"
import { now } from "../../../domain/Moments.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import {
  CheckpointForged,
  CheckpointSigning,
  CheckpointsLost,
  type DueJournal,
  type ReadJournal
} from "../../../ports/journal/CheckpointSigning.ts"
import { CheckpointKeys, digest, judge } from "../../crypto/journal/CheckpointKeys.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Chain from "./JournalChain.ts"
import { LastCheckpoint } from "./LastCheckpoint.ts"
import { unsignedJournals } from "./Unsigned.ts"

/** One statement reads so many checkpoints. */
const batch = 200

/** Of all transactions of this database that sign, one runs at a time. */
const turn = 0x6a_6f_75_72

type DueRow = Checkpoints.Row | { readonly organization: string; readonly number: null }

/** The next journals after an organization: those that were not signed in this minute, or all. */
const dueAfter = Effect.fnUntraced(function*(after: string, all: boolean, limit: number) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const rows = yield* Tenant.directory(sql)(sql<DueRow>`
    select head.organization_id as organization, last.number, last.sequence, last.hash, last.at, last.previous,
      last.key_id, last.signature
    from journal_head head left join lateral (
      select number, sequence, hash, at, previous, key_id, signature from journal_checkpoint made
      where made.organization_id = head.organization_id order by sequence desc limit 1) as last on true
    where head.organization_id > ${after} and head.sequence > 0
      and (last.number is null or last.sequence <> head.sequence or last.hash <> head.hash)
      and (${all} or last.number is null
        or date_bin(interval '1 minute', last.at, timestamptz 'epoch')
          <> date_bin(interval '1 minute', ${at}::timestamptz, timestamptz 'epoch'))
    order by head.organization_id limit ${limit}`)
  return rows.map((row): DueJournal => ({
    organization: OrganizationId.make(row.organization),
    last: row.number === null ? null : Checkpoints.fromRow(row)
  }))
})

const holdForKeyChange = Effect.fnUntraced(function*(organization: OrganizationId, last: Checkpoint) {
  const sql = yield* SqlClient.SqlClient
  const { keyId, publicKeys } = yield* CheckpointKeys
  yield* sql`select 1 from journal_head where organization_id = ${organization} for update`
  const written = yield* Sql.exists(sql`
    select 1 from journal_event
    where organization_id = ${organization} and action = 'checkpoint_key.changed' and sequence > ${last.sequence}
      and target_id = ${keyId}`)
  return written ? null : publicKeys.some(({ kid }) => kid === last.key_id)
}, Effect.orDie)

/** Reads a journal again from its last checkpoint to its head. */
const read = Effect.fnUntraced(function*({ last, organization }: DueJournal) {
  const db = yield* Db
  const { publicKeys } = yield* CheckpointKeys
  const from = last ?? Chain.beginning(organization)
  const state = Chain.forgedBy(publicKeys, last) ??
    (yield* db.read(organization, Chain.verify(organization, [], yield* Chain.lastPage(organization, from))))
  return state.ok ? { organization, last, head: state } : state
})

const markBroken = Effect.fnUntraced(function*(organization: OrganizationId, sequence: number, at: Date) {
  const sql = yield* SqlClient.SqlClient
  return yield* Tenant.transaction(sql, organization)(Sql.exists(sql`
    update journal_head set checked_at = ${at}, checked_ok = false, checked_sequence = ${sequence},
      checked_hash = null
    where organization_id = ${organization} and checked_ok is distinct from false returning 1`))
})

/** The newest checkpoint after one that this process has seen; each after that has to continue the chain. */
const followed = Effect.fnUntraced(function*(
  seen: Checkpoint,
  isForged: (checkpoint: Checkpoint) => boolean
): Effect.fn.Return<Checkpoint, CheckpointForged | SqlError.SqlError, SqlClient.SqlClient> {
  let newest = seen
  while (true) {
    const next = yield* Checkpoints.after(newest.number, batch)
    for (const checkpoint of next) {
      const continues = checkpoint.number === newest.number + 1 && checkpoint.previous === digest(newest)
      if (!continues || isForged(checkpoint)) return yield* new CheckpointForged({ number: checkpoint.number })
      newest = checkpoint
    }
    if (next.length < batch) return newest
  }
})

/** The newest checkpoint, which a new one may continue; null where there is none. */
const continued = Effect.gen(function*() {
  const { publicKeys } = yield* CheckpointKeys
  const isForged = (checkpoint: Checkpoint) => judge(publicKeys, checkpoint) === "signature"
  const seen = yield* (yield* LastCheckpoint).get
  if (Option.isSome(seen)) {
    const { number } = seen.value
    const [found] = yield* Checkpoints.after(number - 1, 1)
    if (found === undefined || digest(found) !== digest(seen.value)) return yield* new CheckpointsLost({ number })
    return yield* followed(found, isForged)
  }
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Checkpoints.Row>`
    select ${sql.literal(Checkpoints.columns)} from journal_checkpoint order by number desc limit 1`
  if (row === undefined) return null
  const newest = Checkpoints.fromRow(row)
  return isForged(newest) ? yield* new CheckpointForged({ number: newest.number }) : newest
})

/** Signs the heads of those that no other process has signed meanwhile. */
const signHeads = Effect.fnUntraced(function*(journals: ReadonlyArray<ReadJournal>, at: Date) {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* CheckpointKeys
  const memory = yield* LastCheckpoint
  const { before, made } = yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
    yield* sql`select pg_advisory_xact_lock(${turn})`
    const before = yield* continued
    const ids = journals.map(({ organization }) => organization)
    const signed = yield* sql<{ organization: string; sequence: number }>`
      select asked.organization, coalesce((
        select made.sequence from journal_checkpoint made where made.organization_id = asked.organization
        order by made.sequence desc limit 1), 0) as sequence
      from unnest(${ids}::text[]) as asked (organization)`
    const sequences = new Map(signed.map(({ organization, sequence }) => [organization, sequence]))
    const made: globalThis.Array<Checkpoint> = []
    for (const { head, last, organization } of journals) {
      if (sequences.get(organization) !== (last?.sequence ?? 0) || head.sequence === last?.sequence) continue
      const previous = made.at(-1) ?? before
      made.push(keys.sign({
        object: "journal_checkpoint",
        number: (previous?.number ?? 0) + 1,
        organization,
        sequence: head.sequence,
        hash: head.hash,
        at,
        previous: previous === null ? noDigest : digest(previous)
      }))
    }
    const rows: ReadonlyArray<Record<string, unknown>> = made.map(({ object: _, organization, ...row }) => ({
      organization_id: organization,
      ...row
    }))
    if (Array.isReadonlyArrayNonEmpty(rows)) yield* sql`insert into journal_checkpoint ${sql.insert(rows)}`
    return { before, made }
  })))
  const newest = made.at(-1) ?? before
  const seen = Option.getOrNull(yield* memory.get)
  if (newest !== null && newest.number !== seen?.number) yield* memory.set(newest)
  return made.length
})

export const layer = Layer.effect(
  CheckpointSigning,
  Effect.gen(function*() {
    const services = yield* Effect.context<SqlClient.SqlClient | Db | CheckpointKeys | LastCheckpoint>()
    const { keyId } = yield* CheckpointKeys
    const within = Effect.provideContext(services)
    return {
      keyId,
      late: within(unsignedJournals),
      due: (after, all, limit) => within(dueAfter(after, all, limit)),
      holdForKeyChange: (organizationId, last) => within(holdForKeyChange(organizationId, last)),
      read: (journal) => within(read(journal)),
      markBroken: (organizationId, sequence, at) => within(markBroken(organizationId, sequence, at)),
      sign: (journals, at) => within(signHeads(journals, at))
    }
  })
)
