import { describe, expect, it } from "@effect/vitest"
import { afterRun } from "../../src/capture/NextRuns.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"

const now = new Date("2026-06-01T12:00:00Z")
const accountId = AccountId.make("00000000-0000-7000-8000-000080000000")
const run = { accountId, failures: 0 }

describe("the next run of an account", () => {
  it("is in the next night of the organization's time zone, each account at its own time", () => {
    const at = (zone: string, id = accountId) => afterRun({ ...run, accountId: id }, { _tag: "Done" }, zone, now).nextAt
    expect(at("UTC")).toEqual(new Date("2026-06-02T03:00:00Z"))
    expect(at("America/New_York")).toEqual(new Date("2026-06-02T07:00:00Z"))
    expect(at("Pacific/Auckland")).toEqual(new Date("2026-06-01T15:00:00Z"))
    expect(at("UTC", AccountId.make("00000000-0000-7000-8000-000000000000"))).toEqual(new Date("2026-06-02T00:00:00Z"))
    expect(at("No/Such_Zone")).toEqual(at("UTC"))
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
