import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Checkpoint, PublicJwk } from "../../../domain/journal/Checkpoint.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { Db } from "../../../ports/Db.ts"
import { judge } from "../../crypto/journal/CheckpointKeys.ts"
import * as Sql from "../../postgres/Rows.ts"
import { eventHash, fromRow, type Head, head, provedRows, seedHash } from "./JournalRows.ts"

/**
 * What is wrong with a chain, and from which event on: a gap in the sequence, an event that does not continue the one
 * before, one that is not what its hash says, a head that is not the last event, a checkpoint that the journal does not
 * reach or does not agree with, or whose signature is forged.
 */
export type ChainState =
  | ({ readonly ok: true } & Head)
  | ChainBreak

export interface ChainBreak {
  readonly ok: false
  readonly sequence: number
  readonly reason: "gap" | "link" | "hash" | "head" | "truncated" | "checkpoint" | "signature"
}

/** The events that are read at a time: requests wait while their hashes are computed. */
const verifyPage = 200

/** The head with which reading a journal begins. */
export const beginning = (organizationId: string): Head => ({ sequence: 0, hash: seedHash(organizationId) })

/** Reads the next events from a position on, within the organization's transaction; `last` where no others follow. */
const walk = Effect.fnUntraced(function*(
  organizationId: string,
  from: Head,
  known: ReadonlyMap<number, string> = new Map()
): Effect.fn.Return<ChainState & { readonly last: boolean }, never, SqlClient.SqlClient> {
  let { hash, sequence } = from
  const broken = (at: number, reason: ChainBreak["reason"]) =>
    ({ ok: false, sequence: at, reason, last: true }) as const
  const rows = yield* provedRows(organizationId, sequence, verifyPage)
  for (const { filed, signed_hash, ...row } of rows) {
    const event = fromRow(row)
    if (event.sequence !== sequence + 1) return broken(sequence + 1, "gap")
    if (event.prev_hash !== hash) return broken(event.sequence, "link")
    // One column follows from the action, to be found by.
    if (event.hash !== eventHash(event) || !filed) return broken(event.sequence, "hash")
    sequence = event.sequence
    hash = event.hash
    if ((known.get(sequence) ?? hash) !== hash || (signed_hash ?? hash) !== hash) return broken(sequence, "checkpoint")
  }
  return { ok: true, sequence, hash, last: rows.length < verifyPage }
})

/**
 * True if a page of events after the position would not be the last. Without an order a plan for all positions reads
 * the whole table for one.
 */
const goesOn = Effect.fnUntraced(function*(organizationId: OrganizationId, { sequence }: Head) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(Sql.exists(sql`
    select 1 from journal_event
    where organization_id = ${organizationId} and sequence > ${sequence + verifyPage} order by sequence limit 1`))
})

/**
 * The position in a journal from which one page at most is left, which is not read here; each page before is read in a
 * transaction of its own.
 */
export const lastPage = Effect.fnUntraced(function*(organizationId: OrganizationId, from: Head) {
  const db = yield* Db
  let at = from
  while (true) {
    const next = Effect.flatMap(
      goesOn(organizationId, at),
      (more) => more ? walk(organizationId, at) : Effect.succeed(null)
    )
    const page = yield* db.read(organizationId, next)
    if (page === null || !page.ok || page.last) return at
    at = page
  }
})

/** The fault of a journal whose last checkpoint names one of the keys, which has not signed it. */
export const forgedBy = (keys: ReadonlyArray<PublicJwk>, last: Checkpoint | null): ChainBreak | undefined =>
  last === null || judge(keys, last) !== "signature"
    ? undefined
    : { ok: false, sequence: last.sequence, reason: "signature" }

/**
 * Reads the organization's journal, all of it or from a position on, within its transaction, and compares it with its
 * checkpoints, and with others that were kept elsewhere: a chain alone does not show that its end was cut off.
 */
export const verify = Effect.fnUntraced(function*(
  organizationId: string,
  checkpoints: ReadonlyArray<Head> = [],
  from: Head = beginning(organizationId)
): Effect.fn.Return<ChainState, never, SqlClient.SqlClient> {
  const hashes = new Map(checkpoints.map((checkpoint) => [checkpoint.sequence, checkpoint.hash]))
  const sql = yield* SqlClient.SqlClient
  let at = from
  let missed = -1
  // Each statement sees what is committed when it begins: events that are added meanwhile are read too, and the
  // checkpoints
  // are read before the head, which is never behind them.
  while (true) {
    const page = yield* walk(organizationId, at, hashes)
    if (!page.ok) return { ok: false, sequence: page.sequence, reason: page.reason }
    at = page
    if (!page.last) continue
    const { hash, sequence } = at
    const beyond = yield* Effect.orDie(sql`
      select 1 from journal_checkpoint where organization_id = ${organizationId} and sequence > ${sequence}
      order by sequence limit 1`)
    const last = yield* head(organizationId)
    if (last.sequence > sequence && sequence > missed) {
      missed = sequence
      continue
    }
    if (last.sequence !== sequence || last.hash !== hash) return { ok: false, sequence, reason: "head" }
    return beyond.length > 0 || checkpoints.some((checkpoint) => checkpoint.sequence > sequence)
      ? { ok: false, sequence, reason: "truncated" }
      : { ok: true, sequence, hash }
  }
})
