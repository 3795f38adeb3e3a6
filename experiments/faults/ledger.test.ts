import { describe, expect, it } from "@effect/vitest"
import { type Attempt, type Event, isWhole, judge, type Kept } from "./ledger.ts"

const attempt = (kind: Attempt["kind"], text: string, more: Partial<Attempt> = {}): Attempt => ({
  kind,
  text,
  account: kind === "about" ? "live" : "plain",
  outcome: "acknowledged",
  status: 200,
  request: `req_${text}`,
  milliseconds: 1,
  ...more
})

const event = (sequence: number, action: string, text: string, more: Partial<Event> = {}): Event => ({
  sequence,
  action,
  outcome: "done",
  details: action === "api_key.created" ? { label: text } : { role_label: text },
  request_id: `req_${text}`,
  account_id: "plain",
  target_id: action === "api_key.created" ? `id_${text}` : null,
  closes: null,
  ...more
})

const attempts = [attempt("label", "one"), attempt("key", "two"), attempt("about", "three")]

const kept: Kept = {
  events: [
    event(1, "account.role_label_set", "one"),
    event(2, "api_key.created", "two"),
    event(3, "profile.updated", "three", { outcome: "pending" }),
    event(4, "profile.updated", "three", { closes: 3 })
  ],
  labels: new Map([["plain", "one"]]),
  abouts: new Map([["live", "three"]]),
  keys: new Map([["id_two", "two"]]),
  leftPending: 0,
  broken: 0
}

const without = (sequence: number) => kept.events.filter((event) => event.sequence !== sequence)

const renumbered = (events: ReadonlyArray<Event>) => events.map((event, index) => ({ ...event, sequence: index + 1 }))

describe("what a fault is judged by", () => {
  it("calls what is as it was told whole, and an unknown outcome either way", () => {
    expect(judge(attempts, kept)).toEqual({
      acknowledged: 3,
      unknown: 0,
      lost: 0,
      duplicated: 0,
      halfDone: 0,
      orphans: 0
    })
    const cut = attempt("label", "cut", { outcome: "unknown", status: 0, request: null })
    expect(isWhole(judge([...attempts, cut], kept))).toBe(true)
    const happened = {
      ...kept,
      events: [...kept.events, event(5, "account.role_label_set", "cut")],
      labels: new Map([["plain", "cut"]])
    }
    expect(isWhole(judge([...attempts, cut], happened))).toBe(true)
  })

  const faults: ReadonlyArray<readonly [string, Partial<Kept>, "lost" | "duplicated" | "halfDone" | "orphans"]> = [
    ["an acknowledged write without its entry", { events: renumbered(without(1)), labels: new Map() }, "lost"],
    ["an acknowledged key without its row", { keys: new Map() }, "lost"],
    ["a label that no write explains", { labels: new Map([["plain", "other"]]) }, "lost"],
    ["a bio that no write explains", { abouts: new Map([["live", "other"]]) }, "lost"],
    [
      "a label journaled twice",
      { events: [...kept.events, event(5, "account.role_label_set", "one", { request_id: "req_again" })] },
      "duplicated"
    ],
    ["a key made twice", { keys: new Map([["id_two", "two"], ["id_other", "two"]]) }, "duplicated"],
    ["a label without its entry", { events: renumbered(without(1)) }, "halfDone"],
    ["a key without its entry", { keys: new Map([["id_two", "two"], ["id_other", "other"]]) }, "halfDone"],
    ["an intent without its outcome", { events: without(4) }, "halfDone"],
    ["a gap", { events: without(1) }, "orphans"],
    ["a broken chain", { broken: 1 }, "orphans"],
    ["a change that is still pending", { leftPending: 1 }, "orphans"]
  ]

  it.each(faults)("sees %s", (_, change, count) => {
    const verdict = judge(attempts, { ...kept, ...change })
    expect(verdict[count]).toBeGreaterThan(0)
    expect(isWhole(verdict)).toBe(false)
  })
})
