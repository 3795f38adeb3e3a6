/**
 * Sends generated requests to a running service and judges every answer.
 *
 * `--cases 100000` says how many, `--seed` which (a fresh one by default), and `--case n` sends that one alone and
 * prints it with its answer. `--concurrency`, `--batch` and `--keys` (of a role) fit the run to the machine.
 */
import * as crypto from "node:crypto"
import { parseArgs } from "node:util"
import { record } from "../../bench/support/figure.ts"
import { type Finding, type Result, Run } from "./run.ts"
import { heap, type Running, start } from "./service.ts"

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "100000" },
    seed: { type: "string", default: String(crypto.randomInt(2 ** 31)) },
    case: { type: "string" },
    concurrency: { type: "string", default: "16" },
    batch: { type: "string", default: "1000" },
    keys: { type: "string", default: "400" }
  }
})

const seed = Number(values.seed)
const single = values.case === undefined ? undefined : Number(values.case)

const described = ({ answer, fault, number, text }: Finding) =>
  [`## ${fault}`, `npm run fuzz -- --seed ${seed} --case ${number}`, text, "### answered", answer].join("\n\n")

const sorted = (counts: ReadonlyMap<string, number>): ReadonlyArray<readonly [string, number]> =>
  [...counts].toSorted(([, one], [, other]) => other - one)

const report = (result: Result, cases: number, seconds: number, memory: ReadonlyArray<number>) => {
  const { comparisons, compared, faults, kinds, statuses, surfaces } = result
  record({
    name: "fuzz",
    title: "Bad input",
    command: "npm run fuzz",
    text: [
      `${cases} requests were generated from a seed over the OpenAPI document, the tools' schemas and the authorization server's parameters, and sent as bytes over sockets to \`serve\` on PostgreSQL. Every answer was judged by the OpenAPI document (with ajv), the specification and the RFCs: no 5xx, the documented status, body and headers, JSON-RPC with a result or an error, the parameter that is wrong named by its name, no redirect to an address that was not registered.`,
      `Refused requests must leave nothing behind: ${compared} of them were sent between ${comparisons} pairs of digests of every table (but for counters of requests and attempts).`,
      `Seed ${seed}, ${
        Math.round(cases / seconds)
      } cases per second with the database compared in between. The service ran with a heap of ${heap} MiB at most, so that memory which is not given back would have ended it; its process took ${
        memory[0]
      } MiB at the start, at most ${Math.max(...memory)} MiB, and ${memory.at(-1)} MiB at the end.`
    ],
    tables: [
      {
        title: "Findings",
        columns: ["Fault", "Cases"],
        rows: faults.size === 0 ? [["none", 0]] : sorted(faults)
      },
      { title: "Cases by surface", columns: ["Surface", "Cases"], rows: sorted(surfaces) },
      {
        title: "Cases by what was done to a valid request",
        columns: ["Kind", "Cases"],
        rows: sorted(kinds),
        note: "A request to which two things were done counts twice."
      },
      { title: "Answers by status", columns: ["Status", "Answers"], rows: sorted(statuses) }
    ],
    charts: []
  })
}

const one = async (running: Running, number: number) => {
  const run = new Run(running, { seed, first: number, count: 1, concurrency: 1, batch: 1, shows: true })
  const { findings, shown } = await run.all()
  console.log(shown.join("\n\n"))
  for (const finding of findings) console.log(described(finding))
  return findings.length
}

const many = async (running: Running) => {
  const cases = Number(values.cases)
  const memory = [running.memory()]
  const began = performance.now()
  const result = await new Run(running, {
    seed,
    first: 0,
    count: cases,
    concurrency: Number(values.concurrency),
    batch: Number(values.batch),
    onFinding: (finding) => console.log(described(finding)),
    onBatch: (done, findings) => {
      if (!running.isAlive()) throw new Error(`The service has ended before case ${done} of seed ${seed}`)
      memory.push(running.memory())
      console.error(`${done} cases, ${findings} findings, ${memory.at(-1)} MiB`)
    }
  }).all()
  for (const line of running.errors().slice(0, 20)) console.log(line.slice(0, 2000))
  report(result, cases, (performance.now() - began) / 1000, memory)
  return result.findings.length + running.errors().length
}

const running = await start(single === undefined ? Number(values.keys) : 10)
try {
  process.exitCode = (single === undefined ? await many(running) : await one(running, single)) === 0 ? 0 : 1
} finally {
  await running.stop()
}
