import { describe, expect, it } from "@effect/vitest"
import { afterRun, type RunOutcome } from "../../src/capture/NextRuns.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"

const now = new Date("2026-06-01T12:00:00Z")
const accountId = AccountId.make("00000000-0000-7000-8000-000080000000")
const run = { accountId, askedAt: null, failures: 0 }

describe("the next run of an account", () => {
  it("is in the next night of the organization's time zone, each account at its own time", () => {
    const at = (zone: string, id = accountId) => afterRun({ ...run, accountId: id }, { _tag: "Done" }, zone, now).nextAt
    expect(at("UTC")).toEqual(new Date("2026-06-02T03:00:00Z"))
    expect(at("America/New_York")).toEqual(new Date("2026-06-02T07:00:00Z"))
    expect(at("Pacific/Auckland")).toEqual(new Date("2026-06-01T15:00:00Z"))
    expect(at("UTC", AccountId.make("00000000-0000-7000-8000-000000000000"))).toEqual(new Date("2026-06-02T00:00:00Z"))
    expect(at("No/Such_Zone")).toEqual(at("UTC"))
  })

  it("is still the one that an admin asked for where the last one had to wait, and in no other case", () => {
    const asked = { ...run, askedAt: new Date("2026-06-01T11:00:00Z") }
    const next = (outcome: RunOutcome) => afterRun(asked, outcome, "UTC", now).askedAt
    expect(next({ _tag: "Waiting", seconds: 60 })).toEqual(asked.askedAt)
    expect(next({ _tag: "Done" })).toBeNull()
    expect(next({ _tag: "Stopped", reason: "paused" })).toBeNull()
    expect(next({ _tag: "Failed", error: "unexpected" })).toBeNull()
  })

  it("comes after 1, 5 and 30 minutes and 2 hours where it fails again and again, and then in the night", () => {
    const minutes = [0, 1, 2, 3, 4].map((failures) => {
      const { nextAt, retryAt } = afterRun({ ...run, failures }, { _tag: "Failed", error: "unexpected" }, "UTC", now)
      expect(retryAt === null ? failures : nextAt).toEqual(retryAt ?? 4)
      return (nextAt.getTime() - now.getTime()) / 60_000
    })
    expect(minutes).toEqual([1, 5, 30, 120, 15 * 60])
  })
})
