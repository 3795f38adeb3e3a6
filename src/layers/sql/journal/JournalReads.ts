import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type Caller, isNarrowing, superadmins } from "../../../domain/people/Access.ts"
import type { Journal } from "../../../ports/index.ts"
import { accessSources, canAccess, union } from "../accounts/AccountAccess.ts"
import { columns, type EventRow, following, fromRow, toPage, withHead } from "./JournalRows.ts"

/** The kinds of objects whose events the billing role sees. */
const billingObjects = ["organization", "subscription", "billing"]

/** The condition that a row of `journal_event` is about an account that the caller can access. */
const aboutAccessible = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment =>
  sql`exists (
    select 1 from account
    where account.organization_id = journal_event.organization_id and account.id = journal_event.account_id
      and ${canAccess(sql, caller)})`

/** The condition that the admin's role may see a row of `journal_event`. */
const visibleToRole = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment => {
  if (superadmins.includes(caller.role)) return sql`true`
  const others = caller.role === "billing"
    ? sql`object in ${sql.in(billingObjects)}`
    : aboutAccessible(sql, caller)
  return sql`(actor_admin_id = ${caller.adminId} or ${others})`
}

/**
 * The condition that the caller may see a row of `journal_event`: a limited credential sees of accounts its own alone.
 */
const visible = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment =>
  isNarrowing(caller.limit)
    ? sql`(${visibleToRole(sql, caller)} and (account_id is null or ${aboutAccessible(sql, caller)}))`
    : visibleToRole(sql, caller)

/** Reads of the journal: a page, one event, and what follows one. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
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
    // Filtered events are read one by one, newest first: never more of them than the caller may see.
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

  return {
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
          // As a literal: the index has the events that are not done.
          ...(query.outcome === undefined ? [] : [sql`outcome = ${sql.literal(`'${query.outcome}'`)}`]),
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
        // The best index depends on the values: one plan for all of them would read too much.
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

    completing: (organizationId, sequences) =>
      sql<{ closes: number; sequence: number }>`
        select closes, sequence from journal_event
        where organization_id = ${organizationId} and closes = any(${sequences}::bigint[])`.pipe(
        Effect.orDie,
        Effect.map((rows) => new Map(rows.map(({ closes, sequence }) => [closes, sequence])))
      ),

    tail: (organizationId, after, limit) =>
      Effect.map(
        Effect.orDie(withHead(sql, organizationId, following(sql, organizationId, after, limit), "asc")),
        (rows) => toPage(organizationId, rows)
      )
  } satisfies Partial<Journal["Service"]>
})
