import { assert, describe, expect, it } from "@effect/vitest"
import type { AccountFacts } from "../../../src/domain/accounts/Account.ts"
import type { StopReason } from "../../../src/domain/accounts/ProtectionStatus.ts"
import {
  ArchiveStatus,
  archiveStatus,
  archiveSummary,
  RunPhase,
  saving,
  SavingReason
} from "../../../src/domain/archive/ArchiveSummary.ts"
import type { OrganizationFacts } from "../../../src/domain/organization/Organization.ts"
import { accountFacts, at, day, hour, now, organizationFacts } from "../../support/stored.ts"

interface Facts {
  readonly account?: Partial<AccountFacts>
  readonly organization?: Partial<OrganizationFacts>
}

const merged = (facts: ReadonlyArray<Facts>): Required<Facts> => ({
  account: Object.assign({}, ...facts.map(({ account }) => account)),
  organization: Object.assign({}, ...facts.map(({ organization }) => organization))
})

const statusOf = (...facts: ReadonlyArray<Facts>) => {
  const { account, organization } = merged(facts)
  return archiveStatus(accountFacts(account), organizationFacts(organization), now)
}

const savingOf = (...facts: ReadonlyArray<Facts>) => {
  const { account, organization } = merged(facts)
  return saving(accountFacts(account), organizationFacts(organization), now)
}

const summaryOf = (readsArchive: boolean, ...facts: ReadonlyArray<Facts>) => {
  const { account, organization } = merged(facts)
  return archiveSummary(accountFacts(account), organizationFacts(organization), now, readsArchive)
}

describe("next_backup_at", () => {
  it("is null while nothing runs, whatever was planned, and not while an error is retried or its retries are over", () => {
    const planned: Facts = { account: { archive_next_backup_at: at(hour) } }
    const next = (...facts: ReadonlyArray<Facts>) => summaryOf(true, planned, ...facts).next_backup_at
    expect(next()).toEqual(at(hour))
    expect(next({ account: { archive_error: "disk full" } })).toEqual(at(hour))
    expect(next({ account: { archive_error: "disk full", archive_retry_at: at(hour) } })).toEqual(at(hour))
    for (const stopping of [{ paused_at: at(-hour) }, { session_ref: null }, { offboarded_at: at(-hour) }]) {
      expect(next({ account: stopping })).toBeNull()
    }
    expect(next({ organization: { archive_key_set: false } })).toBeNull()
  })
})

describe("5.4 archive.status", () => {
  const noKey: Facts = { organization: { archive_key_set: false } }
  const running: Facts = { account: { archive_started_at: at(-hour) } }
  const queued: Facts = { account: { archive_queued_at: at(-hour) } }
  const failed: Facts = { account: { archive_error: "disk full" } }

  const disabling: ReadonlyArray<readonly [string, Facts]> = [
    ["the account's tier has no archive", { account: { licence_tier: "protect" } }],
    ["the account is offboarded", { account: { offboarded_at: at(-hour) } }],
    ["no rule selects anything", { account: { archive_selects: false } }],
    ["the plan has no archive", { organization: { plan: "protect" } }],
    ["the licence ended", { organization: { billing_state: "lapsed" } }],
    ["the organization is suspended", { organization: { status: "suspended" } }],
    ["the archive is being deleted", { organization: { archive_deletion_started_at: at(-hour) } }],
    ["the archive is held without a plan", { organization: { archive_held_at: at(-hour), plan: null } }]
  ]

  it.each(disabling)("S2.3-12: is disabled when %s, whatever else holds", (_, facts) => {
    assert.strictEqual(statusOf(facts), "disabled")
    assert.strictEqual(statusOf(noKey, running, queued, failed, facts), "disabled")
  })

  it("S2.3-12: is the first of disabled, awaiting_key, running, queued, error, idle that holds", () => {
    const ladder = [noKey, running, queued, failed]
    assert.deepStrictEqual(
      ladder.map((_, from) => statusOf(...ladder.slice(from))),
      ["awaiting_key", "running", "queued", "error"]
    )
    assert.strictEqual(statusOf(), "idle")
    assert.strictEqual(statusOf({ account: { licence_tier: null } }), "idle")
    assert.strictEqual(statusOf({ account: { licence_tier: "governance" } }), "idle")
  })

  it("S2.3-12: is queued for as long as a run waits, whatever the last one came to", () => {
    const waiting = (since: number) => statusOf(failed, { account: { archive_queued_at: at(-since) } })
    assert.strictEqual(waiting(hour), "queued")
    assert.strictEqual(waiting(30 * day), "queued")
  })

  it("S2.3-12: is no error while a retry is due within an hour", () => {
    const retrying = (after: number) => statusOf(failed, { account: { archive_retry_at: at(after) } })
    assert.strictEqual(retrying(-hour), "idle")
    assert.strictEqual(retrying(hour), "idle")
    assert.strictEqual(retrying(hour + 1), "error")
    assert.strictEqual(statusOf({ account: { archive_retry_at: at(day) } }), "idle")
  })

  it("S2.3-12, S3.2-01: takes six values and no other", () => {
    assert.deepStrictEqual([...ArchiveStatus.literals].toSorted(), [
      "awaiting_key",
      "disabled",
      "error",
      "idle",
      "queued",
      "running"
    ])
  })
})

describe("5.4 archive.saving", () => {
  /** What makes each reason hold, in their order. */
  const ladder: ReadonlyArray<readonly [string | null, "saving" | "stopped" | "check", Facts]> = [
    ["retired", "stopped", { account: { offboarded_at: at(-hour) } }],
    ["no_archive_plan", "stopped", { account: { licence_tier: "protect" } }],
    ["licence_stopped", "stopped", { organization: { billing_state: "lapsed" } }],
    ["no_key", "stopped", { organization: { archive_key_set: false } }],
    ["paused", "stopped", { account: { paused_at: at(-hour) } }],
    ["no_connection", "stopped", { account: { session_ref: null } }],
    ["storage_full", "stopped", { organization: { storage_used_bytes: 10, storage_limit_bytes: 10 } }],
    ["cleanup_stopped", "stopped", { account: { archive_cleanup_running: true } }],
    ["connection_unknown", "check", { account: { monitoring_state: "unknown" } }],
    ["error", "stopped", { account: { archive_error: "disk full" } }],
    [null, "saving", {}]
  ]

  it.each(ladder)(
    "S2.3-20, S2.3-21: the reason is %s and the state %s when only that holds",
    (reason, state, facts) => {
      assert.deepStrictEqual(savingOf(facts), { state, reason })
    }
  )

  it("S2.3-21: the reason is the first that holds", () => {
    assert.deepStrictEqual(
      ladder.map((_, from) => savingOf(...ladder.slice(from).map(([, , facts]) => facts))),
      ladder.map(([reason, state]) => ({ state, reason }))
    )
  })

  it("S2.3-22: the reason is null while the state is saving, and at no other time", () => {
    for (const [, , facts] of ladder) {
      const { reason, state } = savingOf(facts)
      assert.strictEqual(reason === null, state === "saving")
    }
  })

  it("is no_archive_plan when the organization's plan has none, and not while a trial includes it", () => {
    assert.strictEqual(savingOf({ organization: { plan: "protect" } }).reason, "no_archive_plan")
    assert.strictEqual(savingOf({ organization: { plan: null } }).reason, "no_archive_plan")
    assert.isNull(savingOf({ organization: { billing_state: "trial", plan: null, trial_ends_at: at(1) } }).reason)
  })

  it("is licence_stopped when a licence stopped the account or the organization, else a stop means no_connection", () => {
    const stopped = (stop_reason: StopReason | null) =>
      savingOf({ account: { stopped_at: at(-hour), stop_reason } }).reason
    assert.strictEqual(stopped("licence"), "licence_stopped")
    assert.strictEqual(stopped("organization_suspended"), "licence_stopped")
    assert.strictEqual(stopped("session_lost"), "no_connection")
    assert.strictEqual(stopped("account_deleted_by_platform"), "no_connection")
    assert.strictEqual(stopped(null), "no_connection")
    const trialOver = { billing_state: "trial", plan: null, trial_ends_at: at(0) } as const
    assert.strictEqual(savingOf({ organization: trialOver }).reason, "licence_stopped")
  })

  it("is storage_full at the limit, not below it, and never without one", () => {
    const stored = (storage_used_bytes: number, storage_limit_bytes: number | null) =>
      savingOf({ organization: { storage_used_bytes, storage_limit_bytes } }).reason
    assert.isNull(stored(9, 10))
    assert.strictEqual(stored(10, 10), "storage_full")
    assert.strictEqual(stored(11, 10), "storage_full")
    assert.strictEqual(stored(0, 0), "storage_full")
    assert.isNull(stored(Number.MAX_SAFE_INTEGER, null))
  })

  it("is cleanup_stopped when every selected chat was stopped, and not when one is left or none was selected", () => {
    const chats = (archive_chats_selected: number, archive_chats_stopped: number) =>
      savingOf({ account: { archive_chats_selected, archive_chats_stopped } }).reason
    assert.strictEqual(chats(2, 2), "cleanup_stopped")
    assert.isNull(chats(2, 1))
    assert.isNull(chats(0, 0))
  })

  it("is a check while a failed run has retries left, and stopped when it has none", () => {
    const failed = (archive_retry_at: Date | null) =>
      savingOf({ account: { archive_error: "disk full", archive_retry_at } })
    assert.deepStrictEqual(failed(at(day)), { state: "check", reason: "error" })
    assert.deepStrictEqual(failed(null), { state: "stopped", reason: "error" })
  })

  it("S2.3-21, S3.2-01: ten reasons exist and no other", () => {
    assert.deepStrictEqual(
      [...SavingReason.literals].toSorted(),
      ladder.flatMap(([reason]) => reason === null ? [] : [reason]).toSorted()
    )
  })
})

describe("5.4 a run in progress", () => {
  const run: Facts = {
    account: {
      archive_started_at: at(-hour),
      archive_phase: "messages",
      archive_dialogs_done: 3,
      archive_dialogs_total: 7
    }
  }

  it("S2.3-17: shows its phase and how far it is, and without one both are null whatever is stored", () => {
    assert.strictEqual(summaryOf(true, run).phase, "messages")
    assert.deepStrictEqual(summaryOf(true, run).running, { dialogs_done: 3, dialogs_total: 7, current_chat: null })
    for (const idle of [{ account: { archive_started_at: null } }, { account: { licence_tier: "protect" as const } }]) {
      assert.isNull(summaryOf(true, run, idle).phase)
      assert.isNull(summaryOf(true, run, idle).running)
    }
  })

  it("S2.3-17: is starting until it says more, and passes through every phase", () => {
    assert.strictEqual(summaryOf(true, run, { account: { archive_phase: null } }).phase, "starting")
    for (const archive_phase of RunPhase.literals) {
      assert.strictEqual(summaryOf(true, run, { account: { archive_phase } }).phase, archive_phase)
    }
  })

  it("S2.3-15, S2.3-16, S2.3-18: nobody learns the chat, and a reader without access not the reason of a failure", () => {
    const failed: Facts = { account: { archive_error: "disk full" } }
    for (const readsArchive of [true, false]) assert.isNull(summaryOf(readsArchive, run).running?.current_chat)
    assert.strictEqual(summaryOf(false, run).running?.dialogs_done, 3)
    assert.strictEqual(summaryOf(true, failed).error, "disk full")
    assert.strictEqual(summaryOf(false, failed).error, "archive_error")
    assert.isNull(summaryOf(true).error)
    assert.isNull(summaryOf(false).error)
  })
})
