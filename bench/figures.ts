/** Writes `docs/figures.md`, the raw tables and the charts from what the runs have kept below `docs/figures`; `--check` only compares. */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { draw } from "./support/draw.ts"
import { directory, formatTable, type Recorded } from "./support/figure.ts"
import { verdicts } from "./verdicts.ts"

const { values: { check } } = parseArgs({ options: { check: { type: "boolean", default: false } } })

/** The order of the document; each name is that of a file. */
const order = [
  "peers",
  "peers-profile",
  "peers-statements",
  "scale",
  "people",
  "start",
  "monitor",
  "wire",
  "cluster",
  "archive",
  "viewer",
  "capture",
  "timing",
  "fuzz",
  "faults",
  "faults-watch",
  "faults-cluster",
  "faults-archive",
  "properties",
  "capture-laws",
  "mutants"
]

const document = path.join(directory, "../figures.md")

const read = (name: string): Recorded | undefined => {
  const file = path.join(directory, `${name}.json`)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined
}

/** A figure's own page: what was done, and every number. */
const raw = ({ charts, command, date, machine, tables, text, title, versions }: Recorded): string =>
  [
    `# ${title}`,
    `Printed by \`${command}\` on ${date}; ${machine}; ${
      Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")
    }. [All figures](../figures.md)`,
    ...text,
    ...tables.map(formatTable),
    ...charts.map(({ name, title }) => `![${title}](${name}.svg)`)
  ].join("\n\n") + "\n"

/** What a reader wants to know of a figure, and where its numbers are. */
const summary = (figure: Recorded): ReadonlyArray<ReadonlyArray<string>> =>
  verdicts(figure).map(({ holds, measured, question }, index) => [
    question,
    holds ? "holds" : "**falls short**",
    measured,
    index === 0 ? `[${figure.title}](figures/${figure.name}.md), \`${figure.command}\`, ${figure.date}` : ""
  ])

const figures = order.flatMap((name) => read(name) ?? [])

const overview = [
  "# Figures",
  "What the service costs and withstands. Each verdict follows from the numbers of a run, which its page shows whole" +
  " with the machine and the versions; `npm run figures` writes all of this from what the runs keep in `docs/figures`.",
  "Requests a second depend on the machine; ratios are what to read. The peer is a server on Fastify" +
  " and pg that was designed freely, with the same duties; the floor makes one statement a request and has no duties.",
  formatTable({
    title: "Verdicts",
    columns: ["Question", "Verdict", "Measured", "Numbers, command, date"],
    rows: figures.flatMap(summary)
  }),
  ...figures.flatMap(({ charts }) => charts.map(({ name, title }) => `![${title}](figures/${name}.svg)`))
].join("\n\n")

const files: ReadonlyMap<string, string> = new Map([
  [document, `${overview}\n`],
  ...figures.map((figure) => [path.join(directory, `${figure.name}.md`), raw(figure)] as const),
  ...figures.flatMap(({ charts }) =>
    charts.map((chart) => [path.join(directory, `${chart.name}.svg`), draw(chart)] as const)
  )
])

const stale = [...files].filter(([file, content]) => !fs.existsSync(file) || fs.readFileSync(file, "utf8") !== content)
if (check) {
  for (const [file] of stale) console.error(`${path.relative(process.cwd(), file)} is not what its figures say`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [file, content] of stale) fs.writeFileSync(file, content)
  console.log(`${files.size} files from ${figures.length} figures`)
}
