/**
 * Signs the heads of journals, at most once a minute for each organization, into one chain over all of them.
 *
 * The owner of the database can change every row that this goes by. What is to be signed therefore follows from the
 * heads and the last checkpoints, each last checkpoint is checked by its signature, and a journal is read again from
 * there to its head before the head is signed.
 */
import { Array, Clock, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { type Checkpoint, noDigest } from "../../../domain/journal/Checkpoint.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import { CheckpointKeys, digest, judge } from "../../crypto/journal/CheckpointKeys.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as ChainCheck from "./ChainCheck.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as Chain from "./JournalChain.ts"
import type { Head } from "./JournalRows.ts"
import { LastCheckpoint } from "./LastCheckpoint.ts"
import { unsignedJournals } from "./Unsigned.ts"

/** The database no longer has a checkpoint that this process has seen in it. */
class CheckpointsLost extends Schema.TaggedError<CheckpointsLost>()("CheckpointsLost", { number: Schema.Int }) {
  override get message(): string {
    return `The database has lost checkpoint ${this.number}, which it had: nothing is signed until an operator has looked.`
  }
}

/** A checkpoint that this process has not seen continues the chain without a signature of its key. */
class CheckpointForged extends Schema.TaggedError<CheckpointForged>()("CheckpointForged", { number: Schema.Int }) {
  override get message(): string {
    return `Checkpoint ${this.number} in the database is forged: nothing is signed until an operator has looked.`
  }
}

/** One transaction signs for so many organizations, and one statement reads so many checkpoints. */
const batch = 200

/** Journals that are read at a time. */
const readers = 4

/** Of all transactions of this database that sign, one runs at a time. */
const turn = 0x6a_6f_75_72

/** A journal whose head is not what was signed last. */
interface Due {
  readonly organization: OrganizationId
  readonly last: Checkpoint | null
}

type DueRow = Checkpoints.Row | { readonly organization: string; readonly number: null }

/** The next journals after an organization: those that were not signed in this minute, or all. */
const dueAfter = Effect.fnUntraced(function*(after: string, all: boolean) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
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
          <> date_bin(interval '1 minute', ${now}::timestamptz, timestamptz 'epoch'))
    order by head.organization_id limit ${batch}`)
  return rows.map((row): Due => ({
    organization: OrganizationId.make(row.organization),
    last: row.number === null ? null : Checkpoints.fromRow(row)
  }))
})

const changed = journalAction("checkpoint_key.changed")

/** Journals that another key signs from now on, once; it had better not go unseen. */
const journalKeyChange = Effect.fnUntraced(function*(organization: OrganizationId, last: Checkpoint) {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Ports.Db
  const journal = yield* Ports.Journal
  const { keyId, publicKeys } = yield* CheckpointKeys
  yield* db.transaction(
    organization,
    Effect.gen(function*() {
      yield* sql`select 1 from journal_head where organization_id = ${organization} for update`
      const written = yield* sql`
        select 1 from journal_event
        where organization_id = ${organization} and action = ${changed.action} and sequence > ${last.sequence}
          and target_id = ${keyId}`
      if (written.length > 0) return
      yield* journal.append(
        organization,
        journalEntry(service, background, changed, {
          targetId: keyId,
          details: {
            previous_key_id: last.key_id,
            previous_key_known: publicKeys.some(({ kid }) => kid === last.key_id)
          }
        })
      )
    }).pipe(Effect.orDie)
  )
})

/** A journal that was read again from its last checkpoint on, and where its head is. */
interface Recomputed extends Due {
  readonly head: Head
}

/** Reads a journal again from its last checkpoint to its head; nothing where it cannot be signed, which is logged. */
const recompute = Effect.fnUntraced(function*({ last, organization }: Due) {
  const db = yield* Ports.Db
  const { keyId, publicKeys } = yield* CheckpointKeys
  if (last !== null && last.key_id !== keyId) yield* journalKeyChange(organization, last)
  const from = last ?? Chain.beginning(organization)
  const state = Chain.forgedBy(publicKeys, last) ??
    (yield* db.read(organization, Chain.verify(organization, [], yield* Chain.lastPage(organization, from))))
  if (state.ok) return Option.some<Recomputed>({ organization, last, head: state })
  if (yield* ChainCheck.foundBroken(organization, state)) {
    yield* Effect.logError(
      `The journal of ${organization} is not signed: it is broken at ${state.sequence} (${state.reason}), after ` +
        `checkpoint ${last?.number ?? 0}. See journal verify`
    )
  }
  return Option.none<Recomputed>()
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
const signHeads = Effect.fnUntraced(function*(journals: ReadonlyArray<Recomputed>) {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* CheckpointKeys
  const memory = yield* LastCheckpoint
  const now = new Date(yield* Clock.currentTimeMillis)
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
        at: now,
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

/** Signs every journal that is due, or with `all` every one that has events without a signature; answers how many. */
export const sign = Effect.fnUntraced(function*(all: boolean) {
  let signed = 0
  let after = ""
  while (true) {
    const due = yield* dueAfter(after, all)
    const journals = yield* Effect.forEach(due, recompute, { concurrency: readers })
    signed += yield* signHeads(journals.flatMap(Option.toArray))
    const last = due.at(-1)
    if (last === undefined || due.length < batch) return signed
    after = last.organization
  }
})

/** The job that signs the journals that are due; events that have waited too long are logged once for each journal. */
export const turns = Effect.sync(() => {
  let reported: ReadonlySet<string> = new Set()
  return Effect.gen(function*() {
    const late = yield* unsignedJournals
    for (const { at, organization, sequence } of late.filter((journal) => !reported.has(journal.organization))) {
      yield* Effect.logError(
        `No checkpoint covers event ${sequence} of ${organization}, of ${at.toISOString()}: until it was signed, the ` +
          "owner of the database could have changed it"
      )
    }
    reported = new Set(late.map(({ organization }) => organization))
    return yield* sign(false)
  })
})

/** Signs at its end everything that has no signature yet, where no other process uses the database. */
export const layerAtEnd = Layer.effectDiscard(Effect.addFinalizer(() =>
  sign(true).pipe(
    Effect.catchTag("service_unavailable", () => Effect.void),
    Effect.catchCause((cause) => Effect.logError("Checkpoints could not be signed", cause))
  )
))
