/**
 * Plays random sequences against six properties: isolation, monotonicity and reach of requests, the invariants of the
 * watch over accounts (see `test/support/properties`), and the laws of capture, in memory and, a hundredth as many, in
 * the archive itself (`test/support/capture`).
 *
 * `npm run properties` plays 10,000 of each over two processes, each with a database of its own on a private
 * PostgreSQL. `--sequences 200` plays fewer; `--seed text` plays others; `--property isolation` plays one property
 * alone; `--from 17
 * --sequences 1` plays the sequence of that number again, and of the watch the round.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { record } from "../../bench/support/figure.ts"
import { createConsole, postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import { figureOf, isLaw, lawsOf, type Played } from "./figure.ts"
import type { Part, Progress } from "./worker.ts"

const properties = ["isolation", "monotonicity", "reach", "watch", "capture", "archive"] as const

/** What plays each; rounds of the watch are counted by their accounts. */
const players = {
  isolation: "worker.ts",
  monotonicity: "worker.ts",
  reach: "worker.ts",
  watch: "watching.ts",
  capture: "capturing.ts",
  archive: "capturing.ts"
}

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "10000" },
    from: { type: "string", default: "1" },
    seed: { type: "string", default: "properties" },
    property: { type: "string" },
    workers: { type: "string", default: "2" }
  }
})

const first = Number(values.from)

/** The last sequence that is played; a history in the archive takes as long as a hundred in memory. */
const lastOf = (property: Played["property"]): number => {
  const sequences = Number(values.sequences)
  return first + (property === "archive" ? Math.ceil(sequences / 100) : sequences) - 1
}
const workers = Math.min(Number(values.workers), Number(values.sequences))

const server = await DatabaseServer.start()
await createConsole(server, "properties")

const databaseOf = async (name: string) => {
  await Effect.runPromise(
    SqlClient.SqlClient.use((sql) => sql`create database ${sql(name)} owner console_owner`).pipe(
      Effect.provide(postgresLayer(server.url()))
    )
  )
  return { url: server.url(name, "console"), superuserUrl: server.url(name) }
}

/** One worker's part, with what it told last. */
const work = (
  task: Part & { readonly property: Played["property"] },
  report: (progress: Progress) => void
): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = fork(new URL(players[task.property], import.meta.url))
    child.on("message", report)
    child.on("exit", (code) => code === 0 ? resolve() : reject(new Error(`A worker ended with ${code}`)))
    child.send(task)
  })

const play = async (property: typeof properties[number]): Promise<Played> => {
  const started = performance.now()
  const parts: Array<Progress> = []
  const sum = (of: (progress: Progress) => number) => parts.reduce((total, progress) => total + of(progress), 0)
  await Promise.all(Array.from({ length: workers }, async (_, index) => {
    const database = await databaseOf(`${property}_${index}`)
    const task = {
      property,
      seed: values.seed,
      first: first + index,
      last: lastOf(property),
      step: workers,
      ...database
    }
    await work(task, (progress) => {
      parts[index] = progress
      if (progress.sequences % 1000 === 0) console.log(`${property}: ${sum(({ sequences }) => sequences)} sequences`)
    })
  }))
  return {
    property,
    sequences: sum(({ sequences }) => sequences),
    requests: sum(({ requests }) => requests),
    comparisons: sum(({ comparisons }) => comparisons),
    findings: parts.flatMap(({ findings }) => findings),
    seconds: (performance.now() - started) / 1000
  }
}

try {
  const played: Array<Played> = []
  for (const property of properties) {
    if (values.property === undefined || values.property === property) played.push(await play(property))
  }
  for (const { findings, property } of played) {
    for (const { sequence, text } of findings) {
      console.error(`\n${property}, seed ${values.seed}, sequence ${sequence}:\n${text.slice(0, 4000)}`)
    }
  }
  const isKept = Number(values.sequences) >= 1000
  const laws = played.filter(({ property }) => isLaw(property))
  if (isKept && laws.length > 0) record(lawsOf(laws, values.seed))
  const others = played.filter(({ property }) => !isLaw(property))
  if (values.property === undefined && isKept) record(figureOf(others, values.seed, workers))
  else console.log(played.map(({ findings, ...rest }) => ({ ...rest, findings: findings.length })))
  process.exitCode = played.every(({ findings }) => findings.length === 0) ? 0 : 1
} finally {
  await server.remove()
}
