import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import {
  type AccountFacts,
  type AccountId,
  type LatestPoll,
  type ListedFacts
} from "../../../domain/accounts/Account.ts"
import { patterns } from "../../../domain/accounts/AccountSearch.ts"
import { terminationsShown } from "../../../domain/Limits.ts"
import type { Caller } from "../../../domain/people/Access.ts"
import type { SessionFacts, Termination } from "../../../domain/sessions/Session.ts"
import type { Accounts } from "../../../ports/index.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { withTitles } from "../archive/CurrentChat.ts"
import { accessSources, accountOf, canAccess, canAccessId, union } from "./AccountAccess.ts"
import { accountColumns, listedColumns, withArchive, withArchiveOfFew } from "./AccountColumns.ts"
import { inStatus, type StatusConditions } from "./AccountStatuses.ts"

/** The number of matches of each kind that are considered: of more than these, which come first is undefined. */
const candidates = 500

/**
 * The number of an organization's accounts up to which they are searched one by one: the index of trigrams is shared by
 * all organizations, and what a search of a small one costs must not depend on the others.
 */
const few = 5000

/** The search for accounts, and the reading of one. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault

  const columns = sql.literal(accountColumns)
  const shown = sql.literal(listedColumns)
  const archive = sql.literal(withArchive)
  const archiveOfFew = sql.literal(withArchiveOfFew)

  /** The keys of the accessible accounts for which the conditions hold, from every way to them the first of each. */
  const pages = (
    caller: Caller["Service"],
    conditions: Statement.Fragment,
    status: StatusConditions | undefined,
    count: Statement.Fragment,
    departmentId: string | undefined
  ): Statement.Fragment => {
    const mine = sql`organization_id = ${caller.organizationId} and ${conditions}`
    const sources = accessSources(sql, caller)
    // Otherwise a plan may look through the other departments too, account by account.
    const asked = departmentId === undefined ? sql`` : sql`where source.department_id = ${departmentId}`
    const first = (from: Statement.Fragment, holds: Statement.Fragment) =>
      sql`(select name_key, account.id from ${from} where ${mine} and ${holds} order by name_key, account.id
        limit ${count})`
    const branches = (holds: Statement.Fragment): ReadonlyArray<Statement.Fragment> =>
      sources === null
        ? [first(sql`account`, holds)]
        : [
          ...(sources.departments === undefined
            ? []
            : [
              sql`(select page.* from (${sources.departments}) as source cross join lateral ${
                first(sql`account`, sql`account.department_id = source.department_id and ${holds}`)
              } as page ${asked})`
            ]),
          ...(sources.accounts === undefined
            ? []
            : [
              first(
                sql`(${sources.accounts}) as source
                  cross join lateral ${accountOf(sql, caller.organizationId, sql`source.account_id`)}`,
                holds
              )
            ])
        ]
    return union(sql, [
      ...branches(status?.kept ?? sql`true`),
      ...(status?.ended === undefined
        ? []
        // The fence keeps the few that have ended from being looked for in any other order.
        : [sql`(select name_key, account.id from (
            select * from account
            where organization_id = ${caller.organizationId} and status_until <= ${status.now} offset 0
          ) as account
          where ${mine} and ${status.ended} and ${canAccess(sql, caller)})`])
    ])
  }

  /** The first accessible accounts for which the conditions hold. */
  const page = (
    caller: Caller["Service"],
    conditions: Statement.Fragment,
    status: StatusConditions | undefined,
    count: Statement.Fragment,
    departmentId: string | undefined
  ): Statement.Statement<ListedFacts> => {
    const own = sql`organization_id = ${caller.organizationId}`
    const first = (from: Statement.Fragment, holds: Statement.Fragment, what: Statement.Fragment) =>
      sql`select ${what} from ${from} where ${own} and ${conditions} and ${holds}
        order by name_key, account.id limit ${count}`
    const kept = status?.kept ?? sql`true`
    if (accessSources(sql, caller) !== null) {
      return sql<ListedFacts>`
        with page as (
          select * from (${pages(caller, conditions, status, count, departmentId)}) as found (name_key, account_id)
          order by name_key, account_id limit ${count}
        )
        select ${shown} from page
        join account on ${own} and account.id = page.account_id ${archiveOfFew}
        order by page.name_key, page.account_id`
    }
    const every = sql.literal("*")
    const factsOf = (found: Statement.Fragment) =>
      sql<ListedFacts>`select ${shown} from (${found}) as account ${archiveOfFew} order by name_key, account.id`
    const mine = first(sql`account`, kept, every)
    if (status?.ended === undefined) return factsOf(mine)
    const ended = sql`(select * from account where ${own} and status_until <= ${status.now} offset 0) as account`
    return factsOf(sql`
      select * from (
        (${mine}) union all (${first(ended, status.ended, every)})
      ) as account order by name_key, account.id limit ${count}`)
  }

  const locked = sql`for no key update of account`

  const opened =
    (organizationId: string) => <Facts extends ListedFacts, E, R>(found: Effect.Effect<ReadonlyArray<Facts>, E, R>) =>
      Effect.flatMap(found, (facts) => withTitles(vault, organizationId, facts))

  /** The account, with what follows in the statement; null where there is none. */
  const byId = (organizationId: string, id: AccountId, rest: Statement.Fragment) =>
    sql<AccountFacts>`
      select ${columns} from account ${archive}
      where organization_id = ${organizationId} and account.id = ${id} ${rest}`.pipe(
      Effect.orDie,
      opened(organizationId),
      Sql.one
    )

  return {
    find: (caller, id, lock) =>
      byId(
        caller.organizationId,
        id,
        lock ? sql`and ${canAccess(sql, caller)} ${locked}` : sql`and ${canAccessId(sql, caller, id)}`
      ),

    hold: (organizationId, id) => byId(organizationId, id, locked),

    holdArchive: (organizationId, id) => byId(organizationId, id, sql`for no key update of archive`),

    known: (organizationId, id) => byId(organizationId, id, sql``),

    every: (organizationId, after, limit) =>
      sql<AccountFacts>`
        select ${columns} from account ${archive}
        where organization_id = ${organizationId} and ${
        after === null ? sql`true` : sql`(name_key, account.id) > ((
          select name_key from account where organization_id = ${organizationId} and account.id = ${after}),
          ${after}::uuid)`
      } order by name_key, account.id limit ${limit}`.pipe(Effect.orDie, opened(organizationId)),

    list: Effect.fnUntraced(
      function*(caller, { after, departmentId, limit, status }, now) {
        const mine = sql.and([sql`organization_id = ${caller.organizationId}`, canAccess(sql, caller)])
        const cursor = sql`(select name_key from account where ${mine} and account.id = ${after})`
        const conditions = sql.and([
          ...(after === undefined ? [] : [sql`(name_key, account.id) > (${cursor}, ${after}::uuid)`]),
          ...(departmentId === undefined ? [] : [sql`department_id = ${departmentId}`])
        ])
        const found = status === undefined ? undefined : inStatus(sql, status, now)
        // As a literal: a plan for every limit would expect to read a tenth of the table.
        const count = sql.literal(String(limit + 1))
        const rows = yield* opened(caller.organizationId)(page(caller, conditions, found, count, departmentId))
        if (rows.length > 0 || after === undefined) return rows
        const known = yield* sql`select 1 from account where ${mine} and account.id = ${after}`
        return known.length === 0 ? null : rows
      },
      Effect.orDie
    ),

    search: Effect.fnUntraced(
      function*(caller, query, limit) {
        const found = patterns(query)
        if (found.length === 0) return []
        const sources = accessSources(sql, caller)
        const ids = (way: Statement.Fragment | undefined) => way === undefined ? sql`'{}'::uuid[]` : sql`array(${way})`
        const within = sources === null
          ? sql`true, '{}'::uuid[], '{}'::uuid[]`
          : sql`false, ${ids(sources.departments)}, ${ids(sources.accounts)}`
        return yield* opened(caller.organizationId)(sql<ListedFacts>`
          with size as materialized (
            select count(*) as accounts from (
              select from account where organization_id = ${caller.organizationId} limit ${sql.literal(String(few + 1))}
            ) as counted
          ), found as (
            select match.id, min(rank) as rank
            from unnest(${found.map(({ rank }) => rank)}::int[], ${found.map(({ like }) => like)}::text[])
              as wanted (rank, pattern)
            cross join lateral (
              select account_id as id from account_search
              where organization_id = ${caller.organizationId} and search_text like pattern
                and (select accounts from size) <= ${sql.literal(String(few))}
              union all
              select indexed.id
              from matching_accounts(pattern, ${within}, ${sql.literal(String(candidates))}) as indexed (id)
              where (select accounts from size) > ${sql.literal(String(few))}
            ) as match
            group by match.id
          )
          select ${shown} from found
          cross join lateral ${accountOf(sql, caller.organizationId, sql`found.id`)} ${archiveOfFew}
          where ${canAccess(sql, caller)}
          order by found.rank, name_key, account.id limit ${limit + 1}`)
      },
      Effect.orDie
    ),

    archived: (caller, ids) =>
      sql<{ readonly id: AccountId }>`
        select account.id from account ${archive}
        where organization_id = ${caller.organizationId} and ${canAccess(sql, caller)}
          and ${ids === null ? sql`archive_messages > 0` : sql`account.id = any(${ids}::uuid[])`}
        order by account.id`.pipe(Effect.orDie, Effect.map((rows) => rows.map(({ id }) => id))),

    ranked: (caller, by, limit) => {
      const measure = sql.literal(by)
      return sql<AccountFacts>`
        select ${columns} from account ${archive}
        where organization_id = ${caller.organizationId} and ${canAccess(sql, caller)} and ${measure} > 0
        order by ${measure} desc, name_key, account.id limit ${limit}`.pipe(
        Effect.orDie,
        opened(caller.organizationId)
      )
    },

    findWatched: Effect.fnUntraced(
      function*(caller, id) {
        const accessible = sql`and ${canAccessId(sql, caller, id)}`
        const mine = sql`organization_id = ${caller.organizationId} and account_id = ${id} ${accessible}`
        const { facts: found, sessions, terminations } = yield* Tenant.all(sql)({
          facts: sql<AccountFacts & LatestPoll>`
            select ${columns}, last_polled_at, last_poll_error from account ${archive}
            left join lateral (
              select last_polled_at, last_poll_error from monitor
              where organization_id = ${caller.organizationId} and account_id = ${id}
            ) as monitor on true
            where organization_id = ${caller.organizationId} and account.id = ${id} ${accessible}`,
          sessions: sql<SessionFacts>`
            select id, service, current, baseline, approved_at, review_deadline, queued_at, device_model, platform,
              app_name, app_version, ip, country, last_active_at, created_at, seen_at
            from session where ${mine} order by current desc, service desc, seen_at desc, id`,
          terminations: sql<Termination>`
            select session_id, device_label, detected_at, actor, reason
            from termination where ${mine} order by detected_at desc, id desc
            limit ${sql.literal(String(terminationsShown))}`
        })
        const [facts] = yield* withTitles(vault, caller.organizationId, found)
        return facts === undefined ? null : { facts, monitor: facts, sessions, terminations }
      },
      Effect.orDie
    )
  } satisfies Partial<Accounts["Service"]>
})
