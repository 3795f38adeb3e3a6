import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { type Row, rows } from "./imports.ts"
import { root } from "./repository.ts"

/** What modules that stay deterministic and typed must not write, and where it is accepted. */
const ambient = [
  "export const a = Date.now()",
  "export const b = Math.random()",
  "export const c = process.env",
  "export const d = performance.now()",
  "export const e = crypto.randomUUID()"
]
const untyped = [
  "export const f: any = 1",
  "export const g = a as unknown",
  "export const h = <unknown>a",
  "export const i = a!"
]
const deterministic = [
  "domain",
  "ports",
  "kernel",
  "kernel/runners",
  "operations",
  "operations/accounts",
  "console",
  "engine",
  "administration",
  "oauth",
  "edge",
  "http",
  "mcp",
  "messenger"
]

interface Diagnostic {
  readonly code: string
  readonly filename: string
  readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
}

const temporary = mkdtempSync(join(tmpdir(), "modules-"))
afterAll(() => rmSync(temporary, { recursive: true }))

cpSync(`${root}.oxlintrc.json`, join(temporary, ".oxlintrc.json"))
cpSync(`${root}src`, join(temporary, "src"), { recursive: true })

/** What the linter says of the copy about the repository's rules, each as `code file:line`. */
const lint = (): ReadonlyArray<string> => {
  const { stdout } = spawnSync(process.execPath, [`${root}node_modules/oxlint/bin/oxlint`, "--format=json", "src"], {
    cwd: temporary,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  const report: { readonly diagnostics: ReadonlyArray<Diagnostic>; readonly number_of_files: number } = JSON.parse(
    stdout
  )
  expect(report.number_of_files).toBeGreaterThan(0)
  const codes = /no-(?:restricted-(?:imports|properties)|cycle|explicit-any|non-null-assertion)|type-assertions/
  return report.diagnostics.filter(({ code }) => codes.test(code))
    .map(({ code, filename, labels }) => `${code} ${filename}:${labels[0]?.span.line}`)
}

const plant = (file: string, lines: ReadonlyArray<string>) => {
  mkdirSync(dirname(join(temporary, file)), { recursive: true })
  writeFileSync(join(temporary, file), lines.join("\n"))
}

const plantedFile = ({ from }: Row) => from.endsWith(".ts") ? `src/${from}` : `src/${from}/Planted.ts`

describe("the modules", () => {
  const untouched = lint()
  for (const row of rows) {
    plant(
      plantedFile(row),
      [...row.refused, ...row.accepted].map((specifier, at) => `import { a${at} } from "${specifier}"`)
    )
  }
  for (const module of [...deterministic, "layers", "administration", "cli"]) {
    plant(`src/${module}/Words.ts`, [...ambient, ...untyped])
  }
  plant("src/domain/CycleA.ts", ["import { b } from \"./CycleB.ts\"", "export const a = () => b"])
  plant("src/domain/CycleB.ts", ["import { a } from \"./CycleA.ts\"", "export const b = () => a"])
  const planted = new Set(lint())
  const isRefused = (row: Row, at: number) => planted.has(`eslint(no-restricted-imports) ${plantedFile(row)}:${at + 1}`)

  it("import nothing that they must not", () => {
    expect(untouched).toEqual([])
  })

  for (const row of rows) {
    row.refused.forEach((specifier, at) =>
      it(`refuse ${specifier} in ${row.from}`, () => {
        expect(isRefused(row, at)).toBe(true)
      })
    )
    row.accepted.forEach((specifier, at) =>
      it(`accept ${specifier} in ${row.from}`, () => {
        expect(isRefused(row, row.refused.length + at)).toBe(false)
      })
    )
  }

  const linesOf = (file: string) =>
    new Set([...planted].flatMap((line) => line.includes(` ${file}:`) ? [Number(line.split(":").at(-1))] : []))
  const numbered = (from: number, lines: ReadonlyArray<string>) => new Set(lines.map((_, at) => from + at))

  for (const module of deterministic) {
    it(`refuse ambient time, randomness and settings, any, casts and non-null assertions in ${module}`, () => {
      expect(linesOf(`src/${module}/Words.ts`)).toEqual(numbered(1, [...ambient, ...untyped]))
    })
  }
  for (const module of ["layers", "cli"]) {
    it(`refuse any, casts and non-null assertions in ${module}`, () => {
      expect(linesOf(`src/${module}/Words.ts`)).toEqual(numbered(ambient.length + 1, untyped))
    })
  }

  it("refuse a circle of imports", () => {
    expect(planted).toContain("import(no-cycle) src/domain/CycleA.ts:1")
  })
})
