/** The journal's events as rows: how they are read, chained and hashed. */
import canonicalize from "canonicalize"
import { Effect, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as crypto from "node:crypto"
import { chainSeed, JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import type { JournalPage } from "../../../ports/journal/Journal.ts"

/** An event as it is stored. */
export type EventRow = Omit<JournalEvent, "object" | "actor" | "credential" | "target"> & {
  readonly actor_type: JournalEvent["actor"]["type"]
  readonly actor_admin_id: string | null
  readonly actor_name: string | null
  readonly credential_kind: NonNullable<JournalEvent["credential"]>["kind"] | null
  readonly credential_id: string | null
  readonly credential_label: string | null
  readonly target_type: string | null
  readonly target_id: string | null
}

/** The event of a row. */
export const fromRow = ({
  actor_admin_id,
  actor_name,
  actor_type,
  credential_id,
  credential_kind,
  credential_label,
  target_id,
  target_type,
  ...row
}: EventRow): JournalEvent => ({
  object: "journal_event",
  ...row,
  actor: { type: actor_type, admin_id: actor_admin_id, name: actor_name },
  credential: credential_kind === null
    ? null
    : { kind: credential_kind, id: credential_id ?? "", label: credential_label ?? "" },
  target: target_type === null ? null : { type: target_type, id: target_id ?? "" }
})

/** The hash that the chain starts from. */
export const seedHash = (organizationId: string): string =>
  crypto.createHash("sha256").update(chainSeed(organizationId)).digest("hex")

/** An event without what only the head of its journal knows. */
type UnplacedEvent = Omit<JournalEvent, PlaceField | "hash">

/** The members that only the journal's head knows, in the order of the canonical JSON, which sorts them. */
const placed = ["at", "prev_hash", "sequence"] as const
type PlaceField = typeof placed[number]

/** The members before, between and after those. */
const runs = [...placed, undefined].map((end, index) => {
  const start = placed[index - 1]
  return Struct.keys(Struct.omit(JournalEvent.fields, [...placed, "hash"]))
    .filter((name) => (start === undefined || name > start) && (end === undefined || name < end)).sort()
})

/** The canonical JSON of an event without its hash, cut where `at`, `prev_hash` and `sequence` belong. */
export const pieces = (event: UnplacedEvent) => {
  const [first, second, third, fourth] = runs.map((run) =>
    run.map((name) => `"${name}":${canonicalize(event[name])}`).join(",")
  )
  return [`{${first},"at":"`, `",${second},"prev_hash":"`, `",${third},"sequence":`, `,${fourth}}`] as const
}

/** SHA-256 over the previous hash and the canonical JSON (RFC 8785) of the event without its hash. */
export const eventHash = (event: Omit<JournalEvent, "hash">): string => {
  const [untilAt, untilPrevHash, untilSequence, rest] = pieces(event)
  return crypto.createHash("sha256")
    .update(Buffer.from(event.prev_hash, "hex"))
    .update(
      `${untilAt}${event.at.toISOString()}${untilPrevHash}${event.prev_hash}${untilSequence}${event.sequence}${rest}`
    )
    .digest("hex")
}

/** The columns of an event, in the order in which they are written. */
export const columns =
  `sequence, id, at, action, outcome, actor_type, actor_admin_id, actor_name, credential_kind, credential_id,
  credential_label, via, account_id, target_type, target_id, details, ip, request_id, closes, prev_hash, hash`

/** A journal's head: its newest event and that event's hash. */
export interface Head {
  readonly sequence: number
  readonly hash: string
}

/** The organization's head; within its transaction. */
export const head = Effect.fnUntraced(function*(organizationId: string): Effect.fn.Return<
  Head,
  never,
  SqlClient.SqlClient
> {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql<Head>`
    select sequence, hash from journal_head where organization_id = ${organizationId}`)
  return row ?? { sequence: 0, hash: seedHash(organizationId) }
})

/**
 * A row with what is to be proved of it: what it is found by, and its hash in the checkpoint of it, if there is one.
 */
export interface ProvedRow extends EventRow {
  /** True if what the event is found by follows from its action. */
  readonly filed: boolean
  readonly signed_hash: string | null
}

/** The rows after a sequence, oldest first, with their checkpoints. */
export const provedRows = Effect.fnUntraced(function*(organizationId: string, after: number, limit: number) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(sql<ProvedRow>`
    select ${sql.literal(columns)}, object = split_part(action, '.', 1) as filed,
      (select made.hash from journal_checkpoint made
        where made.organization_id = ${organizationId} and made.sequence = journal_event.sequence) as signed_hash
    from journal_event
    where organization_id = ${organizationId} and sequence > ${after} order by sequence limit ${limit}`)
})

/** The rows after a sequence, oldest first. */
export const following = (sql: SqlClient.SqlClient, organizationId: string, after: number, limit: number) =>
  sql<EventRow>`
    select ${sql.literal(columns)} from journal_event
    where organization_id = ${organizationId} and sequence > ${after} order by sequence limit ${limit}`

/** An event, if there is one, with the head, if there is one. */
type HeadedRow = (EventRow | { readonly sequence: null }) & {
  readonly last_sequence: number | null
  readonly head_hash: string | null
}

/**
 * The rows in their order, with the head as it was at the moment that they are of: one row with nulls where there are
 * none.
 */
export const withHead = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  rows: Statement.Fragment,
  order: "asc" | "desc"
) =>
  sql<HeadedRow>`
    select head.sequence as last_sequence, head.hash as head_hash, event.*
    from (values (true)) as one
    left join journal_head as head on head.organization_id = ${organizationId}
    left join lateral (${rows}) as event on true
    order by event.sequence ${sql.literal(order)}`

export const toPage = (organizationId: string, rows: ReadonlyArray<HeadedRow>): JournalPage => ({
  events: rows.flatMap((row) =>
    row.sequence === null ? [] : [fromRow(Struct.omit(row, ["last_sequence", "head_hash"]))]
  ),
  head: { sequence: rows[0]?.last_sequence ?? 0, hash: rows[0]?.head_hash ?? seedHash(organizationId) }
})

/** The events after a sequence, oldest first; within the organization's transaction. */
export const tail = Effect.fnUntraced(function*(
  organizationId: string,
  after: number,
  limit: number
): Effect.fn.Return<ReadonlyArray<JournalEvent>, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(following(sql, organizationId, after, limit))
  return rows.map(fromRow)
})
