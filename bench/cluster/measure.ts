/** Three processes that share the accounts: what it costs, and how soon others have what one loses. */
import * as crypto from "node:crypto"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotCount, slotOf } from "../../src/domain/accounts/Slot.ts"
import { SessionRef } from "../../src/domain/messenger/Messenger.ts"
import type { Service } from "../../test/support/cli/commandProcess.ts"
import { freePorts } from "../../test/support/cli/freePorts.ts"
import { slotsOf } from "../../test/support/postgres/slotsOf.ts"
import { fill, organization, wait } from "../monitor/measure.ts"
import { cpuOf, cpuOfFamily, memoryOf } from "../peers/processes.ts"
import { quantile, startAsking, taking } from "../support/asking.ts"
import { type Ground, makeKeys, walPosition } from "../support/ground.ts"
import { storeKeys } from "../support/heldSessions.ts"
import { startCentre } from "../wire/measure.ts"
import { leaseStatements, starting } from "./processes.ts"

/** What a run has found; times in ms. */
export interface Measured {
  readonly accounts: number
  readonly processes: number
  readonly started: number
  /** Of a process that never had more than its share of the sessions. */
  readonly memory: number
  readonly processCpu: number
  readonly databaseCpu: number
  readonly looks: number
  readonly wal: number
  readonly leases: number
  readonly late: ReadonlyArray<number>
  readonly here: ReadonlyArray<number>
  readonly elsewhere: ReadonlyArray<number>
  /** Of each kill. */
  readonly failover: ReadonlyArray<number>
  readonly refused: ReadonlyArray<number>
  readonly joined: ReadonlyArray<number>
  readonly handover: number
  /** The time that PostgreSQL was away. */
  readonly away: number
  readonly closedWhileAway: number
  readonly duplicated: number
}

const processes = 3
const calls = 200
/** The times that a process is killed and started again. */
const kills = 5

/** Answers each call's time; one that is refused ends the run. */
const ask = async (
  address: string,
  key: () => string,
  paths: ReadonlyArray<string>
): Promise<ReadonlyArray<number>> => {
  const asking = startAsking(address)
  const times: Array<number> = []
  for (let call = 0; call < calls; call++) {
    const { millis, status } = await asking.ask(key(), paths[call % paths.length] ?? "")
    if (status !== 200) throw new Error(`A call was answered ${status}`)
    times.push(millis)
  }
  asking.stop()
  return times
}

/** Calls about these accounts until it is stopped; answers the time from the first refusal to the last, in ms. */
const startProbe = (address: string, key: () => string, paths: ReadonlyArray<string>) => {
  const asking = startAsking(address, 8)
  const refusals: Array<number> = []
  const state = { running: true }
  const probe = async (place: number) => {
    for (let call = place; state.running; call++) {
      const { status } = await asking.ask(key(), paths[call % paths.length] ?? "")
      if (status !== 200) refusals.push(performance.now())
      await wait(100)
    }
  }
  const all = Promise.all([0, 1, 2, 3].map(probe))
  return async () => {
    state.running = false
    await all
    asking.stop()
    return refusals.length === 0 ? 0 : refusals.at(-1)! - refusals[0]!
  }
}

export const measure = async (ground: Ground, accounts: number, seconds: number): Promise<Measured> => {
  const { superuser } = ground
  await superuser.query("create extension pg_stat_statements")
  await fill(ground, accounts)
  const { rows } = await superuser.query<{ id: string }>("select id::text from account order by id")
  const sessions = rows.map(({ id }) => ({ ref: SessionRef.make(id), secret: crypto.randomBytes(256) }))
  await storeKeys(ground.url, ground.pepper, sessions)
  const key = taking(await makeKeys(ground, organization, "owner", 40))
  const { send, stop } = startCentre()
  const centre = await send({ _: "keys", keys: sessions.map(({ secret }) => secret.toString("base64")) })
  const { remove, start } = starting(ground, centre)
  const ports = await freePorts(processes)
  const services: Array<Service> = []
  try {
    await superuser.query(
      "update monitor set next_at = clock_timestamp() + interval '10 s' + random() * interval '60 s'"
    )
    /** The time until every session has a connection, from the moment that one had none. */
    const untilOpen = async (from: number): Promise<number> => {
      let open = accounts
      for (; open === accounts && performance.now() - from < 5000; await wait(20)) {
        open = (await send({ _: "state" })).open
      }
      for (; open < accounts && performance.now() - from < 300_000; await wait(50)) {
        open = (await send({ _: "state" })).open
      }
      return open < accounts ? Number.NaN : performance.now() - from
    }

    const begun = performance.now()
    for (const port of ports) services.push(await start(port))
    const started = await untilOpen(begun)
    await wait(75_000)

    const before = {
      at: performance.now(),
      cpu: services.map(({ pid }) => cpuOf(pid)),
      database: cpuOfFamily(ground.pid),
      leases: await leaseStatements(superuser),
      wal: await walPosition(ground),
      state: await send({ _: "state" })
    }
    await wait(seconds * 1000)
    const elapsed = (performance.now() - before.at) / 1000
    const state = await send({ _: "state" })
    const looks = state.looks - before.state.looks
    const databaseCpu = cpuOfFamily(ground.pid) - before.database
    const leases = (await leaseStatements(superuser)) - before.leases
    const wal = (await walPosition(ground)) - before.wal
    const processCpu = services.map(({ pid }, place) => cpuOf(pid) - (before.cpu[place] ?? 0))
    const { rows: [lateness] } = await superuser.query<{ late: ReadonlyArray<number> }>(
      `select percentile_disc(array[0.5, 0.99, 1]) within group
        (order by greatest(0, extract(epoch from clock_timestamp() - next_at))::float8) as late
      from monitor where busy_until is null or busy_until < clock_timestamp()`
    )
    const shareOf = (port: number) =>
      slotsOf(async (statement, values) => (await superuser.query(statement, values)).rows, port)
    const pathsOf = async (port: number) => {
      const slots = await shareOf(port)
      return rows.map(({ id }) => id).filter((id) => slots.has(slotOf(AccountId.make(id))))
        .map((id) => `/v1/accounts/${id}/messenger-profile`)
    }
    const [first = 0, second = 0, third = 0] = ports
    const own = (await pathsOf(first)).slice(0, calls)
    const here = await ask(services[0]!.address, key, own)
    const elsewhere = await ask(services[1]!.address, key, own)

    const failover: Array<number> = []
    const refused: Array<number> = []
    const joined: Array<number> = []
    for (let kill = 0; kill < kills; kill++) {
      const probe = startProbe(services[0]!.address, key, await pathsOf(third))
      const killed = performance.now()
      await services[2]!.stop("SIGKILL")
      failover.push(await untilOpen(killed))
      refused.push(await probe())

      const joining = performance.now()
      services[2] = await start(third)
      for (let share = 0; share < slotCount / processes / 2; await wait(200)) share = (await shareOf(third)).size
      joined.push(await untilOpen(joining))
      await wait(8000 + Math.random() * 4000)
    }

    const memory = memoryOf(services[2]!.pid)

    const stopping = performance.now()
    const stopped = services[1]!.stop("SIGTERM")
    const handover = await untilOpen(stopping)
    await stopped
    services[1] = await start(second)
    await untilOpen(performance.now())
    await wait(20_000)

    const accepted = (await send({ _: "state" })).accepted
    superuser.on("error", () => {})
    const leaving = performance.now()
    await ground.server.stop()
    await wait(4500)
    await ground.server.start()
    const away = performance.now() - leaving
    await wait(20_000)
    const last = await send({ _: "state" })
    return {
      accounts,
      processes,
      started,
      memory,
      processCpu: processCpu.reduce((sum, cpu) => sum + cpu, 0) / elapsed / 10,
      databaseCpu: databaseCpu / looks,
      looks: looks / elapsed,
      wal: wal / looks,
      leases: leases / elapsed / processes,
      late: lateness?.late ?? [],
      here,
      elsewhere,
      failover,
      refused,
      joined,
      handover,
      away,
      closedWhileAway: last.accepted - accepted,
      duplicated: last.duplicated
    }
  } finally {
    await Promise.all(services.map((service) => service.stop("SIGKILL")))
    remove()
    stop()
  }
}

export const middle = (times: ReadonlyArray<number>): number => quantile(times, 0.5)
