import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import {
  RuleId,
  type RuleInEffect,
  type RulePreviewCounts,
  type StoredRule
} from "../../../domain/archive/ArchiveRule.ts"
import { ChatType } from "../../../domain/archive/Chat.ts"
import { serviceAccounts } from "../../../domain/messenger/Messenger.ts"
import { type Caller, canAccessEveryAccount, isNarrowing } from "../../../domain/people/Access.ts"
import { ArchiveRules, type NewRule, type RuleScope } from "../../../ports/archive/ArchiveRules.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"
import { countChats, countRules } from "./ChatCounts.ts"

interface RuleRow extends Omit<StoredRule, "chatId" | "maxFileBytes"> {
  readonly chat: string | null
  readonly max: string | null
}

const ruleOf = ({ chat, max, ...rule }: RuleRow): StoredRule => ({
  ...rule,
  chatId: chat === null ? null : BigInt(chat),
  maxFileBytes: max === null ? null : Number(max)
})

const inEffectOf = (row: RuleRow): RuleInEffect => {
  const { id, ...rule } = ruleOf(row)
  return { ...rule, ruleId: id }
}

/** The rules in SQL. */
export const layer = Layer.effect(
  ArchiveRules,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)

    const columns = sql.literal(
      `rule_id::text as id, level, target::text as target, chat_type as "chatType", chat_id::text as chat, effect, media,
      max_file_bytes::text as max, live, updated_at as "updatedAt", updated_by::text as "updatedBy"`
    )
    const generality = sql.literal(
      `(case level when 'organization' then 0 when 'department' then 1 else 2 end), coalesce(target::text, ''),
      coalesce(chat_id, 0), coalesce(chat_type, ''), rule_id`
    )

    const concerning = (organizationId: string, accountId: string) =>
      sql`(level = 'organization' or level = 'account' and target = ${accountId}
        or level = 'department' and target = (
          select department_id from account where organization_id = ${organizationId} and id = ${accountId}))`

    const accounts = (caller: Caller["Service"], id: Statement.Fragment) =>
      sql`exists (
        select 1 from account
        where account.organization_id = ${caller.organizationId} and account.id = ${id} and ${canAccess(sql, caller)})`
    const departments = (caller: Caller["Service"], id: Statement.Fragment) =>
      sql`exists (
        select 1 from department
        where department.organization_id = ${caller.organizationId} and department.id = ${id}
          and ${canAccessDepartment(sql, caller)})`
    const isWhole = ({ limit, role }: Caller["Service"]) => canAccessEveryAccount(role) && !isNarrowing(limit)

    /** Rules of the organization concern everybody's accounts. */
    const visible = (caller: Caller["Service"]) =>
      isWhole(caller)
        ? sql`true`
        : sql`(level = 'organization' or level = 'account' and ${accounts(caller, sql`archive_rule.target`)}
          or level = 'department' and (${departments(caller, sql`archive_rule.target`)} or exists (
            select 1 from account
            where account.organization_id = ${caller.organizationId}
              and account.department_id = archive_rule.target and ${canAccess(sql, caller)})))`

    const within = (organizationId: string, { level, target }: RuleScope) =>
      level === "organization"
        ? sql`account.organization_id = ${organizationId}`
        : sql`account.organization_id = ${organizationId} and ${
          sql(level === "account" ? "account.id" : "account.department_id")
        } = ${target}::uuid`

    /** Accounts whose archives this locks: an archive is locked before the rules, so that others are counted by their runs. */
    const unlocked = (organizationId: string, scope: RuleScope) =>
      sql`
              select archive_state.account_id from archive_state
              join account on account.organization_id = archive_state.organization_id
                and account.id = archive_state.account_id
              where ${within(organizationId, scope)} for no key update of archive_state skip locked`

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

    /** The rules as they would be with one more, in place of that for the same accounts and chats. */
    const rulesWith = (organizationId: string, rule: NewRule) =>
      sql`(
        select organization_id, level, target, chat_type, chat_id, effect, live, rule_id from archive_rule
        where organization_id = ${organizationId}
          and (level, target, chat_type, chat_id) is distinct from
            (${rule.level}, ${rule.target}::uuid, ${rule.chatType}::text, ${rule.chatId}::bigint)
        union all
        select ${organizationId}, ${rule.level}, ${rule.target}::uuid, ${rule.chatType}::text, ${rule.chatId}::bigint,
          ${rule.effect}, ${rule.live}::boolean, null::uuid)`

    return ArchiveRules.of({
      // An account's archive is locked before it.
      settle: (organizationId) => Tenant.takeTurn(sql, "archive_rule", organizationId, "shared"),

      inEffect: ({ accountId, organizationId }) =>
        sql<RuleRow>`
          select ${columns} from archive_rule
          where organization_id = ${organizationId} and ${concerning(organizationId, accountId)}`.pipe(
          Effect.orDie,
          Effect.map((rows) => rows.map(inEffectOf))
        ),

      ofTarget: (organizationId, { level, target }) =>
        sql<{ rules: number }>`
          select count(*)::integer as rules from archive_rule
          where organization_id = ${organizationId} and level = ${level}
            and ${target === null ? sql`target is null` : sql`target = ${target}::uuid`}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.rules ?? 0)
        ),

      list: Effect.fnUntraced(function*(caller, { accountId, after, limit }) {
        const { organizationId } = caller
        const conditions = sql.and([
          sql`organization_id = ${organizationId}`,
          accountId === undefined ? visible(caller) : concerning(organizationId, accountId)
        ])
        const [cursor] = after === undefined ? [] : yield* sql`
          select 1 from archive_rule where ${conditions} and rule_id = ${after}`
        if (after !== undefined && cursor === undefined) return null
        const further = after === undefined ? sql`true` : sql`(${generality}) > (
          select ${generality} from archive_rule where organization_id = ${organizationId} and rule_id = ${after})`
        const rows = yield* sql<RuleRow>`
          select ${columns} from archive_rule where ${conditions} and ${further}
          order by ${generality} limit ${sql.literal(String(limit + 1))}`
        return rows.map(ruleOf)
      }, Effect.orDie),

      lock: (caller, id) =>
        sql<RuleRow>`
          select ${columns} from archive_rule
          where organization_id = ${caller.organizationId} and rule_id = ${id} and ${visible(caller)}
          for update`.pipe(Effect.orDie, Effect.map(([row]) => row === undefined ? null : ruleOf(row))),

      isStopped: (organizationId, { chatId, target }) =>
        sql<{ stopped: boolean }>`
          select stopped_by is not null as stopped from archive_chat
          where organization_id = ${organizationId} and account_id = ${target}::uuid and chat_id = ${chatId}`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.stopped ?? false)
        ),

      reaches: (caller, { level, target }) => {
        if (target === null) return Effect.succeed(isWhole(caller))
        const id = sql`${target}::uuid`
        const condition = level === "account" ? accounts(caller, id) : departments(caller, id)
        return sql<{ reaches: boolean }>`select ${condition} as reaches`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.reaches ?? false)
        )
      },

      add: Effect.fnUntraced(function*(organizationId, rule) {
        const [made] = yield* sql<{ id: string }>`
          insert into archive_rule ${
          sql.insert({
            organization_id: organizationId,
            rule_id: yield* random.uuidV7(),
            level: rule.level,
            target: rule.target,
            chat_type: rule.chatType,
            chat_id: rule.chatId,
            effect: rule.effect,
            media: rule.media,
            max_file_bytes: rule.maxFileBytes,
            live: rule.live,
            updated_at: rule.updatedAt,
            updated_by: rule.updatedBy
          })
        }
          on conflict do nothing returning rule_id::text as id`
        return made === undefined ? null : RuleId.make(made.id)
      }, Effect.orDie),

      change: (organizationId, rule) =>
        post(sql`
          update archive_rule set effect = ${rule.effect}, media = ${rule.media},
            max_file_bytes = ${rule.maxFileBytes}::bigint, live = ${rule.live}, updated_at = ${rule.updatedAt},
            updated_by = ${rule.updatedBy}::uuid
          where organization_id = ${organizationId} and rule_id = ${rule.id}`),

      remove: (organizationId, id) =>
        post(sql`delete from archive_rule where organization_id = ${organizationId} and rule_id = ${id}`),

      preview: (organizationId, rule) =>
        sql<RulePreviewCounts>`
          select count(*)::integer as chats, count(*) filter (where effect = 'archive')::integer as archive,
            count(*) filter (where effect = 'skip')::integer as skip,
            count(*) filter (where effect = 'review')::integer as review,
            count(*) filter (where effect = 'archive' and before <> 'archive')::integer as begins,
            count(*) filter (where effect <> 'archive' and before = 'archive')::integer as ends
          from (${judged(organizationId, rule, rulesWith(organizationId, rule))}) as judged`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row ?? { chats: 0, archive: 0, skip: 0, review: 0, begins: 0, ends: 0 })
        ),

      selectAgain: (organizationId, scope, now) =>
        Effect.all([
          Tenant.takeTurn(sql, "archive_rule", organizationId, "alone"),
          scope.chatId === null ? Effect.void : post(sql`
            update archive_chat set stopped_by = null, edge = null
            where organization_id = ${organizationId} and account_id = ${scope.target}::uuid
              and chat_id = ${scope.chatId} and stopped_by is not null`),
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
          post(countChats(sql, organizationId, unlocked(organizationId, scope))),
          post(countRules(sql, organizationId, unlocked(organizationId, scope)))
        ], { discard: true })
    })
  })
)
