/** Opens sessions over the adapter, and measures what they cost and how they come back. */
import * as crypto from "node:crypto"
import * as path from "node:path"
import { detected, fill, wait } from "../monitor/measure.ts"
import { memoryOf } from "../peers/processes.ts"
import { quantile } from "../support/asking.ts"
import type { Ground } from "../support/ground.ts"
import { collect, held } from "../support/heap.ts"
import { startChild, startWorker } from "../support/wireWorker.ts"
import type { Command, State } from "./centre.ts"

export const columns = ["measured", "value", "goal"]

type Row = readonly [string, string, string]
type Worker = Awaited<ReturnType<typeof startWorker>>

/** The data centre's process, and how it is told. */
export const startCentre = () => startChild<Command, State>(path.join(import.meta.dirname, "centre.ts"))

/** Requests of one session, as many as it makes within a day, and sessions that make them. */
const requestsOfDay = 1000
const sessionsOfDay = 250

/** KiB that each of the sessions needs more after the requests. */
const growth = async (worker: Worker, refs: ReadonlyArray<string>): Promise<string> => {
  const before = held()
  await worker.ask(refs.slice(0, sessionsOfDay), requestsOfDay)
  return `${((held() - before) / sessionsOfDay).toFixed(0)} KiB`
}

/** Part of a core that this process takes meanwhile. */
const cpuOver = async (seconds: number): Promise<string> => {
  const before = process.cpuUsage()
  const at = performance.now()
  await wait(seconds * 1000)
  const { system, user } = process.cpuUsage(before)
  return `${((system + user) / 10 / (performance.now() - at)).toFixed(1)} % of a core`
}

const inSeconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`

export const measure = async (ground: Ground, count: number, seconds: number): Promise<ReadonlyArray<Row>> => {
  await fill(ground, count)
  const { rows } = await ground.superuser.query<{ id: string }>("select id::text from account order by id")
  const refs = rows.map(({ id }) => id)
  const secrets = refs.map(() => crypto.randomBytes(256))
  const { stop, send } = startCentre()
  try {
    const { port, publicKey } = await send({ _: "keys", keys: secrets.map((secret) => secret.toString("base64")) })
    const worker = await startWorker(
      ground,
      { port, publicKey },
      new Map(refs.map((ref, place) => [ref, secrets[place]!]))
    )

    collect()
    const empty = memoryOf(process.pid)
    const from = performance.now()
    await worker.open(refs)
    const opened = performance.now() - from
    await wait(5000)
    collect()
    const each = (memoryOf(process.pid) - empty) * 1024 / count
    const idle = await cpuOver(seconds)

    const grown = await growth(worker, refs)

    await worker.watch()
    await wait(65_000)
    const polling = await cpuOver(seconds)

    const chosen = refs.map((_, place) => place).filter((place) => place % 10 === 0)
    const at = Date.now()
    await send({ _: "signIn", places: chosen })
    let found = new Map<string, number>()
    for (const end = at + 80_000; found.size < chosen.length && Date.now() < end; await wait(500)) {
      found = await detected(ground)
    }
    const times = chosen.map((place) => (found.get(refs[place]!) ?? Number.NaN) - at)
    const late = times.filter((time) => !(time >= 0)).length

    /** How long until all sessions have asked again, and what that came to. */
    const untilBack = async (): Promise<readonly [number, State]> => {
      const start = performance.now()
      let state = await send({ _: "state" })
      for (; state.back < count && performance.now() - start < 180_000; await wait(100)) {
        state = await send({ _: "state" })
      }
      return [state.back < count ? Number.NaN : performance.now() - start, state]
    }
    await send({ _: "cut" })
    const [dropped, afterDrop] = await untilBack()
    await wait(10_000)
    const beforeAway = await send({ _: "down" })
    await wait(30_000)
    await send({ _: "up" })
    const [away, afterAway] = await untilBack()
    await worker.close()
    return [
      ["memory of a session", `${each.toFixed(0)} KiB`, "430 KiB"],
      [`memory of it more after ${requestsOfDay} requests, as after a day`, grown, ""],
      ["opening all, 32 at a time", inSeconds(opened), ""],
      ["CPU at rest", idle, ""],
      ["CPU while every account is looked at once a minute", polling, ""],
      [
        `a stranger found by push, p50 of ${times.length}${late === 0 ? "" : `, ${late} missing`}`,
        inSeconds(quantile(times, 0.5)),
        "2 s"
      ],
      ["a stranger found by push, p99", inSeconds(quantile(times, 0.99)), "2 s"],
      ["all live again after every connection was cut", inSeconds(dropped), ""],
      ["most connections in a second meanwhile", String(afterDrop.busiest), "200"],
      ["all live again after 30 s without the data centre", inSeconds(away), ""],
      ["most connections in a second meanwhile, once it is back", String(afterAway.busiest), "200"],
      ["connections of each session for it", ((afterAway.accepted - beforeAway.accepted) / count).toFixed(1), ""]
    ]
  } finally {
    stop()
  }
}
