import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import {
  RuleId,
  type RuleInEffect,
  type RulePreviewCounts,
  type StoredRule
} from "../../../domain/archive/ArchiveRule.ts"
import { type Caller, canAccessEveryAccount, isNarrowing } from "../../../domain/people/Access.ts"
import { ArchiveRules, type NewRule, type RuleScope } from "../../../ports/archive/ArchiveRules.ts"
import type { Due } from "../../../ports/Due.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"
import { lockArchives } from "./ArchiveLocks.ts"
import { makeJudging } from "./RuleJudging.ts"

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

/** Accounts and chats that a change of a rule judges in its own transaction, which waits for what writes them. */
const accountsJudgedAtOnce = 100
const chatsJudgedAtOnce = 5000

/** The rules in SQL. Locks: archives of accounts → rule → turn of the rules → rows. */
export const layer = Layer.effect(
  ArchiveRules,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)
    const { idsOf, judge, judged, within } = makeJudging(sql)

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

    /** True if the rule's accounts are few enough to be judged in this transaction, for the rest of which it locks them. */
    const holdFew = Effect.fnUntraced(function*(organizationId: string, scope: RuleScope) {
      const ids = idsOf(organizationId, scope)
      const areFew = scope.level === "account" || (yield* Sql.exists(Effect.orDie(sql`
        select 1 from archive_state where organization_id = ${organizationId} and account_id in (${ids})
        having count(*) <= ${accountsJudgedAtOnce}::integer
          and coalesce(sum(archive_chats_discovered), 0) <= ${chatsJudgedAtOnce}::integer`)))
      if (areFew) {
        yield* post(lockArchives(sql, sql`organization_id = ${organizationId} and account_id in (${ids})`))
      }
      return areFew
    })

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
      settle: ({ accountId, organizationId }) =>
        Effect.andThen(
          Tenant.takeTurn(sql, "archive_rule", organizationId, "shared"),
          Sql.exists(Effect.orDie(sql`
            select 1 from archive_unjudged
            where organization_id = ${organizationId} and account_id = ${accountId}`))
        ),

      judge: ({ accountId, organizationId }, now) =>
        judge(organizationId, { level: "account", target: accountId, chatId: null }, now),

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

      lock: Effect.fnUntraced(function*(caller, id) {
        const { organizationId } = caller
        const found = sql<RuleRow>`
          select ${columns} from archive_rule
          where organization_id = ${organizationId} and rule_id = ${id} and ${visible(caller)}`
        const [known] = yield* found
        if (known === undefined) return null
        yield* holdFew(organizationId, ruleOf(known))
        const [locked] = yield* sql<RuleRow>`${found} for update`
        return locked === undefined ? null : ruleOf(locked)
      }, Effect.orDie),

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

      selectAgain: Effect.fnUntraced(function*(organizationId, scope, now) {
        const areFew = yield* holdFew(organizationId, scope)
        yield* Tenant.takeTurn(sql, "archive_rule", organizationId, "alone")
        if (!areFew) {
          return yield* post(sql`
            insert into archive_unjudged (organization_id, account_id)
            select account.organization_id, account.id from account where ${within(organizationId, scope)}
            on conflict do nothing`)
        }
        if (scope.chatId !== null) {
          yield* post(sql`
            update archive_chat set stopped_by = null, edge = null
            where organization_id = ${organizationId} and account_id = ${scope.target}::uuid
              and chat_id = ${scope.chatId} and stopped_by is not null`)
        }
        yield* judge(organizationId, scope, now)
      }),

      due: (limit) =>
        Tenant.directory(sql)(sql<Due>`
          with ranked as (
            select organization_id, account_id,
              row_number() over (partition by organization_id order by account_id) as place
            from archive_unjudged
          )
          select organization_id as "organizationId", account_id::text as id from ranked
          order by place limit ${sql.literal(String(limit))}`)
    })
  })
)
