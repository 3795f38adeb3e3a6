/** What a run has measured: printed for the reader, and kept for `docs/figures.md`. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

export interface Table {
  readonly title: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string | number>>
  /** What a reader has to know of the numbers. */
  readonly note?: string
}

export interface Chart {
  readonly title: string
  /** Of the file below `docs/figures`, without its ending. */
  readonly name: string
  readonly kind: "bar"
  /** What the values are, such as `ms` or `requests per second`. */
  readonly unit: string
  readonly x: ReadonlyArray<string>
  readonly series: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<number | null> }>
}

/** One section of `docs/figures.md`. */
export interface Figure {
  /** Of the file below `docs/figures`, without its ending. */
  readonly name: string
  readonly title: string
  /** What prints it, as a reader types it. */
  readonly command: string
  /** Paragraphs before the tables, in Markdown: what was done and how to read it. */
  readonly text: ReadonlyArray<string>
  readonly tables: ReadonlyArray<Table>
  readonly charts: ReadonlyArray<Chart>
}

/** A figure with where and when it was measured. */
export interface Recorded extends Figure {
  readonly date: string
  readonly machine: string
  readonly versions: Readonly<Record<string, string>>
}

export const directory = fileURLToPath(new URL("../../docs/figures/", import.meta.url))

const dependencies = ["effect", "@effect/sql-pg", "@electric-sql/pglite", "fastify", "pg"]

const packageVersion = (name: string): string => {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(fs.readFileSync(file, "utf8")).version
}

const cell = (value: string | number): string => String(value).replaceAll("|", "\\|")
const line = (cells: ReadonlyArray<string | number>): string => `| ${cells.map(cell).join(" | ")} |`

/** A table in Markdown, under its title. */
export const formatTable = ({ columns, note, rows, title }: Table): string =>
  [
    `**${title}**`,
    "",
    line(columns),
    line(columns.map((_, index) => rows.every((row) => typeof row[index] === "number") ? "---:" : "---")),
    ...rows.map(line),
    ...(note === undefined ? [] : ["", note])
  ].join("\n")

const fileOf = (name: string): string => path.join(directory, `${name}.json`)

/** The tables of a figure that was kept, by their titles; none where no run has kept it. */
export const keptTables = (name: string): ReadonlyMap<string, Table> => {
  const file = fileOf(name)
  const { tables }: Pick<Figure, "tables"> = fs.existsSync(file)
    ? JSON.parse(fs.readFileSync(file, "utf8"))
    : { tables: [] }
  return new Map(tables.map((table) => [table.title, table]))
}

/** Replaces tables of a figure that was kept, or adds them; each says when it was measured. */
export const recordTables = (name: string, tables: ReadonlyArray<Table>): void => {
  const date = new Date().toISOString().slice(0, 10)
  const kept: Recorded = JSON.parse(fs.readFileSync(fileOf(name), "utf8"))
  const all = new Map(kept.tables.map((table) => [table.title, table]))
  for (const table of tables) {
    all.set(table.title, { ...table, note: [table.note ?? [], `Measured on ${date}.`].flat().join(" ") })
  }
  console.log(tables.map(formatTable).join("\n\n"))
  fs.writeFileSync(fileOf(name), `${JSON.stringify({ ...kept, tables: [...all.values()] }, undefined, 2)}\n`)
}

/**
 * Prints the figure, and keeps it below `docs/figures` with the machine, the date and the versions. Tables of these
 * titles stay as another run has kept them.
 */
export const record = (figure: Figure, others: ReadonlyArray<string> = []): void => {
  const kept = keptTables(figure.name)
  const recorded: Recorded = {
    ...figure,
    tables: [...figure.tables, ...others.flatMap((title) => kept.get(title) ?? [])],
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.availableParallelism()} cores, ${
      Math.round(os.totalmem() / 2 ** 30)
    } GiB, ${os.type()} ${os.arch()}, client, service and database on it together`,
    versions: {
      node: process.versions.node,
      ...Object.fromEntries(dependencies.map((name) => [name, packageVersion(name)]))
    }
  }
  console.log(
    [`# ${figure.title}`, ...figure.text, ...figure.tables.map(formatTable)].join("\n\n")
  )
  fs.mkdirSync(directory, { recursive: true })
  fs.writeFileSync(fileOf(figure.name), `${JSON.stringify(recorded, undefined, 2)}\n`)
}
