import { describe, expect, it } from "@effect/vitest"
import type { RunOutcome } from "../../src/capture/NextRuns.ts"
import { runEvent } from "../../src/capture/RunEvents.ts"

const done: RunOutcome = { _tag: "Done" }
const failed: RunOutcome = { _tag: "Failed", error: "messenger_refused" }
const paused: RunOutcome = { _tag: "Stopped", reason: "paused" }

const eventOf = (
  outcome: RunOutcome,
  { failures = 0, wasAsked = false }: { failures?: number; wasAsked?: boolean } = {},
  isFirst = false
) => runEvent({ failures, askedAt: wasAsked ? new Date(0) : null }, outcome, { isFirst, messages: 7 })

describe("the event of a run", () => {
  it("is backup.finished for the first one, one that was asked for, and one that ends failures", () => {
    const finished = (first: boolean) => ({ name: "backup.finished", details: { first, messages: 7 } })
    expect(eventOf(done, {}, true)).toEqual(finished(true))
    expect(eventOf(done, { wasAsked: true })).toEqual(finished(false))
    expect(eventOf(done, { failures: 2 })).toEqual(finished(false))
    expect(eventOf(done)).toBeNull()
  })

  it("is backup.failed for the first of failures in a row, and for each that was asked for", () => {
    const event = { name: "backup.failed", details: { error: "messenger_refused" } }
    expect(eventOf(failed)).toEqual(event)
    expect(eventOf(failed, { failures: 1 })).toBeNull()
    expect(eventOf(failed, { failures: 1, wasAsked: true })).toEqual(event)
  })

  it("is backup.failed with the reason where saving is stopped and an admin waits, and none where it only moves", () => {
    expect(eventOf(paused, { wasAsked: true })).toEqual({ name: "backup.failed", details: { error: "paused" } })
    expect(eventOf(paused)).toBeNull()
    expect(eventOf({ _tag: "Stopped", reason: "not_owned" }, { wasAsked: true })).toBeNull()
    expect(eventOf({ _tag: "Waiting", seconds: 60 }, { wasAsked: true })).toBeNull()
  })
})
