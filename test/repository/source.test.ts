import { existsSync } from "node:fs"
import { basename, dirname } from "node:path"
import { describe, expect, it } from "vitest"
import { operations } from "../../src/operations/index.ts"
import { codeOf } from "../support/run/code.ts"
import { files, read } from "./repository.ts"

const source = files("src/**/*.ts")
const tests = files("test/**/*.ts")

/** Each line of the files in which the pattern occurs, as `file:line`, comments and strings left out by default. */
const where = (among: ReadonlyArray<string>, pattern: RegExp, text: (source: string) => string = codeOf) =>
  among.flatMap((file) =>
    text(read(file)).split("\n").flatMap((line, at) => pattern.test(line) ? [`${file}:${at + 1}`] : [])
  )

const whole = (text: string) => text

const partition = <A>(values: ReadonlyArray<A>, first: (value: A) => boolean) =>
  [values.filter(first), values.filter((value) => !first(value))] as const

describe("the command line", () => {
  it("writes no SQL: what it asks of the database is a port's or a layer's", () => {
    expect(where(files("src/cli/**/*.ts"), /\bsql\s*(?:<[^>]*>)?`|\bsql\.unsafe\b/, whole)).toEqual([])
  })
})

describe("the list of operations", () => {
  it("holds each file of an area once, under the file's name", () => {
    const [samples, named] = partition(
      files("src/operations/*/**/[a-z]*.ts").map((file) => basename(file, ".ts")),
      (name) => name.endsWith(".samples")
    )
    expect(operations.map(({ id }) => id).toSorted()).toEqual(named.toSorted())
    const areas = files("src/operations/*/*.ts").map((file) => basename(dirname(file)))
    // A large area has others besides.
    expect(samples).toEqual(expect.arrayContaining([...new Set(areas)].map((area) => `${area}.samples`)))
  })

  it("declares each operation once: its id is the first argument of one declaration", () => {
    const declared = source.flatMap((file) =>
      [...read(file).matchAll(/Operation\.\w+\(\s*"(\w+)"/g)].map(([, id]) => `${id} in ${file}`)
    )
    const expected = operations.map(({ id }) =>
      `${id} in ${source.find((file) => basename(file) === `${id}.ts`) ?? "no file"}`
    )
    expect(declared.toSorted()).toEqual(expected.toSorted())
  })
})

/** What runs for a guarded operation, a login or one that takes a key, where a tracer is, or for a page. */
const rarer = [
  "src/transport/Compression.ts",
  "src/transport/RequestLog.ts",
  "src/messenger/OlderSession.ts",
  "src/kernel/Idempotency.ts",
  "src/messenger/AccountSession.ts",
  "src/messenger/OpenSessions.ts",
  "src/messenger/LoginCalls.ts",
  "src/kernel/runners/MessengerChange.ts",
  "src/kernel/runners/LoginStep.ts"
]

describe("what runs at each read and write", () => {
  it("makes no generator function anew: V8 keeps all that such a one has seen until a full collection", () => {
    const reading = files("src/operations/*/**/[a-z]*.ts").filter((file) =>
      /Operation\.(?:read|write)\(/.test(read(file))
    )
    expect(reading.length).toBeGreaterThan(30)
    const shared = files("src/{kernel,messenger,transport}/**/*.ts").filter((file) => !rarer.includes(file))
    expect(where([...reading, ...shared, "src/http/Rest.ts"], /\bEffect\.gen\(/)).toEqual([])
    expect(where(rarer, /\bEffect\.gen\(/).map((line) => line.split(":")[0])).toEqual(expect.arrayContaining(rarer))
  })
})

describe("the source", () => {
  it("has no file over 400 lines, and neither has what tests, tries and measures it", () => {
    const all = files("{src,test,experiments,bench,scripts}/**/*.{ts,mjs}")
    expect(all.filter((file) => read(file).trimEnd().split("\n").length > 400)).toEqual([])
  })

  it("begins no comment with a question word, nor with a preposition and one", () => {
    const words = "Who|Whom|Whose|What|Whatever|Whether|How|When|Where|Which|Why"
    const prepositions = "About|After|At|By|For|From|In|Of|On|Since|Through|To|Under|Until|With"
    const start = new RegExp(`(?:/\\*\\*|//|--) (?:${words}|(?:${prepositions}) (?:${words.toLowerCase()}))\\b`)
    expect(where([...source, ...files("src/**/*.sql")], start, whole)).toEqual([])
  })

  it("S0-01: carries neither the maker's name nor the platform's", () => {
    const published = files("{openapi,tools}.json").concat(files("docs/**/*.json"))
    // The one file that names the library's parts, under neutral names.
    const own = source.filter((file) => file !== "src/layers/messenger/wire/Protocol.ts")
    expect(where([...own, ...published], /cerber|telegram|mtproto|tdlib|(?:\b|_)tg_/i, whole)).toEqual([])
  })

  it("reads no ambient time outside the layers and the commands", () => {
    const modules = source.filter((file) => !/^src\/(?:layers|cli)\//.test(file))
    expect(where(modules, /\bnew Date(?:\(\s*\)|(?!\())|(?<!new\s)(?<![.\w])Date\(/)).toEqual([])
  })

  it("takes the time of its statements from the Clock, not from the database", () => {
    const ambient = /(?<![.\w])(?:now|transaction_timestamp|statement_timestamp)\(\)|current_timestamp|localtimestamp/i
    expect(where(source, ambient, whole)).toEqual([])
  })

  it("re-exports only, where it is the surface of the library", () => {
    const statements = codeOf(read("src/index.ts")).split(/\n(?=\S)/).filter((part) => part.trim() !== "")
    expect(statements.filter((part) => !/^(?:export\s(?:type\s)?(?:\*|\{[^}]*\})[^=]*\sfrom\b|\}\s*from\b)/.test(part)))
      .toEqual([])
  })

  it("switches a check off for one line at most, and says why", () => {
    const directive =
      /oxlint-disable|eslint-disable|@effect-diagnostics|@ts-(?:ignore|expect-error|nocheck)|dprint-ignore/
    const reasoned =
      /\/\/ (?:oxlint-disable-next-line [\w/-]+|@effect-diagnostics-next-line \w+:off|dprint-ignore) -- \w+ \w+/
    const lines = where(source, directive, whole)
    expect(lines.filter((line) => !where(source, reasoned, whole).includes(line))).toEqual([])
  })
})

describe("the tests", () => {
  it("are neither skipped nor run alone", () => {
    const marked = /(?<![\w.$])(?:it|test|describe)(?:\.\w+)*\.(?:only|skip|todo|fails|skipIf|runIf)\b/
    expect(where(tests, marked)).toEqual([])
  })

  it("draw what is random from one seed, so that a run that passes passes again", () => {
    const unseeded = tests.filter((file) => {
      const code = codeOf(read(file))
      const count = (pattern: RegExp) => code.match(pattern)?.length ?? 0
      return count(/\.prop\(|fc\.(?:assert|sample)\(|\bsampleEffect\(/g) >
        count(/\b(?:drawn(?:On)?|tried|sampled)\(|\bcount(?:: \d+)?, seed\b|\bseed: \d/g)
    })
    expect(unseeded).toEqual([])
  })

  it("stand in files that the runner takes", () => {
    const calls = tests.filter((file) => /^\s*describe(?:\.\w+)*\(/m.test(codeOf(read(file))))
    expect(calls.filter((file) => !file.endsWith(".test.ts") && !/^export /m.test(read(file)))).toEqual([])
    expect(existsSync("vitest.config.ts")).toBe(true)
  })
})
