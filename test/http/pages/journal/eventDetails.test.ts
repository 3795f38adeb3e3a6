import { describe, expect, it } from "@effect/vitest"
import * as EventDetails from "../../../../src/http/pages/journal/EventDetails.ts"

const id = "0197a000-0000-7000-8000-000000000001"
const names = new Map([[id, "Sales"]])

/** A detail in words, and what stands beside it. */
const read = (action: string, details: Record<string, string | number | boolean>) =>
  EventDetails.all({ action, details }, names).map(({ exact, label, shown }) => [
    label,
    String(shown).replaceAll(/<[^>]*>/g, ""),
    exact
  ])

describe("the details of an event in words", () => {
  it("codes are shown in words, with the code beside them", () => {
    expect(read("session.autokilled", { reason: "deadline", because: "locked", certain: false })).toEqual([
      ["Reason", "nobody approved it by its deadline", "deadline"],
      ["Not done because", "the messenger allows no sign-out yet", "locked"],
      ["Known for certain", "no", null]
    ])
    // No review was missed where a lock signs sessions out on sight.
    expect(read("session.autokilled", { reason: "lock" })).toEqual([
      ["Reason", "new sessions are signed out on sight while the account is locked", "lock"]
    ])
    expect(read("takeover.detected", { signals: "T1 T2", changed: "two_fa recovery_email", response: "sign_out" }))
      .toEqual([
        ["Signals", "T1 T2", null],
        ["Changed", "two-factor authentication, recovery email", "two_fa recovery_email"],
        ["Response", "sign-out", "sign_out"]
      ])
    expect(read("account.paused", { code: "not_active" })).toEqual([["Code", "not active", "not_active"]])
    expect(read("console.signed_in", { way: "identity_provider", second_factor: "totp" })).toEqual([
      ["By", "identity provider", "identity_provider"],
      ["Second factor", "authenticator app", "totp"]
    ])
    expect(read("admin.role_set", { role: "admin", from: "superadmin" })).toEqual([
      ["Role", "admin", null],
      ["Before", "superadmin", null]
    ])
  })

  it("moments and ids that the page knows are shown by what they are, and the rest as it is stored", () => {
    expect(read("account.department_set", { department_id: id, from: id.replace(/1$/, "2") })).toEqual([
      ["Department", "Sales", id],
      ["Before", id.replace(/1$/, "2"), null]
    ])
    expect(read("takeover.lock_expired", { locked_at: "2026-11-22T17:12:28.503Z" })).toEqual([
      ["Locked at", "22 November 2026 at 17:12 UTC", "2026-11-22T17:12:28.503Z"]
    ])
    expect(read("console_password.failed", { failures: 3, since: "2026-13-40T00:00:00Z" })).toEqual([
      ["Failures", "3", null],
      ["Since", "2026-13-40T00:00:00Z", null]
    ])
  })

  it("text by people is never taken for a code, and shows nothing that hides", () => {
    expect(read("department.renamed", { name: "two_fa", from: "autokill" })).toEqual([
      ["Name", "two_fa", null],
      ["Before", "autokill", null]
    ])
    expect(read("account.role_label_set", { role_label: "Pi\u202Elot" })).toEqual([
      ["Role label", "Pilot", "Pi\u202Elot"]
    ])
    expect(EventDetails.saidAll("A stranger came in")).toBe("A stranger came in")
  })
})
