import { describe, expect, it } from "vitest"
import type { ArchiveCleanup } from "../../../../src/domain/archive/ArchiveCleanup.ts"
import type { ArchiveEnd } from "../../../../src/domain/archive/ArchiveEnd.ts"
import { Role } from "../../../../src/domain/people/Access.ts"
import { mattersOf } from "../../../../src/http/pages/organization/Attention.ts"
import type { ArchiveState, Viewer } from "../../../../src/http/pages/organization/Matter.ts"
import { getStatus } from "../../../../src/operations/organization/get_status.ts"

type Status = Parameters<typeof mattersOf>[0]

const quiet: Status = {
  object: "status",
  generated_at: new Date(0),
  protection: {
    state: "ok",
    accounts: { protected: 3 },
    sessions_to_review: 0,
    oldest_review_deadline: null,
    paused_with_pending: 0,
    unheard: false,
    last_poll_at: null
  },
  saving: {
    state: "ok",
    saving: 3,
    stopped: 0,
    check: 0,
    failed_files: 0,
    unreadable_messages: 0,
    drift: 0,
    reasons: {},
    chats_to_review: 0,
    storage_used_bytes: 10,
    storage_limit_bytes: 100
  },
  journal: { last_sequence: 1, last_event_at: null, chain_checked_at: null, chain_ok: null },
  service: { state: "ok", message: null }
}

/** Everything at once. */
const loud: Status = {
  ...quiet,
  protection: {
    ...quiet.protection,
    accounts: { hijack_blocked: 1, protection_stopped: 2, status_unknown: 1, protected: 1 },
    sessions_to_review: 2,
    oldest_review_deadline: new Date("2026-01-15T08:00:00Z"),
    paused_with_pending: 1,
    unheard: true
  },
  saving: {
    ...quiet.saving,
    state: "attention",
    reasons: {
      no_key: 1,
      error: 1,
      no_connection: 2,
      licence_stopped: 1,
      cleanup_stopped: 1,
      paused: 1,
      connection_unknown: 1,
      no_archive_plan: 4,
      retired: 3
    },
    chats_to_review: 12,
    storage_used_bytes: 95
  },
  service: { state: "degraded", message: "The messenger does not answer." }
}

const owner: Viewer = { role: "owner", readsArchive: true, sendsMail: true }

const active: ArchiveState = { phase: "active", end: null, retention: null, failedCleanups: [] }

const admin = "019bc0e2-1280-7092-b899-5ab87f4740e9"

const cleanup: ArchiveCleanup = {
  object: "archive_cleanup",
  id: "019bc0e2-1280-7dc1-abf7-82b82945c67d",
  state: "failed",
  criteria: { account_ids: [admin], chat_ids: null, before: null, what: "messages" },
  stop_saving: false,
  messages: 10,
  files: 0,
  bytes: 100,
  chats: 1,
  deleted_messages: 4,
  deleted_bytes: 40,
  confirm_phrase: null,
  not_before: null,
  expires_at: null,
  created_by: admin,
  confirmed_by: admin,
  created_at: new Date("2026-01-15"),
  started_at: new Date("2026-01-15"),
  finished_at: new Date("2026-01-15"),
  error: "archive_held"
}

const titles = (status: Status, viewer = owner, archive = active) =>
  mattersOf(status, viewer, archive).map(({ title }) => title)

describe("what needs attention", () => {
  it("is nothing while all is well", () => {
    for (const role of Role.literals) expect(titles(quiet, { ...owner, role })).toEqual([])
  })

  it("comes in the order of urgency: attacks, what hides them, lost messages, and what can wait", () => {
    expect(titles(loud)).toEqual([
      "Takeover stopped: 1 account",
      "The service is degraded",
      "Nobody would hear an alarm",
      "Protection stopped: 2 accounts",
      "2 sessions to review",
      "1 account paused with sessions that nobody has approved",
      "Status unknown: 1 account",
      "Nothing is archived: the archive password is not set",
      "The archive's storage is filling",
      "1 account is not saving new messages",
      "2 accounts are not saving new messages",
      "1 account is not saving new messages",
      "1 account is not saving new messages",
      "1 account is not saving new messages",
      "1 account is perhaps not saving new messages",
      "12 chats to review"
    ])
  })

  it("says nothing of sessions and chats to roles that decide about none, and of archives to who reads none", () => {
    expect(titles(loud, { ...owner, role: "billing" })).not.toContain("2 sessions to review")
    expect(titles(loud, { ...owner, role: "archive" })).not.toContain("2 sessions to review")
    expect(titles(loud, { ...owner, role: "billing" })).not.toContain("12 chats to review")
    expect(titles(loud, { ...owner, readsArchive: false })).not.toContain("12 chats to review")
  })

  it("leads from chats to review to the accounts whose they are, where they can be decided about", () => {
    const matter = mattersOf(loud, owner, active).find(({ title }) => title === "12 chats to review")
    expect(matter?.to).toBe("/console/archive-rules#review")
  })

  it("does not announce a sign-out for a time that has passed", () => {
    const at = (generated: string) =>
      String(
        mattersOf({ ...loud, generated_at: new Date(generated) }, owner, active).find(({ to }) =>
          to === "/console/reviews"
        )
          ?.text
      )
    expect(at("2026-01-15T07:59:59Z")).toContain("is signed out, the first at")
    expect(at("2026-01-15T08:00:00Z")).toContain("should have been signed out at")
  })

  it("says that the storage is full once nothing more is saved", () => {
    const full = { ...quiet, saving: { ...quiet.saving, storage_used_bytes: 100 } }
    expect(mattersOf(full, owner, active).map(({ title, tone }) => [title, tone])).toEqual([
      ["The archive's storage is full", "danger"]
    ])
    const unlimited = { ...full, saving: { ...full.saving, storage_limit_bytes: null } }
    expect(titles(unlimited)).toEqual([])
  })

  it("is a broken chain of the journal, which no other fault of the service repeats", () => {
    const broken = {
      ...quiet,
      journal: { ...quiet.journal, chain_ok: false },
      service: { state: "degraded" as const, message: "The journal's chain is broken." }
    }
    expect(mattersOf(broken, owner, active).map(({ to, tone }) => [to, tone])).toEqual([
      ["/console/journal#chain", "danger"]
    ])
    const both = { ...broken, service: { ...broken.service, message: "The messenger does not answer." } }
    expect(titles(both)).toEqual(["The journal's chain is broken", "The service is degraded"])
  })

  it("is what an archive lacked and what does not open, for those who read it", () => {
    const damaged = { ...quiet, saving: { ...quiet.saving, drift: 1, unreadable_messages: 1200 } }
    expect(mattersOf(damaged, owner, active).map(({ title, to }) => [title, to])).toEqual([
      ["1,200 archived messages do not open", "/console/journal?action=archive.unreadable"],
      ["1 message was missing that counted as archived", "/console/journal?action=archive.drifted"]
    ])
    expect(titles(damaged, { ...owner, readsArchive: false })).toEqual([])
  })

  it("is the end of an archive: that it will be closed, that it will be deleted, that it is being deleted", () => {
    const end: ArchiveEnd = { closesAt: new Date("2026-02-01"), deletesAt: new Date("2026-04-02") }
    const found = (phase: ArchiveState["phase"]) =>
      mattersOf(quiet, owner, { ...active, phase, end }).map(({ text, title, tone }) => [tone, title, String(text)])
    expect(found("readonly")).toEqual([
      [
        "caution",
        "Nothing more is archived, and the archive will be closed",
        expect.stringMatching(/2026-02-01.*2026-04-02/s)
      ]
    ])
    expect(found("closed")).toEqual([
      ["danger", "The archive is closed, and will be deleted", expect.stringContaining("2026-04-02")]
    ])
    expect(found("deleting")).toEqual([["danger", "The archive is being deleted", expect.stringContaining("any more")]])
    for (const phase of ["empty", "active", "held", "deleted"] as const) expect(found(phase)).toEqual([])
  })

  it("is a retention until it begins, and a cleanup that failed for a week", () => {
    const at = new Date("2026-01-15")
    const retention = {
      object: "archive_retention" as const,
      days: 90,
      tier_days: { protect: 90, archive: 90, governance: 90 },
      begins_at: new Date("2026-01-20"),
      updated_at: at,
      updated_by: admin
    }
    const begins = (now: string) => titles({ ...quiet, generated_at: new Date(now) }, owner, { ...active, retention })
    expect([begins("2026-01-19"), begins("2026-01-20")]).toEqual([
      ["Old messages will be deleted from the archive"],
      []
    ])
    const failed = (...errors: ReadonlyArray<string>) => errors.map((error) => ({ ...cleanup, error }))
    const shown = (errors: ReadonlyArray<string>, now = at, viewer = owner) =>
      titles({ ...quiet, generated_at: now }, viewer, { ...active, failedCleanups: failed(...errors) })
    expect(shown(["archive_held"])).toEqual(["A legal hold stopped 1 cleanup of the archive"])
    expect(shown(["archive_held", "archive_closed"])).toEqual(["2 cleanups of the archive failed"])
    expect(shown(["archive_held"], new Date("2026-01-23"))).toEqual([])
    expect(shown(["archive_held"], at, { ...owner, role: "archive" })).toEqual([])
  })

  it("is silent about accounts without an archive in their plan, and about archives where the plan has none", () => {
    const off = {
      ...quiet,
      saving: { ...quiet.saving, state: "off" as const, reasons: { paused: 2, no_archive_plan: 5 } }
    }
    expect(titles(off)).toEqual([])
    expect(getStatus.roles).toEqual(Role.literals)
  })
})
