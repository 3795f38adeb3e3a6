import { Clock, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { type Caller, isNarrowing, superadmins } from "../../domain/Access.ts"
import type { JournalEntry } from "../../domain/JournalEntry.ts"
import { refusalsJournaled } from "../../domain/Limits.ts"
import * as Ports from "../../ports/index.ts"
import { accessSources, canAccess, union } from "./AccountAccess.ts"
import {
  columns,
  eventHash,
  type EventRow,
  following,
  fromRow,
  type Head,
  head,
  pieces,
  provedRows,
  seedHash,
  tail,
  toPage,
  withHead
} from "./JournalRows.ts"
import { hit } from "./RateLimiter.ts"
import * as Tenant from "./Tenant.ts"

export { type Head, head, tail }

/** How long an intent may stay without an outcome before it counts as abandoned. */
export const intentTime = Duration.minutes(1)

/** The kinds of objects whose events the billing role sees. */
const billingObjects = ["organization", "subscription", "billing"]

/** Holds for a row of `journal_event` about an account that the caller can access. */
const aboutAccessible = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment =>
  sql`exists (
    select 1 from account
    where account.organization_id = journal_event.organization_id and account.id = journal_event.account_id
      and ${canAccess(sql, caller)})`

/** Holds for a row of `journal_event` that the admin's role may see. */
const visibleToRole = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment => {
  if (superadmins.includes(caller.role)) return sql`true`
  const others = caller.role === "billing"
    ? sql`object in ${sql.in(billingObjects)}`
    : aboutAccessible(sql, caller)
  return sql`(actor_admin_id = ${caller.adminId} or ${others})`
}

/** Holds for a row of `journal_event` that the caller may see: a limited credential sees of accounts its own alone. */
const visible = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment =>
  isNarrowing(caller.limit)
    ? sql`(${visibleToRole(sql, caller)} and (account_id is null or ${aboutAccessible(sql, caller)}))`
    : visibleToRole(sql, caller)

/**
 * The journal in SQL. The role of tenants may read it and append to it; by which department an event is found follows
 * the account.
 */
export const layer = Layer.effect(
  Ports.Journal,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const literalColumns = sql.literal(columns)

    /**
     * The sequences of the events visible for which the conditions hold, from every way to them the newest of each;
     * undefined for a caller who sees all that there are.
     */
    const pages = (
      caller: Caller["Service"],
      places: ReadonlyArray<Statement.Fragment>,
      filters: ReadonlyArray<Statement.Fragment>,
      accountId: string | undefined,
      count: Statement.Fragment
    ): Statement.Fragment | undefined => {
      const conditions = sql.and([...places, ...filters])
      const newest = (...holds: ReadonlyArray<Statement.Fragment>) =>
        sql`(select sequence from journal_event
          where ${sql.and([sql`organization_id = ${caller.organizationId}`, conditions, ...holds])}
          order by sequence desc limit ${count})`
      const ofEach = (sources: Statement.Fragment, holds: Statement.Fragment) =>
        sql`(select page.sequence from (${sources}) as source cross join lateral ${newest(holds)} as page)`
      // Filtered events are looked at one by one, newest first: never more of them than the caller may see.
      const filtered = filters.length === 0 ? sql`` : sql`cross join lateral (
        select 1 from journal_event
        where ${
        sql.and([sql`organization_id = ${caller.organizationId}`, sql`sequence = place.sequence`, ...filters])
      } offset 0) as event`
      const inDepartments = (departments: Statement.Fragment) =>
        sql`(select page.sequence from (${departments}) as source cross join lateral (
          select place.sequence from (
            select sequence from journal_place
            where ${
          sql.and([
            sql`organization_id = ${caller.organizationId}`,
            sql`department_id = source.department_id`,
            ...places
          ])
        } order by sequence desc ${filters.length === 0 ? sql`limit ${count}` : sql``}) as place ${filtered}
          order by place.sequence desc limit ${count}) as page)`
      const sources = accessSources(sql, caller)
      const beyond = isNarrowing(caller.limit) ? sql`account_id is null` : sql`true`
      const own = sql`actor_admin_id = ${caller.adminId}`
      if (caller.role === "billing") {
        const within = isNarrowing(caller.limit)
          ? sql`(account_id is null or ${aboutAccessible(sql, caller)})`
          : sql`true`
        return union(sql, [
          newest(own, within),
          ...billingObjects.map((object) => newest(sql`object = ${sql.literal(`'${object}'`)}`, within))
        ])
      }
      if (sources === null) return undefined
      const others = superadmins.includes(caller.role) ? newest(beyond) : newest(own, beyond)
      const account = accountId === undefined ? sources.accounts : sql`
        select account.id as account_id from account
        where organization_id = ${caller.organizationId} and account.id = ${accountId} and ${canAccess(sql, caller)}`
      return union(sql, [
        others,
        ...(account === undefined
          ? []
          : [ofEach(account, sql`journal_event.account_id = source.account_id`)]),
        ...(accountId !== undefined || sources.departments === undefined
          ? []
          : [inDepartments(sources.departments)])
      ])
    }

    /** The call by which the database appends the entry; with time it is an intent, and answers its sequence. */
    const appending = Effect.fnUntraced(
      function*(organizationId: string, entry: JournalEntry, time?: Duration.Duration) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const event = { object: "journal_event" as const, id: yield* random.uuidV7(), ...entry }
        const [untilAt, untilPrevHash, untilSequence, rest] = pieces(event)
        return sql`append_event(${organizationId}, ${now}, ${event.id}, ${event.action}, ${event.outcome},
          ${event.actor.type}, ${event.actor.admin_id}, ${event.actor.name}, ${event.credential?.kind ?? null},
          ${event.credential?.id ?? null}, ${event.credential?.label ?? null}, ${event.via}, ${event.account_id},
          ${event.target?.type ?? null}, ${event.target?.id ?? null}, ${JSON.stringify(event.details)}, ${event.ip},
          ${event.request_id}, ${event.closes}, ${untilAt}, ${untilPrevHash}, ${untilSequence}, ${rest},
          ${time === undefined ? null : Duration.toMillis(time)})`
      }
    )

    const append = Effect.fnUntraced(function*(organizationId: string, entry: JournalEntry) {
      yield* post(sql`select ${yield* appending(organizationId, entry)}`)
    })

    return Ports.Journal.of({
      append,

      begin: Effect.fnUntraced(
        function*(organizationId, entry) {
          const [intent] = yield* sql<{ sequence: number }>`
            select ${yield* appending(organizationId, entry, intentTime)} as sequence`
          return intent ?? (yield* Effect.die(new Error("The journal did not say where the intent is")))
        },
        Effect.orDie
      ),

      renew: Effect.fnUntraced(
        function*(organizationId, intent) {
          const deadline = new Date((yield* Clock.currentTimeMillis) + Duration.toMillis(intentTime))
          const renewed = yield* sql`
            update pending_change set deadline = ${deadline}
            where organization_id = ${organizationId} and sequence = ${intent} returning sequence`
          return renewed.length > 0
        },
        Effect.orDie
      ),

      close: Effect.fnUntraced(
        function*(organizationId, intent, entry) {
          const closed = yield* sql`
            with open as (
              delete from pending_change where organization_id = ${organizationId} and sequence = ${intent}
              returning sequence
            )
            select ${yield* appending(organizationId, entry)} from open`
          return closed.length > 0
        },
        Effect.orDie
      ),

      refuse: Effect.fnUntraced(function*(organizationId, credentialId, entry) {
        const { admitted } = yield* hit(sql, `refused/${credentialId}`, refusalsJournaled)
        if (admitted) yield* Tenant.transaction(sql, organizationId)(append(organizationId, entry))
      }),

      list: Effect.fnUntraced(
        function*(caller, query) {
          const { organizationId } = caller
          const mine = sql.and([sql`organization_id = ${organizationId}`, visible(sql, caller)])
          const [cursor] = query.beforeId === undefined
            ? []
            : yield* sql<{ sequence: number }>`
              select sequence from journal_event where ${mine} and id = ${query.beforeId}`
          if (query.beforeId !== undefined && cursor === undefined) return null
          // Times never go back along the sequence, so that a moment is a place in it.
          const places = [
            ...(cursor !== undefined
              ? [sql`sequence < ${cursor.sequence}`]
              : query.before !== undefined
              ? [sql`sequence <= (
                  select sequence from journal_event
                  where organization_id = ${organizationId} and at < ${query.before}
                  order by at desc, sequence desc limit 1)`]
              : []),
            ...(query.since === undefined
              ? []
              : [sql`sequence >= (
                  select sequence from journal_event
                  where organization_id = ${organizationId} and at >= ${query.since}
                  order by at, sequence limit 1)`])
          ]
          const filters = [
            ...(query.accountId === undefined ? [] : [sql`account_id = ${query.accountId}`]),
            ...(query.adminId === undefined ? [] : [sql`actor_admin_id = ${query.adminId}`]),
            ...(query.action === undefined
              ? []
              : query.action.endsWith(".*")
              ? [sql`object = ${query.action.slice(0, -2)}`]
              : [sql`action = ${query.action}`]),
            ...(query.outcome === undefined ? [] : [sql`outcome = ${query.outcome}`]),
            ...(query.credentialId === undefined ? [] : [sql`credential_id = ${query.credentialId}`])
          ]
          const holds = sql.and([...places, ...filters])
          // As a literal: a plan for every limit would expect to read a tenth of the table.
          const count = sql.literal(String(query.limit + 1))
          const sequences = pages(caller, places, filters, query.accountId, count)
          const statement = sequences === undefined
            ? sql<EventRow>`
              select ${literalColumns} from journal_event where organization_id = ${organizationId} and ${holds}
              order by sequence desc limit ${count}`
            : sql<EventRow>`
              with page as (select * from (${sequences}) as found (sequence) order by sequence desc limit ${count})
              select ${literalColumns} from journal_event
              where organization_id = ${organizationId} and sequence in (select sequence from page)
              order by sequence desc`
          // Which index serves best depends on the values: one plan for all of them would read too much.
          const plain = filters.length === 0 && query.before === undefined && query.since === undefined
          const beside = withHead(sql, organizationId, statement, "desc")
          return toPage(organizationId, yield* plain ? beside : beside.unprepared)
        },
        Effect.orDie
      ),

      find: (caller, id) =>
        sql<EventRow>`
          select ${literalColumns} from journal_event
          where organization_id = ${caller.organizationId} and ${visible(sql, caller)} and id = ${id}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row === undefined ? null : fromRow(row))
        ),

      tail: (organizationId, after, limit) =>
        Effect.map(
          Effect.orDie(withHead(sql, organizationId, following(sql, organizationId, after, limit), "asc")),
          (rows) => toPage(organizationId, rows)
        )
    })
  })
)

/**
 * What is wrong with a chain, and from which event on: a gap in the sequence, an event that does not continue the one
 * before, one that is not what its hash says, a head that is not the last event, or a checkpoint that the journal does
 * not reach or does not agree with.
 */
export type ChainState =
  | ({ readonly ok: true } & Head)
  | Broken

interface Broken {
  readonly ok: false
  readonly sequence: number
  readonly reason: "gap" | "link" | "hash" | "head" | "truncated" | "checkpoint"
}

const verifyPage = 1000

/** Where reading a journal begins. */
export const beginning = (organizationId: string): Head => ({ sequence: 0, hash: seedHash(organizationId) })

/** Reads the next events from a position on, within the organization's transaction; `last` where no others follow. */
export const walk = Effect.fnUntraced(function*(
  organizationId: string,
  from: Head,
  known: ReadonlyMap<number, string> = new Map()
): Effect.fn.Return<ChainState & { readonly last: boolean }, never, SqlClient.SqlClient> {
  let { hash, sequence } = from
  const broken = (at: number, reason: Broken["reason"]) => ({ ok: false, sequence: at, reason, last: true }) as const
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
 * Reads the organization's journal, all of it or from a position on, within its transaction, and compares it with its
 * checkpoints, and with others that somebody has kept: a chain alone does not show that its end was cut off.
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
      select 1 from journal_checkpoint where organization_id = ${organizationId} and sequence > ${sequence} limit 1`)
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
