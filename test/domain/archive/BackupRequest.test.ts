import { describe, expect, it } from "@effect/vitest"
import type { AccountFacts } from "../../../src/domain/accounts/Account.ts"
import { backupRefusal } from "../../../src/domain/archive/BackupRequest.ts"
import type { ArchivePhase, OrganizationFacts } from "../../../src/domain/organization/Organization.ts"
import { archivePhase } from "../../../src/domain/organization/Organization.ts"
import { accountFacts, at, day, hour, now, organizationFacts } from "../../support/stored.ts"

interface Facts {
  readonly account?: Partial<AccountFacts>
  readonly organization?: Partial<OrganizationFacts>
}

const refusalOf = ({ account, organization }: Facts) =>
  backupRefusal(accountFacts(account), organizationFacts(organization), now)?._tag ?? null

const noPlan = { plan: null, archive_plan_ended_at: at(-day) }

describe("3.6-63 a backup of an account", () => {
  const states: ReadonlyArray<readonly [string | null, Facts]> = [
    [null, {}],
    ["not_active", { account: { offboarded_at: at(-hour) } }],
    ["not_active", { account: { paused_at: at(-hour) } }],
    ["not_active", { account: { paused_at: at(-hour), licence_tier: "protect" } }],
    ["no_session", { account: { session_ref: null } }],
    ["no_session", { account: { stopped_at: at(-hour), stop_reason: "session_lost" } }],
    ["no_archive_plan", { account: { licence_tier: "protect" } }],
    ["no_archive_plan", { organization: noPlan }],
    ["no_archive_plan", { account: { stopped_at: at(-hour), stop_reason: "licence" } }],
    ["no_archive_plan", { account: { stopped_at: at(-hour), stop_reason: "organization_suspended" } }],
    ["archive_readonly", { organization: { billing_state: "lapsed" } }],
    ["archive_readonly", { organization: { status: "suspended" } }],
    ["no_archive_key", { organization: { archive_key_set: false } }],
    ["storage_full", { organization: { storage_used_bytes: 10, storage_limit_bytes: 10 } }],
    [null, { account: { archive_cleanup_running: true } }],
    [null, { account: { archive_chats_selected: 2, archive_chats_stopped: 2 } }],
    [null, { account: { monitoring_state: "unknown" } }],
    [null, { account: { archive_error: "unexpected" } }],
    [null, { account: { archive_error: "unexpected", archive_retry_at: at(hour) } }],
    [null, { account: { archive_queued_at: at(-hour) } }],
    [null, { account: { archive_started_at: at(-hour) } }],
    [null, { account: { archive_selects: false } }]
  ]

  it.each(states)("is refused with %s, or is not where that is null: %j", (refusal, facts) => {
    expect(refusalOf(facts)).toBe(refusal)
  })

  const phases: ReadonlyArray<readonly [ArchivePhase, string | null, Partial<OrganizationFacts>]> = [
    ["empty", null, { archive_first_record_at: null }],
    ["active", null, {}],
    ["held", null, { archive_held_at: at(-hour) }],
    ["held", "no_archive_plan", { archive_held_at: at(-hour), ...noPlan }],
    ["readonly", "archive_readonly", { billing_state: "lapsed" }],
    ["closed", "archive_readonly", { billing_state: "lapsed", archive_plan_ended_at: at(-40 * day) }],
    ["deleting", "archive_readonly", { archive_deletion_started_at: at(-hour) }],
    ["deleted", null, {
      archive_first_record_at: null,
      archive_deletion_started_at: at(-day),
      archive_deleted_at: at(-hour)
    }]
  ]

  it.each(phases)(
    "in the phase %s is refused with %s, or is not where that is null",
    (phase, refusal, organization) => {
      expect(archivePhase(organizationFacts(organization), now)).toBe(phase)
      expect(refusalOf({ organization })).toBe(refusal)
    }
  )
})
