/** The judging of known chats by the rules. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { ChatType } from "../../../domain/archive/Chat.ts"
import { serviceAccounts } from "../../../domain/messenger/Messenger.ts"
import type { RuleScope } from "../../../ports/archive/ArchiveRules.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { countChats, countRules } from "./ChatCounts.ts"

export const makeJudging = (sql: SqlClient.SqlClient) => {
  const post = Tenant.post(sql)

  /** Holds for rows of `account` that the rule concerns. */
  const within = (organizationId: string, { level, target }: RuleScope) =>
    level === "organization"
      ? sql`account.organization_id = ${organizationId}`
      : sql`account.organization_id = ${organizationId} and ${
        sql(level === "account" ? "account.id" : "account.department_id")
      } = ${target}::uuid`

  /** The ids of the rule's accounts. */
  const idsOf = (organizationId: string, scope: RuleScope) =>
    sql`select account.id from account where ${within(organizationId, scope)}`

  /** The chat is archived again: what has changed of it meanwhile is unknown. */
  const begins = sql.literal(
    "judged.effect = 'archive' and archive_chat.effect <> 'archive' and not isempty(archive_chat.covered)"
  )

  /** The chat is skipped from now on: nothing is kept of it but what tells it again. */
  const skipped = sql.literal("judged.effect = 'skip' and archive_chat.effect <> 'skip'")

  /** The rules of one level for chats of a type, with the accounts that they concern. */
  const typedAt = (
    organizationId: string,
    scope: RuleScope,
    rules: Statement.Fragment,
    level: RuleScope["level"],
    target: string | null
  ) =>
    sql`
              select account.id as account_id, rules.* from account
              join ${rules} as rules on rules.organization_id = account.organization_id
                and level = ${level} and chat_id is null and ${
      target === null ? sql`true` : sql`target = ${sql(target)}`
    }
              where ${within(organizationId, scope)}`

  /**
   * The order of `select` in domain/archive/RuleSelection.ts, in one statement for all known chats of the accounts. It
   * joins sets: a subquery for each chat would read all chats of its account.
   */
  const judged = (organizationId: string, scope: RuleScope, rules: Statement.Fragment) =>
    sql`
            with typed as materialized (
              select distinct on (account_id, type) account_id, type, chat_type, effect, live, rule_id
              from (${typedAt(organizationId, scope, rules, "organization", null)}
              union all ${typedAt(organizationId, scope, rules, "department", "account.department_id")}
              union all ${typedAt(organizationId, scope, rules, "account", "account.id")}) as concerning
              join unnest(${[...ChatType.literals]}::text[]) as type on chat_type in ('any', type)
              order by account_id, type, case level when 'account' then 0 when 'department' then 1 else 2 end,
                chat_type = 'any'
            ),
            named as materialized (
              select account.id as account_id, rules.chat_id, effect, live, rule_id from account
              join ${rules} as rules on rules.organization_id = account.organization_id
                and level = 'account' and target = account.id and chat_id is not null
              where ${within(organizationId, scope)}
            ),
            before as materialized (
              select distinct on (account_id, migrated_to) account_id, migrated_to, chat_id, type from archive_chat
              join account on account.organization_id = archive_chat.organization_id and account.id = account_id
              where archive_chat.organization_id = ${organizationId} and migrated_to is not null
                and ${within(organizationId, scope)}
              order by account_id, migrated_to, chat_id
            )
            select chat.account_id, chat.chat_id,
              case when ${sql.in("chat.chat_id", [...serviceAccounts])} then 'skip'
                else coalesce(case when inherits then inherited.effect else own.effect end, 'review') end as effect,
              coalesce(case when inherits then inherited.live else own.live end, false) as live,
              case when inherits then inherited.rule_id else own.rule_id end as rule_id, chat.effect as before
            from archive_chat as chat
            join account on account.organization_id = chat.organization_id and account.id = chat.account_id
            left join named on named.account_id = chat.account_id and named.chat_id = chat.chat_id
            left join typed on typed.account_id = chat.account_id and typed.type = chat.type
            left join before on before.account_id = chat.account_id and before.migrated_to = chat.chat_id
            left join named as named_before
              on named_before.account_id = before.account_id and named_before.chat_id = before.chat_id
            left join typed as typed_before
              on typed_before.account_id = before.account_id and typed_before.type = before.type
            cross join lateral (
              select coalesce(named.effect, typed.effect) as effect, coalesce(named.live, typed.live) as live,
                coalesce(named.rule_id, typed.rule_id) as rule_id
            ) as own
            cross join lateral (
              select coalesce(named_before.effect, typed_before.effect) as effect,
                coalesce(named_before.live, typed_before.live) as live,
                coalesce(named_before.rule_id, typed_before.rule_id) as rule_id
            ) as inherited
            cross join lateral (
              select before.chat_id is not null and named.chat_id is null
                and (named_before.chat_id is not null or coalesce(typed.chat_type, 'any') = 'any') as inherits
            ) as inheritance
            where chat.organization_id = ${organizationId} and chat.ref is not null
              and ${within(organizationId, scope)}`

  /** Judges the chats of accounts whose archives are locked: an archive is locked before the rules. */
  const judge = (organizationId: string, scope: RuleScope, now: Date) =>
    Effect.all([
      post(sql`
        update archive_chat set effect = judged.effect, live = judged.live, rule_id = judged.rule_id,
          edge = case when archive_chat.effect <> judged.effect then null else archive_chat.edge end,
          joined_at = case when ${skipped} then null else archive_chat.joined_at end,
          members = case when ${skipped} then null else archive_chat.members end,
          members_at = case when ${skipped} then null else archive_chat.members_at end,
          top_id = case when ${skipped} then null else archive_chat.top_id end,
          counted = case when ${skipped} then null else archive_chat.counted end,
          unchecked_below = case when ${begins}
            then greatest(upper(archive_chat.covered), archive_chat.unchecked_below)
            else archive_chat.unchecked_below end,
          unchecked_to = case when ${begins}
            then least(lower(archive_chat.covered), archive_chat.unchecked_to)
            else archive_chat.unchecked_to end
        from (${judged(organizationId, scope, sql`archive_rule`)}) as judged
        where archive_chat.organization_id = ${organizationId} and archive_chat.account_id = judged.account_id
          and archive_chat.chat_id = judged.chat_id
          and (archive_chat.effect, archive_chat.live, archive_chat.rule_id)
            is distinct from (judged.effect, judged.live, judged.rule_id)`),
      // Files that the rules left out are judged again by the run, which knows their sizes; refused ones are tried again.
      post(sql`
        update archive_file set state = 'pending', reason = null, attempts = 0, retry_at = null
        from account
        where archive_file.organization_id = ${organizationId} and archive_file.account_id = account.id
          and archive_file.state in ('skipped', 'failed')
          and archive_file.reason in ('rule', 'size', 'protected', 'refused')
          and ${within(organizationId, scope)}`),
      post(sql`
        update archive_run set next_at = least(next_at, ${now}), again = true
        from account
        where archive_run.organization_id = ${organizationId} and archive_run.account_id = account.id
          and ${within(organizationId, scope)}`),
      post(countChats(sql, organizationId, idsOf(organizationId, scope))),
      post(countRules(sql, organizationId, idsOf(organizationId, scope))),
      post(sql`
        delete from archive_unjudged
        where organization_id = ${organizationId} and account_id in (${idsOf(organizationId, scope)})`)
    ], { discard: true })

  return { idsOf, judge, judged, within }
}
