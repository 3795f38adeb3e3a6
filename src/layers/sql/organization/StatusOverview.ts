import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { AccountStatus } from "../../../domain/accounts/ProtectionStatus.ts"
import {
  type BillingFacts,
  isProtectionActive,
  type OrganizationFacts,
  planHasArchive
} from "../../../domain/organization/Organization.ts"
import type { OverviewFacts, SavingCount } from "../../../domain/organization/StatusOverview.ts"
import type { PollFacts } from "../../../domain/protection/PollFacts.ts"
import * as Ports from "../../../ports/index.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { canAccess } from "../accounts/AccountAccess.ts"
import * as StatusSamples from "../accounts/StatusSamples.ts"
import { isRecipient } from "../mail/Outbox.ts"
import * as Polls from "../protection/Polls.ts"

/** The status of an account at `now` by the columns that keep it. */
const statusNow = (sql: SqlClient.SqlClient, now: Date): Statement.Fragment =>
  sql`case when status_until is null or status_until > ${now}::timestamptz then status
    else later_statuses[width_bucket(${now}::timestamptz, status_changes)] end`

/** The reason that an account saves nothing, as `saving` of the domain says: the first that applies. */
const savingReason = (sql: SqlClient.SqlClient, organization: OrganizationFacts, now: Date): Statement.Fragment => {
  const { archive_key_set, storage_limit_bytes, storage_used_bytes } = organization
  const full = storage_limit_bytes !== null && storage_used_bytes >= storage_limit_bytes
  return sql`case
    when offboarded_at is not null then 'retired'
    when licence_tier is not distinct from 'protect' or not ${planHasArchive(organization)} then 'no_archive_plan'
    when stopped_at is not null and stop_reason in ('licence', 'organization_suspended')
      or not ${isProtectionActive(organization, now)} then 'licence_stopped'
    when not ${archive_key_set} then 'no_key'
    when paused_at is not null then 'paused'
    when session_ref is null or stopped_at is not null then 'no_connection'
    when ${full} then 'storage_full'
    when archive_chats_selected > 0 and archive_chats_stopped >= archive_chats_selected or archive_cleanup_running
      then 'cleanup_stopped'
    when monitoring_state = 'unknown' then 'connection_unknown'
    when archive_error is not null then 'error' end`
}

interface Group extends PollFacts {
  readonly status: AccountStatus
  readonly reason: SavingCount["reason"]
  readonly retried: boolean
  readonly accounts: number
  readonly chats: number
  readonly drift: number
  readonly last_poll_at: Date | null
}

const stateOf = ({ reason, retried }: Group): SavingCount["state"] =>
  reason === null ? "saving" : reason === "connection_unknown" || reason === "error" && retried ? "check" : "stopped"

const extreme = (moments: ReadonlyArray<Date | null>, pick: (...values: ReadonlyArray<number>) => number) => {
  const known = moments.flatMap((at) => at === null ? [] : [at.getTime()])
  return known.length === 0 ? null : new Date(pick(...known))
}

/** The overview in SQL: one pass over the accounts that the caller can access, one over what waits for a review. */
export const layer = Layer.effect(
  Ports.Overview,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const outbox = yield* Ports.Outbox
    return Ports.Overview.of({
      facts: Effect.fnUntraced(function*(caller, organization, now) {
        const { organizationId } = caller
        const mine = sql`account.organization_id = ${organizationId} and ${canAccess(sql, caller)}`
        const counted = sql<Group>`
          select ${statusNow(sql, now)} as status, ${savingReason(sql, organization, now)} as reason,
            archive_retry_at is not null as retried, count(*)::integer as accounts,
            coalesce(sum(archive_chats_review) filter (where offboarded_at is null), 0)::integer as chats,
            coalesce(sum(archive_drift) filter (where offboarded_at is null), 0)::integer as drift,
            max(monitor.last_ok_at) as last_poll_at, ${Polls.columns(sql, now)}
          from account
          join archive_state as archive
            on archive.organization_id = account.organization_id and archive.account_id = account.id
          left join monitor
            on monitor.organization_id = account.organization_id and monitor.account_id = account.id
          where ${mine} group by 1, 2, 3`
        const reviewed = sql<Pick<OverviewFacts, "sessions_to_review" | "oldest_review_deadline">>`
          select count(*)::integer as sessions_to_review, min(review_deadline) as oldest_review_deadline
          from session join account on account.organization_id = session.organization_id and account.id = account_id
          where ${mine} and not service and approved_at is null
            and (review_deadline is not null or queued_at is not null)`
        const pausing = sql<Pick<OverviewFacts, "paused_with_pending">>`
          select count(*)::integer as paused_with_pending from account
          where ${mine} and paused_at is not null and exists (
            select 1 from session
            where session.organization_id = account.organization_id and session.account_id = account.id
              and not service and not baseline and approved_at is null)`
        const remaining = sql<
          Pick<
            OverviewFacts,
            | "heard"
            | "oldest_mail_at"
            | "mail_failed_at"
            | "messenger_away"
            | "last_sequence"
            | "last_event_at"
            | "chain_checked_at"
            | "chain_ok"
            | "failed_files"
            | "unreadable_messages"
          >
        >`
          select exists (
              select 1 from admin
              where admin.organization_id = ${organizationId} and ${isRecipient(sql, "security")}) as heard,
            (select count(*)::integer from archive_file
              where archive_file.organization_id = ${organizationId} and state = 'failed'
                and account_id in (select account.id from account where ${mine} and offboarded_at is null)
              ) as failed_files,
            (select coalesce(sum(messages), 0)::integer from archive_unreadable as found
              where found.organization_id = ${organizationId}
                and account_id in (select account.id from account where ${mine}) and (exists (
                  select 1 from archive_page where archive_page.organization_id = ${organizationId}
                    and archive_page.account_id = found.account_id and page_id = found.number)
                or exists (
                  select 1 from archive_tail where archive_tail.organization_id = ${organizationId}
                    and archive_tail.account_id = found.account_id and tail_id = found.number))) as unreadable_messages,
            (select min(created_at) from mail
              where organization_id = ${organizationId} and next_at is not null) as oldest_mail_at,
            (select max(failed_at) from mail
              where organization_id = ${organizationId} and failed_at is not null) as mail_failed_at,
            exists (select from organization
              where id = ${organizationId} and messenger_away_at is not null) as messenger_away,
            coalesce(head.sequence, 0) as last_sequence,
            case when head.sequence > 0 then head.at end as last_event_at,
            head.checked_at as chain_checked_at, head.checked_ok as chain_ok
          from (values (true)) as one left join journal_head as head on head.organization_id = ${organizationId}`
        const [groups, [reviews], [paused], [rest]] = yield* Effect.all(
          [counted, reviewed, pausing, remaining],
          Tenant.together
        )
        if (reviews === undefined || paused === undefined || rest === undefined) {
          return yield* Effect.die(new Error("An aggregate without a row"))
        }
        return {
          ...reviews,
          ...paused,
          ...rest,
          heard: outbox.available && rest.heard,
          statuses: groups,
          saving: groups.map((group) => ({ state: stateOf(group), reason: group.reason, accounts: group.accounts })),
          chats_to_review: groups.reduce((sum, { chats }) => sum + chats, 0),
          drift: groups.reduce((sum, group) => sum + group.drift, 0),
          last_poll_at: extreme(groups.map((group) => group.last_poll_at), Math.max),
          polls: {
            due_since: extreme(groups.map((group) => group.due_since), Math.min),
            tried_at: extreme(groups.map((group) => group.tried_at), Math.max),
            known_at: extreme(groups.map((group) => group.known_at), Math.max),
            unavailable: groups.some((group) => group.unavailable)
          }
        }
      }, Effect.orDie),

      history: (organizationId, from) => Effect.orDie(StatusSamples.since(sql, organizationId, from)),
      billing: (organizationId) =>
        sql<BillingFacts>`
          select cancel_at, current_period_ends_at, amount_minor, currency, payer_email, next_invoice_at
          from organization where id = ${organizationId}`.pipe(
          Effect.orDie,
          Effect.flatMap(([facts]) =>
            facts === undefined ? Effect.die(new Error("The caller's organization is gone")) : Effect.succeed(facts)
          )
        )
    })
  })
)
