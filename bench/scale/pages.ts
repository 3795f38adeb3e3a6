/** The time of a page by the size of the organization. */
import type { Filling } from "../../test/support/postgres/fill.ts"
import { cpuOfFamily, type Server } from "../peers/processes.ts"
import { median, quantile, startAsking, taking } from "../support/asking.ts"
import type { Chart, Table } from "../support/figure.ts"
import { type Ground, makeKeys, makeLimitedTokens } from "../support/ground.ts"
import { type Asker, type Case, casesOf } from "./cases.ts"
import { peopleCasesOf, peopleGoal } from "./people.ts"

interface Prepared {
  readonly filling: Filling
  readonly cases: ReadonlyArray<Case>
  readonly credential: Readonly<Record<Asker, () => string>>
}

/** Requests that a credential may get: well below the limit of a minute, however fast the run is. */
const perCredential = 100

const prepare = async (
  ground: Ground,
  service: Server,
  filling: Filling,
  of: typeof casesOf,
  rounds: number
): Promise<Prepared> => {
  const cases = await of(ground.superuser, filling)
  const credentialOf = async (asker: Asker) => {
    const count = Math.ceil(cases.filter((one) => one.asker === asker).length * rounds / perCredential)
    return taking(
      asker === "limited"
        ? await makeLimitedTokens(ground, filling.id, 3, service.address, count)
        : await makeKeys(ground, filling.id, asker, count)
    )
  }
  const credential = {
    owner: await credentialOf("owner"),
    admin: await credentialOf("admin"),
    billing: await credentialOf("billing"),
    limited: await credentialOf("limited")
  }
  return { filling, cases, credential }
}

interface Measured {
  readonly rows: number
  readonly times: Array<number>
}

const millis = (value: number) => value.toFixed(2)

/** How much longer a page may take in the largest organization than in the smallest. */
const most = 1.2

/** Requests that are asked before the first one is measured. */
const warmUp = 3

const named = ({ asker, what }: Case) => [asker, what].filter((word) => word !== "").join(", ")

/** The largest pages of admins and departments of one organization, against their goal. */
export const measurePeople = async (
  ground: Ground,
  service: Server,
  filling: Filling,
  rounds: number
): Promise<Table> => {
  const { cases, credential } = await prepare(ground, service, filling, peopleCasesOf, rounds + warmUp)
  const { ask, stop } = startAsking(service.address)
  const rows: Array<ReadonlyArray<string | number>> = []
  try {
    for (const one of cases) {
      const asked = () => ask(credential[one.asker](), one.path)
      let last = await asked()
      for (let round = 1; round < warmUp; round++) last = await asked()
      if (last.status !== 200) throw new Error(`${one.path}: ${last.status} ${last.body}`)
      const before = cpuOfFamily(ground.pid)
      const times: Array<number> = []
      for (let round = 0; round < rounds; round++) times.push((await asked()).millis)
      const cpu = (cpuOfFamily(ground.pid) - before) / rounds
      rows.push([
        one.operation,
        named(one),
        JSON.parse(last.body).data.length,
        millis(cpu),
        millis(median(times)),
        millis(quantile(times, 0.95)),
        peopleGoal
      ])
    }
  } finally {
    stop()
  }
  return {
    title: "A page of 100",
    columns: ["operation", "who and what", "rows", "database CPU, ms", "median, ms", "p95, ms", "goal, ms"],
    rows,
    note:
      `${rounds} requests each. The goal is of the database's time: its processor time a request, of all its processes; the other times are over HTTP, whole.`
  }
}

/** Asks every case of every organization in turn, so that whatever slows the machine slows all of them. */
export const measurePages = async (
  ground: Ground,
  service: Server,
  fillings: ReadonlyArray<Filling>,
  rounds: number
): Promise<{ readonly tables: ReadonlyArray<Table>; readonly charts: ReadonlyArray<Chart> }> => {
  const organizations: Array<Prepared> = []
  for (const filling of fillings) organizations.push(await prepare(ground, service, filling, casesOf, rounds + warmUp))
  const count = organizations[0]?.cases.length ?? 0
  const measured = Array.from(
    { length: count },
    () => organizations.map((): Measured & { rows: number } => ({ rows: 0, times: [] }))
  )
  const { ask, stop } = startAsking(service.address)
  try {
    for (let round = -warmUp; round < rounds; round++) {
      for (const [index, results] of measured.entries()) {
        for (const [place, { cases, credential, filling }] of organizations.entries()) {
          const one = cases[index]
          const result = results[place]
          if (one === undefined || result === undefined) continue
          const { body, millis: took, status } = await ask(credential[one.asker](), one.path)
          if (status !== 200) throw new Error(`${filling.id} ${one.path}: ${status} ${body}`)
          if (round < 0) result.rows = JSON.parse(body).data?.length ?? 1
          else result.times.push(took)
        }
      }
    }
  } finally {
    stop()
  }
  const names = fillings.map(({ accounts, events, id }) =>
    `${id}: ${accounts.toLocaleString("en")} accounts, ${events.toLocaleString("en")} events`
  )
  const largest = fillings.reduce(
    (most, { accounts }, index) => accounts > (fillings[most]?.accounts ?? 0) ? index : most,
    0
  )
  const rowsOf = (operations: ReadonlyArray<string>) =>
    measured.flatMap((results, index) => {
      const one = organizations[0]?.cases[index]
      if (one === undefined || !operations.includes(one.operation)) return []
      const medians = results.map(({ times }) => median(times))
      // An organization that cannot fill the page says nothing of what a full one costs.
      const full = results.findIndex(({ rows }, index) => index !== largest && rows >= (results[largest]?.rows ?? 0))
      const ratio = (medians[largest] ?? Number.NaN) / (medians[full] ?? medians[0] ?? Number.NaN)
      return [[
        operations.length > 1 ? `${one.operation}, ${named(one)}` : named(one),
        results.map(({ rows }) => rows).join(" / "),
        ...results.map(({ times }) => `${millis(median(times))} / ${millis(quantile(times, 0.95))}`),
        `${ratio.toFixed(2)}${ratio <= most ? "" : ", not flat"}`
      ]]
    })
  const columns = ["who and what", "rows", ...names, "ratio, largest to smallest"]
  const note =
    `Milliseconds over HTTP, median / p95 of ${rounds} requests. The largest organization is compared with the first that has as many rows for the page. A ratio counts as flat up to ${most}.`
  const tables: ReadonlyArray<Table> = [
    { title: "Single reads", columns, rows: rowsOf(["get_organization", "get_account"]), note },
    { title: "list_protected_accounts, a page of 50", columns, rows: rowsOf(["list_protected_accounts"]), note },
    { title: "find_accounts, a page of 20", columns, rows: rowsOf(["find_accounts"]), note },
    { title: "list_journal_events, a page of 50", columns, rows: rowsOf(["list_journal_events"]), note }
  ]
  const charted = ["start", "middle", "end", "protected", "new_sign_in"]
  const series = measured.flatMap((results, index) => {
    const one = organizations[0]?.cases[index]
    return one?.operation === "list_protected_accounts" && one.asker === "owner" && charted.includes(one.what)
      ? [{ name: one.what, values: results.map(({ times }) => Number(millis(median(times)))) }]
      : []
  })
  return {
    tables,
    charts: [{
      title: "A page of 50 accounts for the owner, median",
      name: "scale-accounts",
      kind: "bar",
      unit: "ms",
      x: fillings.map(({ accounts, id }) => `${id} (${accounts.toLocaleString("en")})`),
      series
    }]
  }
}
