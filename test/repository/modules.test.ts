import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
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
  "domain/accounts",
  "ports/accounts",
  "messenger",
  "changes",
  "kernel",
  "kernel/runners",
  "signin",
  "oauth/token",
  "protection",
  "operator/people",
  "operations",
  "operations/accounts",
  "jobs",
  "transport",
  "http",
  "http/pages/people",
  "mcp"
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
cpSync(`${root}scripts/lint`, join(temporary, "scripts/lint"), { recursive: true })

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
  const codes = /modules\(imports\)|no-(?:restricted-properties|cycle|explicit-any|non-null-assertion)|type-assertions/
  return report.diagnostics.filter(({ code }) => codes.test(code))
    .map(({ code, filename, labels }) => `${code} ${filename}:${labels[0]?.span.line}`)
}

const plant = (file: string, lines: ReadonlyArray<string>) => {
  mkdirSync(dirname(join(temporary, file)), { recursive: true })
  writeFileSync(join(temporary, file), lines.join("\n"))
}

const plantedFile = ({ from }: Row) => from.endsWith(".ts") ? `src/${from}` : `src/${from}/Planted.ts`

/** As a file imports another file below `src`, or a package. */
const specifierOf = (row: Row, name: string) => {
  if (!/^[a-z]+\/.*\.ts$/.test(name)) return name
  const specifier = relative(dirname(plantedFile(row)), `src/${name}`)
  return specifier.startsWith(".") ? specifier : `./${specifier}`
}

describe("the modules", () => {
  const untouched = lint()
  const linesOfRow = (row: Row) => [...row.refused, ...row.packages, ...row.accepted]
  for (const row of rows) {
    plant(
      plantedFile(row),
      linesOfRow(row).map((name, at) => `import { a${at} } from "${specifierOf(row, name)}"`)
    )
  }
  for (const module of [...deterministic, "layers", "cli"]) {
    plant(`src/${module}/Words.ts`, [...ambient, ...untyped])
  }
  plant("src/domain/CycleA.ts", ["import { b } from \"./CycleB.ts\"", "export const a = () => b"])
  plant("src/domain/CycleB.ts", ["import { a } from \"./CycleA.ts\"", "export const b = () => a"])
  const planted = new Set(lint())

  it("import nothing that they must not", () => {
    expect(untouched).toEqual([])
  })

  for (const row of rows) {
    linesOfRow(row).forEach((name, at) => {
      const refused = !row.accepted.includes(name)
      it(`${refused ? "refuse" : "accept"} ${name} in ${row.from}`, () => {
        expect(planted.has(`modules(imports) ${plantedFile(row)}:${at + 1}`)).toBe(refused)
      })
    })
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
