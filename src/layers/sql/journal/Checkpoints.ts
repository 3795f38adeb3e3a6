/** Signs the heads of journals, at most once a minute for each organization, into one chain over all of them. */
import { Array, Clock, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { service } from "../../../domain/journal/Actor.ts"
import { type Checkpoint, noDigest } from "../../../domain/journal/Checkpoint.ts"
import { background, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import { CheckpointKeys, digest } from "../../crypto/journal/CheckpointKeys.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { LastCheckpoint } from "./LastCheckpoint.ts"

/** The database no longer has a checkpoint that this process has seen in it. */
class CheckpointsLost extends Schema.TaggedError<CheckpointsLost>()("CheckpointsLost", { number: Schema.Int }) {
  override get message(): string {
    return `The database has lost checkpoint ${this.number}, which it had: nothing is signed until somebody has looked.`
  }
}

/** How many organizations one transaction signs for. */
const batch = 200

/** Of all transactions of this database that sign, one runs at a time. */
const turn = 0x6a_6f_75_72

const columns = `number, organization_id as organization, sequence, hash, at, previous, key_id, signature`

type Row = Omit<Checkpoint, "object">

const fromRow = (row: Row): Checkpoint => ({ object: "journal_checkpoint", ...row })

/** The checkpoints after a number, in their order; as a directory statement. */
export const after = Effect.fnUntraced(function*(number: number, limit: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint where number > ${number} order by number limit ${limit}`
  return rows.map(fromRow)
})

/** The organization's checkpoints of events after one and up to another; within its transaction. */
export const between = Effect.fnUntraced(function*(organizationId: string, after: number, upTo: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint
    where organization_id = ${organizationId} and sequence > ${after} and sequence <= ${upTo} order by sequence`)
  return rows.map(fromRow)
})

/** The organization's newest checkpoint; within its transaction. */
export const newest = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint
    where organization_id = ${organizationId} order by sequence desc limit 1`)
  return Option.map(Option.fromNullishOr(row), fromRow)
})

/** The checkpoint of a number, if there is one; as a directory statement. */
const at = Effect.fnUntraced(function*(number: number) {
  return Option.filter(Option.fromNullishOr((yield* after(number - 1, 1))[0]), (found) => found.number === number)
})

/** Fails when the database is behind what this process has seen in it, or has another in its place. */
const continued = Effect.gen(function*() {
  const seen = yield* (yield* LastCheckpoint).get
  if (Option.isNone(seen)) return
  const found = yield* at(seen.value.number)
  if (Option.isNone(found) || digest(found.value) !== digest(seen.value)) {
    return yield* new CheckpointsLost({ number: seen.value.number })
  }
})

interface Due {
  readonly organization: string
  readonly sequence: number
  readonly hash: string
  readonly signed: boolean
}

/** Signs for the organizations that are due, some at a time; a journal that is being appended to has to wait. */
const signSome = Effect.fnUntraced(function*(until: Date | null) {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* CheckpointKeys
  const now = new Date(yield* Clock.currentTimeMillis)
  return yield* Tenant.directory(sql)(sql.withTransaction(Effect.gen(function*() {
    yield* sql`select pg_advisory_xact_lock(${turn})`
    yield* continued
    const due = yield* sql<Due>`
      select head.organization_id as organization, head.sequence, head.hash, exists (
        select 1 from journal_checkpoint made
        where made.organization_id = head.organization_id and made.sequence = head.sequence) as signed
      from journal_unsigned unsigned join journal_head head on head.organization_id = unsigned.organization_id
      where ${until === null ? sql`true` : sql`due_at <= ${until}`}
      order by due_at, head.organization_id limit ${batch} for no key update of head skip locked`
    if (due.length === 0) return { made: [], found: 0 }
    const [last] = yield* sql<Row>`
      select ${sql.literal(columns)} from journal_checkpoint order by number desc limit 1`
    let number = last?.number ?? 0
    let previous = last === undefined ? noDigest : digest(fromRow(last))
    const made: globalThis.Array<Checkpoint> = []
    for (const { hash, organization, sequence, signed } of due) {
      if (signed) continue
      number += 1
      const checkpoint = keys.sign({
        object: "journal_checkpoint",
        number,
        organization,
        sequence,
        hash,
        at: now,
        previous
      })
      previous = digest(checkpoint)
      made.push(checkpoint)
    }
    const rows: ReadonlyArray<Record<string, unknown>> = made.map(({ object: _, organization, ...row }) => ({
      organization_id: organization,
      ...row
    }))
    if (Array.isReadonlyArrayNonEmpty(rows)) yield* sql`insert into journal_checkpoint ${sql.insert(rows)}`
    yield* sql`
      delete from journal_unsigned where ${sql.in("organization_id", due.map(({ organization }) => organization))}`
    return { made, found: due.length }
  })))
})

/** Journals of which another key signed the last checkpoint, which had better not go unseen. */
const keyChanges = Effect.fnUntraced(function*() {
  const sql = yield* SqlClient.SqlClient
  const { keyId } = yield* CheckpointKeys
  return yield* Tenant.directory(sql)(sql<{ organization: string; sequence: number; key_id: string }>`
    select unsigned.organization_id as organization, last.sequence, last.key_id
    from journal_unsigned unsigned cross join lateral (
      select sequence, key_id from journal_checkpoint made where made.organization_id = unsigned.organization_id
      order by sequence desc limit 1) as last
    where last.key_id <> ${keyId} order by due_at limit ${batch}`)
})

const changed = journalAction("checkpoint_key.changed")

/** Journals that another key signs from now on, once for each organization. */
const journalKeyChanges = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Ports.Db
  const journal = yield* Ports.Journal
  const { keyId, publicKeys } = yield* CheckpointKeys
  for (const { key_id, organization, sequence } of yield* keyChanges()) {
    const id = OrganizationId.make(organization)
    yield* db.transaction(
      id,
      Effect.gen(function*() {
        yield* sql`select 1 from journal_head where organization_id = ${id} for update`
        const written = yield* sql`
          select 1 from journal_event
          where organization_id = ${id} and action = ${changed.action} and sequence > ${sequence} and target_id = ${keyId}`
        if (written.length > 0) return
        yield* journal.append(
          id,
          journalEntry(service, background, changed, {
            targetId: keyId,
            details: { previous_key_id: key_id, previous_key_known: publicKeys.some(({ kid }) => kid === key_id) }
          })
        )
      }).pipe(Effect.orDie)
    )
  }
})

/** Signs every journal that is due, or with `all` every one that has events without a signature; answers how many. */
export const sign = Effect.fnUntraced(function*(all: boolean) {
  const last = yield* LastCheckpoint
  yield* journalKeyChanges
  const until = all ? null : new Date(yield* Clock.currentTimeMillis)
  let signed = 0
  while (true) {
    const { found, made } = yield* signSome(until)
    signed += made.length
    const newest = made.at(-1)
    if (newest !== undefined) yield* last.set(newest)
    if (found < batch) return signed
  }
})

/** Signs at its end everything that has no signature yet, where no other process uses the database. */
export const layerAtEnd = Layer.effectDiscard(Effect.addFinalizer(() =>
  sign(true).pipe(
    Effect.catchTag("service_unavailable", () => Effect.void),
    Effect.catchCause((cause) => Effect.logError("Checkpoints could not be signed", cause))
  )
))
