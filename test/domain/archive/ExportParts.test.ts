import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { ExportFormat } from "../../../src/domain/archive/ArchiveExport.ts"
import {
  isTooLarge,
  largestPart,
  leastPartLimit,
  type MeasuredDays,
  pieces,
  plannedPart
} from "../../../src/domain/archive/ExportParts.ts"
import { tried } from "../../support/drawn.ts"

const accountId = AccountId.make("019bc0e2-1280-7092-b899-5ab87f4740e9")

const count = (max: number) => fc.oneof(fc.nat(10), fc.nat(max))

const month = fc.array(
  fc.record({
    messages: count(250_000),
    chatDays: count(15_000),
    files: count(15_000),
    pageBytes: count(40_000_000),
    fileBytes: count(3 * 1024 ** 3)
  }),
  { minLength: 1, maxLength: 31 }
).map((days): ReadonlyArray<MeasuredDays> =>
  days.map((day, index) => {
    const name = `2026-01-${String(index + 1).padStart(2, "0")}`
    return { ...day, accountId, firstDay: name, lastDay: name }
  })
)

const form = fc.record({
  format: fc.constantFrom(...ExportFormat.literals),
  bytes: fc.constantFrom(largestPart, 100_000_000, leastPartLimit)
})

const sum = (days: ReadonlyArray<MeasuredDays>, member: "fileBytes" | "files" | "messages" | "pageBytes") =>
  days.reduce((total, day) => total + day[member], 0)

describe("the parts of an export", () => {
  it("hold every day once, in order", () => {
    fc.assert(
      fc.property(month, form, (days, form) => {
        const made = pieces(form, days)
        expect(made.map(({ firstDay }) => firstDay)).toEqual(made.map(({ firstDay }) => firstDay).toSorted())
        expect(made[0]?.firstDay).toBe(days[0]?.firstDay)
        expect(made.at(-1)?.lastDay).toBe(days.at(-1)?.lastDay)
        for (const member of ["messages", "files", "pageBytes", "fileBytes"] as const) {
          expect(sum(made, member)).toBe(sum(days, member))
        }
      }),
      tried(200)
    )
  })

  it("are no larger than is asked for, 200,000 messages and 20,000 entries, but for a single day", () => {
    fc.assert(
      fc.property(month, form, (days, form) => {
        for (const each of pieces(form, days)) {
          if (each.firstDay === each.lastDay) continue
          expect(plannedPart(form.format, each).bytes).toBeLessThanOrEqual(form.bytes)
          expect(each.messages).toBeLessThanOrEqual(200_000)
          expect(each.files + each.chatDays).toBeLessThanOrEqual(20_000)
          expect(isTooLarge(form, each)).toBe(false)
        }
      }),
      tried(200)
    )
  })

  it("are as few as that allows: no two that follow each other fit into one", () => {
    fc.assert(
      fc.property(month, form, (days, form) => {
        const made = pieces(form, days)
        const joined = made.slice(1).map((next, index) =>
          pieces(form, [made[index], next].flatMap((each) => each ?? []))
        )
        expect(joined.every((each) => each.length === 2)).toBe(true)
      }),
      tried(200)
    )
  })
})
