import { describe, expect, it } from "vitest"
import { Role } from "../../../../src/domain/people/Access.ts"
import { mattersOf, type Viewer } from "../../../../src/http/pages/organization/Attention.ts"
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

const titles = (status: Status, viewer = owner) => mattersOf(status, viewer).map(({ title }) => title)

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
    const matter = mattersOf(loud, owner).find(({ title }) => title === "12 chats to review")
    expect(matter?.to).toBe("/console/archive-rules#review")
  })

  it("does not announce a sign-out for a time that has passed", () => {
    const at = (generated: string) =>
      String(
        mattersOf({ ...loud, generated_at: new Date(generated) }, owner).find(({ to }) => to === "/console/reviews")
          ?.text
      )
    expect(at("2026-01-15T07:59:59Z")).toContain("is signed out, the first at")
    expect(at("2026-01-15T08:00:00Z")).toContain("should have been signed out at")
  })

  it("says that the storage is full once nothing more is saved", () => {
    const full = { ...quiet, saving: { ...quiet.saving, storage_used_bytes: 100 } }
    expect(mattersOf(full, owner).map(({ title, tone }) => [title, tone])).toEqual([
      ["The archive's storage is full", "danger"]
    ])
    const unlimited = { ...full, saving: { ...full.saving, storage_limit_bytes: null } }
    expect(titles(unlimited)).toEqual([])
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
