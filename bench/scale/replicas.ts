/** One, two and four replicas on one database: what they serve together, and that they keep one limit and one journal. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { fillDatabase, idOf } from "../../test/support/postgres/fill.ts"
import { deployed, deployedFlags, memoryOf, type Server, startService } from "../peers/processes.ts"
import { type Answered, median, quantile, startAsking, taking } from "../support/asking.ts"
import type { Chart, Table } from "../support/figure.ts"
import { type Ground, makeKeys } from "../support/ground.ts"

const organization = { id: "replicas", accounts: 1000, events: 0, departments: 10 }
const connections = 24
const requestsPerMinute = 120

/** So many replicas, and what the rounds with them came to. */
interface Group {
  readonly replicas: ReadonlyArray<Server>
  readonly key: () => string
  readonly perSecond: Array<number>
  readonly times: Array<number>
  unexpected: number
  writes: number
}

/** Seconds before each slot. */
const warmUp = 2

/** Six lists of ten requests, two accounts, one organization and one change of a label. */
const requestOf = (turn: number, accounts: ReadonlyArray<string>, run: string) => {
  const account = accounts[turn * 31 % accounts.length] ?? ""
  if (turn % 10 === 9) {
    return { method: "PUT", path: `/v1/accounts/${account}/role-label`, content: { role_label: `${run} ${turn}` } }
  }
  if (turn % 10 === 8) return { method: "GET", path: "/v1/organization", content: undefined }
  return {
    method: "GET",
    path: turn % 10 < 6 ? "/v1/accounts?limit=50" : `/v1/accounts/${account}`,
    content: undefined
  }
}

const load = async (
  replicas: ReadonlyArray<Server>,
  key: () => string,
  accounts: ReadonlyArray<string>,
  seconds: number
) => {
  const askings = replicas.map(({ address }) => startAsking(address, connections))
  const answers: Array<Answered> = []
  const run = crypto.randomUUID()
  let turn = 0
  let writes = 0
  const until = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9))
  const worker = async (index: number) => {
    const asking = askings[index % askings.length]
    if (asking === undefined) return
    while (process.hrtime.bigint() < until) {
      const { content, method, path } = requestOf(turn++, accounts, run)
      const answer = await asking.send(method, key(), path, content)
      if (method === "PUT" && answer.status === 200) writes += 1
      answers.push(answer)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => worker(index)))
  for (const { stop } of askings) stop()
  return { answers, writes }
}

/** Asks with one key through all replicas at once, more often than it may. */
const overTheLimit = async (replicas: ReadonlyArray<Server>, key: string) => {
  const askings = replicas.map(({ address }) => startAsking(address, 8))
  const answers = await Promise.all(
    Array.from(
      { length: requestsPerMinute * 3 },
      (_, index) => askings[index % askings.length]?.ask(key, "/v1/organization")
    )
  )
  for (const { stop } of askings) stop()
  return {
    admitted: answers.filter((answer) => answer?.status === 200).length,
    refused: answers.filter((answer) => answer?.status === 429).length
  }
}

const verified = (url: string) =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Tenant.transaction(sql, organization.id, { deadline: "5 minutes" })(verify(organization.id))).pipe(
        Effect.provide(postgresLayer(url))
      )
  )

/** Serves with each number of replicas in turn, so many rounds of so many seconds. */
export const measureReplicas = async (
  ground: Ground,
  counts: ReadonlyArray<number>,
  seconds: number,
  rounds = 5
): Promise<{ readonly tables: ReadonlyArray<Table>; readonly charts: ReadonlyArray<Chart> }> => {
  await fillDatabase(ground.superuser, [organization])
  const { rows } = await ground.superuser.query<{ id: string }>(
    `select ${idOf("account", organization.id, "n")} as id from generate_series(1, ${organization.accounts}) n`
  )
  const accounts = rows.map(({ id }) => id)
  const keys = Math.ceil((seconds + warmUp) * rounds * 5000 / 100)
  const groups: Array<Group> = []
  const rowsOf: Array<ReadonlyArray<string | number>> = []
  let changes = 0
  try {
    for (const count of counts) {
      const replicas: Array<Server> = []
      const key = taking(await makeKeys(ground, organization.id, "owner", keys))
      groups.push({ replicas, key, perSecond: [], times: [], unexpected: 0, writes: 0 })
      for (let index = 0; index < count; index++) {
        replicas.push(await startService(ground.url, ground.pepper, deployed))
      }
    }
    for (let round = 0; round < rounds; round++) {
      for (const group of groups) {
        changes += (await load(group.replicas, group.key, accounts, warmUp)).writes
        const begun = process.hrtime.bigint()
        const { answers, writes } = await load(group.replicas, group.key, accounts, seconds)
        group.perSecond.push(answers.length / (Number(process.hrtime.bigint() - begun) / 1e9))
        for (const { millis } of answers) group.times.push(millis)
        group.unexpected += answers.filter(({ status }) => status !== 200).length
        group.writes += writes
        changes += writes
      }
    }
    for (const { perSecond, replicas, times, unexpected, writes } of groups) {
      const [lone = ""] = await makeKeys(ground, organization.id, "owner", 1)
      const { admitted, refused } = await overTheLimit(replicas, lone)
      rowsOf.push([
        replicas.length,
        Math.round(median(perSecond)),
        Number(median(times).toFixed(1)),
        Number(quantile(times, 0.99).toFixed(1)),
        unexpected,
        writes,
        replicas.map(({ pid }) => memoryOf(pid).toFixed(0)).join(", "),
        `${admitted} / ${refused}`
      ])
    }
  } finally {
    await Promise.all(groups.flatMap(({ replicas }) => replicas).map(({ stop }) => stop()))
  }
  const state = await verified(ground.url)
  return {
    tables: [{
      title: "Replicas on one database",
      columns: [
        "replicas",
        "requests a second",
        "p50, ms",
        "p99, ms",
        "answers but 200",
        "changes",
        "MiB each under load",
        `of ${requestsPerMinute * 3} requests at once with one key: admitted / refused`
      ],
      rows: rowsOf,
      note:
        `Six lists of 50, two single accounts, one organization and one change of a label of ten requests, by ${connections} connections for ${seconds} s, of services with Node's \`${deployedFlags}\` as the unit and the image have them; the requests a second are the median of ${rounds} rounds, in which the numbers of replicas take turns. The limit is ${requestsPerMinute} in a minute, however many replicas are asked. The journal that all of them wrote was verified afterwards: ${
          state.ok
            ? `whole, with ${state.sequence} events of ${changes} acknowledged changes, those of the warm-up included`
            : `broken at ${state.sequence}, ${state.reason}`
        }.`
    }],
    charts: []
  }
}
