/** The wall clock of one replica of two steps by an hour, forth and back, under load. */
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { script } from "./scripts.ts"
import { onPostgres, pause } from "./stage.ts"

const writers = 4
const limit = 120
const window = 60_000

interface Asked {
  readonly status: number
  readonly sent: number
  readonly answered: number
}

/** Asks with one key until told, at these addresses in turn. */
const asking = (addresses: ReadonlyArray<string>, key: string, every: number) => {
  const asked: Array<Asked> = []
  const state = { running: true }
  const ask = async (turn: number) => {
    const sent = performance.now()
    const { status } = await Clients.send(addresses[turn % addresses.length] ?? "", key, "GET", "/v1/organization")
    asked.push({ status, sent, answered: performance.now() })
  }
  const all = (async () => {
    for (let turn = 0; state.running; turn++) await Promise.all([ask(turn), pause(every)])
  })()
  return {
    asked,
    stop: async () => {
      state.running = false
      await all
    }
  }
}

/** The most requests that were admitted wholly within one window. */
const mostWithin = (asked: ReadonlyArray<Asked>): number => {
  const admitted = asked.filter(({ status }) => status === 200)
  return Math.max(
    0,
    ...admitted.map(({ sent }) =>
      admitted.filter((other) => other.sent >= sent && other.answered < sent + window).length
    )
  )
}

const timesOf = `select
  count(*) filter (where at < previous)::int as back,
  count(*) filter (where at > clock_timestamp() + interval '5 seconds' or at < clock_timestamp() - interval '30 minutes')::int as off
from (select at, lag(at) over (order by sequence) as previous from journal_event) events`

export const clock: Fault = async ({ seconds = 35 }) => {
  const stage = await onPostgres(writers)
  try {
    const steady = await stage.serve()
    const stepped = await stage.serve([], ["--import", new URL("steppedClock.ts", import.meta.url).href])
    const both = [steady.address, stepped.address]
    const [expired = "", living = "", busy = "", patient = ""] = stage.keys
    const slow = stage.live.at(-1) ?? ""
    await stage.within(async (query) => {
      for (const [label, interval] of [["Client 0", "-30 minutes"], ["Client 1", "30 minutes"]]) {
        await query(
          `update api_key set created_at = clock_timestamp() - interval '1 day',
            expires_at = clock_timestamp() + $1::interval where label = $2`,
          [interval, label]
        )
      }
    })
    await script(stage, slow, { _tag: "Slow", milliseconds: 6000 }, 1_000_000)
    const attempts: Array<Attempt> = []
    const clients = Clients.start({ ...stage, keys: stage.keys.slice(4) }, {
      name: "c",
      accounts: stage.plain,
      address: (place) => both[place % 2] ?? "",
      attempts
    })
    const dead = asking([stepped.address], expired, 1000)
    const alive = asking([stepped.address], living, 700)
    const limited = asking(both, busy, 50)
    const changes: Array<Clients.Answer> = []
    const changing = { running: true }
    const changed = (async () => {
      for (let number = 0; changing.running; number++) {
        changes.push(
          await Clients.send(steady.address, patient, "PATCH", Clients.profileOf(slow), { about: `slow ${number}` })
        )
      }
    })()
    await pause(2000)
    for (let step = 0; step < 3; step++) {
      stepped.signal("SIGUSR2")
      await pause(seconds * 1000)
    }
    const steps = [...stepped.stderr().matchAll(/The wall clock says (\S+)/g)].map(([, at = ""]) =>
      Math.round((Date.parse(at) - Date.now()) / 3_600_000)
    )
    changing.running = false
    await Promise.all([changed, dead.stop(), alive.stop(), limited.stop(), clients.stop()])
    const [times] = await stage.within((query) => query<{ back: number; off: number }>(timesOf))
    await Promise.all([steady.stop(), stepped.stop()])
    const kept = await stage.settle()
    const most = mostWithin(limited.asked)
    return {
      done: `The wall clock of one replica of two an hour ahead, an hour behind, and right again, ${seconds} s each`,
      verdict: judge(attempts, { ...kept, abouts: new Map([...kept.abouts].filter(([account]) => account !== slow)) }),
      seen: `${answers(attempts)}; the key expired for 30 minutes: ${
        answers(dead.asked)
      }; the key with 30 minutes left: ${answers(alive.asked)}; one key at both replicas: ${
        answers(limited.asked)
      }, at most ${most} admitted within a minute; changes of 6 s on the messenger beside sweeps: ${answers(changes)}`,
      failed: unmet({
        ...onlyTold(attempts),
        [`the wall clock was stepped: ${steps.join()}`]: steps.join() === "1,-1,0",
        "the expired key stays refused": dead.asked.length > 0 && dead.asked.every(({ status }) => status === 401),
        "the living key stays admitted": alive.asked.length > 0 && alive.asked.every(({ status }) => status === 200),
        [`${limit} requests a minute and no more: ${most}`]: most === limit,
        "no sweep closes a change that is under way": changes.every(({ status }) => status === 200),
        [`the journal's times are right and never go back: ${JSON.stringify(times)}`]: times?.back === 0 &&
          times.off === 0
      })
    }
  } finally {
    await stage.remove()
  }
}
