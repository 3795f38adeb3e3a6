import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Recorded, Table } from "./support/figure.ts"
import { farFromGoals, verdicts } from "./verdicts.ts"

const recorded = (name: string, ...tables: ReadonlyArray<Omit<Table, "title">>): Recorded => ({
  name,
  title: name,
  command: `npm run ${name}`,
  text: [],
  tables: tables.map((table) => ({ ...table, title: "" })),
  charts: [],
  date: "2026-01-01",
  machine: "one",
  versions: {}
})

describe("the verdicts over kept figures", () => {
  it("of the archive hold where each number is on its side of the goal", () => {
    const columns = ["measured", "archive", "a row for each message", "goal"]
    const holds = (archive: string, goal: string) =>
      verdicts(recorded("archive", { columns, rows: [["list", archive, "1 ms", goal], ["size", "9 B", "–", ""]] }))
        .map(({ holds }) => holds)
    expect(holds("1.9, 7.0 ms", "2, 8 ms")).toEqual([true])
    expect(holds("1.9, 9.0 ms", "2, 8 ms")).toEqual([false])
    expect(holds("250000 messages a second", "at least 200000 messages a second")).toEqual([true])
    expect(holds("150000 messages a second", "at least 200000 messages a second")).toEqual([false])
  })

  it("of the archive fail its bench where a goal is missed by more than half as much again", () => {
    const columns = ["measured", "archive", "goal"]
    const far = (archive: string, goal: string) =>
      farFromGoals([{ title: "1 message", columns, rows: [["list", archive, goal], ["size", "9 B", ""]] }])
    expect(far("3.0, 12 ms", "2, 8 ms")).toEqual([])
    expect(far("3.0, 12.1 ms", "2, 8 ms")).toEqual(["The archive, 1 message: list, goal 2, 8 ms: 3.0, 12.1 ms"])
    expect(far("140000 messages a second", "at least 200000 messages a second")).toEqual([])
    expect(far("130000 messages a second", "at least 200000 messages a second")).toHaveLength(1)
  })

  it("of archiving fail where something that was waited for never came, and not where nothing is missing", () => {
    const holds = (measured: string, value: string, goal: string) =>
      verdicts(recorded("capture", { columns: ["measured", "value", "goal"], rows: [[measured, value, goal]] }))
        .map(({ holds }) => holds)
    expect(holds("strangers found, p99 of 600", "0.4 s", "2 s")).toEqual([true])
    expect(holds("strangers found, p99 of 600, 3 missing", "0.4 s", "2 s")).toEqual([false])
    expect(holds("messages that are missing or doubled", "0", "0")).toEqual([true])
    expect(holds("messages that are missing or doubled", "1", "0")).toEqual([false])
  })

  it("of the viewer hold where a time is within its goal", () => {
    const rows = [
      ["a chat opened", "0.23 s", "1 s"],
      ["a search, again (3 hits in 1,000 messages.)", "1.20 s", "1 s"],
      ["a search", "9.00 s", ""]
    ]
    expect(verdicts(recorded("viewer", { columns: ["measured", "time", "goal"], rows }))).toEqual([
      { question: "The viewer: a chat opened, goal 1 s", holds: true, measured: "0.23 s" },
      { question: "The viewer: a search, again, goal 1 s", holds: false, measured: "1.20 s" }
    ])
  })

  it("count the workloads that miss their goal", () => {
    const goals = (reached: string) =>
      verdicts(recorded("peers", {
        columns: ["workload", "ratio", "measured", "goal", "reached"],
        rows: [
          ["read", "throughput over the peer's", "1.20 (1.10 to 1.30)", "at least 1.1", "yes"],
          ["write", "throughput over the peer's", "0.90 (0.80 to 1.10)", "at least 1.1", reached]
        ]
      }))
    expect(goals("falls short")).toEqual([{
      question: "Throughput over the peer's, goal at least 1.1",
      holds: false,
      measured: "0.9 to 1.2; 1 of 2 workloads fall short"
    }])
    expect(goals("yes")).toMatchObject([{ holds: true }])
  })

  it("are apart where workloads have different goals", () => {
    const found = verdicts(recorded("peers", {
      columns: ["workload", "ratio", "measured", "goal", "reached"],
      rows: [
        ["read", "throughput over the peer's", "1.00 (0.90 to 1.10)", "at least 1.1", "falls short"],
        ["write", "throughput over the peer's", "1.00 (0.90 to 1.10)", "at least 0.9", "yes"]
      ]
    }))
    expect(found.map(({ holds, question }) => [question, holds])).toEqual([
      ["Throughput over the peer's, goal at least 1.1", false],
      ["Throughput over the peer's, goal at least 0.9", true]
    ])
  })

  it("compare what sessions over the wire cost with the goals that they have", () => {
    const wire = (value: string) =>
      verdicts(recorded("wire", {
        columns: ["measured", "value", "goal"],
        rows: [["memory of a session", value, "430 KiB"], ["opening all", "9 s", ""]]
      }))
    const question = "Sessions over the wire: memory of a session, goal 430 KiB"
    expect(wire("400 KiB")).toEqual([{ question, holds: true, measured: "400 KiB" }])
    expect(wire("431 KiB")).toMatchObject([{ question, holds: false }])
    expect(wire("400 KiB, 431 KiB")).toMatchObject([{ question, holds: false }])
    expect(wire("not measured")).toMatchObject([{ question, holds: false }])
  })

  it("compare a rate of archiving with the least that it has as a goal", () => {
    const holds = (value: string) =>
      verdicts(recorded("capture", {
        columns: ["measured", "value", "goal"],
        rows: [["first backup", value, "at least 5000 messages a second"]]
      })).map((verdict) => verdict.holds)
    expect(holds("5000 messages a second")).toEqual([true])
    expect(holds("4999 messages a second")).toEqual([false])
  })

  it("name the goals of the watch that are missed, and what is missing misses", () => {
    const watch = (...rows: ReadonlyArray<ReadonlyArray<string | number>>) =>
      verdicts(recorded("monitor", { columns: ["accounts", "late", "found: median, slowest, s (goal 2)"], rows }))
    expect(watch([1000, "9", "0.5, 1.9 of 20"])).toEqual([
      { question: "Watch: found, goal 2", holds: true, measured: "1,000: 0.5, 1.9 of 20" }
    ])
    expect(watch([1000, "9", "0.5, 1.9 of 20"], [25_000, "9", "0.5, 2.1 of 20"])[0]?.holds).toBe(false)
    expect(watch([1000, "9", "0.5, 1.9 of 19, 1 missing"])[0]?.holds).toBe(false)
  })

  it("show what two replicas keep of one's throughput", () => {
    const scale = (two: number) =>
      verdicts(recorded("scale", {
        columns: ["replicas", "requests a second", "admitted / refused"],
        rows: [[1, 1000, "120 / 240"], [2, two, "120 / 240"]]
      }, { columns: ["ratio, largest to smallest"], rows: [["1.0"]] }))[1]
    expect(scale(900)).toMatchObject({ holds: true, measured: "0.90 of one's requests a second" })
    expect(scale(890)).toMatchObject({ holds: false })
  })

  it("ask whether zero is in every interval of differences", () => {
    const timing = (interval: string) =>
      verdicts(recorded("timing", { columns: ["difference", "98.75 % interval"], rows: [["-0.2 µs", interval]] }))
    expect(timing("-2.0 µs to 1.3 µs")).toMatchObject([{ holds: true }])
    expect(timing("-2.0 µs to -1.3 µs")).toMatchObject([{ holds: false }])
    expect(timing("1.3 µs to 2.0 µs")).toMatchObject([{ holds: false }])
  })

  it("say of each property what it is, and of none that is not known", () => {
    const properties = (...names: ReadonlyArray<string>) =>
      verdicts(recorded("properties", {
        columns: ["Property", "Sequences", "Requests", "Findings"],
        rows: names.map((name) => [name, 10, 20, name === "watch" ? 1 : 0])
      }))
    const results = properties("isolation", "monotonicity", "reach", "watch")
    expect(new Set(results.map(({ question }) => question)).size).toBe(4)
    expect(results.map(({ holds }) => holds)).toEqual([true, true, true, false])
    expect(() => properties("gravity")).toThrow("no property gravity")
  })

  it("fall with one change that a fault lost", () => {
    const faults = (lost: number) =>
      verdicts(recorded("faults", {
        columns: ["fault", "acknowledged", "lost", "duplicated", "half-done", "journal orphans"],
        rows: [["kill", 10, 0, 0, 0, 0], ["full", 20, lost, 0, 0, 0]]
      }))
    expect(faults(0)).toMatchObject([{ holds: true, measured: expect.stringContaining("30 acknowledged") }])
    expect(faults(1)).toMatchObject([{ holds: false, measured: expect.stringContaining("1 lost") }])
  })

  it("fall with a mutant that survived or did not run, and where none was tried", () => {
    const mutants = (...row: ReadonlyArray<string | number>) =>
      verdicts(recorded("mutants", {
        columns: ["Room", "Changes", "Killed", "Survived", "Did not run"],
        rows: [["src/domain", 3, 3, 0, 0], ["src/oauth", ...row]]
      }))
    expect(mutants(2, 2, 0, 0)).toMatchObject([{ holds: true, measured: "5 of 5 changes found" }])
    expect(mutants(2, 1, 1, 0)).toMatchObject([{ holds: false, measured: "4 of 5 changes found" }])
    expect(mutants(2, 1, 0, 1)).toMatchObject([{ holds: false }])
    const none = recorded("mutants", { columns: ["Room", "Changes", "Killed", "Survived", "Did not run"], rows: [] })
    expect(verdicts(none)).toMatchObject([{ holds: false }])
  })

  it("fall with bad input that was taken wrongly, and hold where there was none", () => {
    const fuzz = (fault: string, cases: number) =>
      verdicts(recorded("fuzz", { columns: ["Fault", "Cases"], rows: [[fault, cases]] }, {
        columns: ["Surface", "Cases"],
        rows: [["REST", 20]]
      }))
    expect(fuzz("none", 0)).toMatchObject([{ holds: true }])
    expect(fuzz("wrong param", 1)).toMatchObject([{
      holds: false,
      measured: expect.stringContaining("20 requests, 1")
    }])
  })

  it("are drawn from columns that the figure has", () => {
    expect(() => verdicts(recorded("mutants", { columns: ["survived"], rows: [] }))).toThrow("mutants has no column")
    const kept = readdirSync("docs/figures").filter((file) => file.endsWith(".json"))
    for (const file of kept) verdicts(JSON.parse(readFileSync(`docs/figures/${file}`, "utf8")))
    expect(kept).toContain("mutants.json")
  })
})
