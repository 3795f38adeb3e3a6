/** Archives what is pushed to many accounts and the long history of one, and measures the watch meanwhile. */
import { traces } from "../../test/support/dataCentre/traces.ts"
import { detected, latenesses, setDeadlines, wait } from "../monitor/measure.ts"
import { memoryOf } from "../peers/processes.ts"
import type { Ground } from "../support/ground.ts"
import { held } from "../support/heap.ts"
import type { startWorker } from "../support/wireWorker.ts"
import { files, night, sealing } from "./alone.ts"
import type { Report } from "./centre.ts"
import { messagesOfLarge, silent } from "./histories.ts"
import {
  askForRuns,
  backedUp,
  callsOf,
  delays,
  differences,
  feedsBegun,
  inSeconds,
  missing,
  progressOf,
  readOthers,
  set,
  type Setting,
  share,
  type Usage,
  usedBy,
  usedIn
} from "./setting.ts"

export interface Sizes {
  readonly accounts: number
  /** The time for which each state is measured. */
  readonly seconds: number
  readonly messagesPerSecond: number
  /** Calls a second of a backup, in the long run. */
  readonly rate: number
}

export const columns = ["measured", "value", "goal"]
export type Row = readonly [string, string, string]

export type Measuring = (setting: Setting, sizes: Sizes) => Promise<ReadonlyArray<Row>>
type Worker = Awaited<ReturnType<typeof startWorker>>

/** Accounts that somebody signs in to at the same time. */
const strangersPerRound = 50

/** The goal of a backup at one call a second. */
const minutesOfBackup = 22

/** Somebody signs in to some accounts, is found, and is signed out at the deadline; times in ms after each was due. */
const playRound = async ({ centre, ground, refs }: Setting, places: ReadonlyArray<number>) => {
  const signedIn = Date.now()
  await centre.send({ _: "signIn", places })
  let found = new Map<string, number>()
  const isFound = (place: number) => found.has(refs[place] ?? "")
  for (const end = signedIn + 80_000; !places.every(isFound) && Date.now() < end; await wait(250)) {
    found = await detected(ground)
  }
  const deadline = await setDeadlines(ground, places.flatMap((place) => refs[place] ?? []))
  await wait(deadline + 15_000 - Date.now())
  const signedOut = new Map((await centre.send({ _: "report" })).signedOut)
  await ground.superuser.query("delete from session where not current")
  return {
    found: places.map((place) => (found.get(refs[place] ?? "") ?? Number.NaN) - signedIn),
    ended: places.map((place) => (signedOut.get(place) ?? Number.NaN) - deadline)
  }
}

const lateness = async (worker: Worker): Promise<number> => (await worker.run(latenesses))[1] ?? Number.NaN

/** Milliseconds after which a pushed message that is not archived counts as missing. */
const longestDelay = 120_000

/** By then its code is compiled. */
const resting = { usual: 15_000, quiet: 60_000 }

/** A worker that watches alone, once it has come to rest. */
const watchAlone = async (
  { ground, refs, work }: Setting,
  seconds: number,
  options: Parameters<Setting["work"]>[0],
  rest = resting.usual
) => {
  const worker = await work(options)
  await worker.open(refs)
  // What came before has left every look late.
  await ground.superuser.query("update monitor set next_at = clock_timestamp() + random() * interval '60 s'")
  await worker.watch()
  await wait(rest)
  const before = held()
  const used = await usedIn(ground, seconds)
  const after = held()
  console.error("watched alone")
  /** KiB that the watch alone would hold, so many ms after this window. */
  const heldAfter = (millis: number) => after + (after - before) * millis / used.at
  return { worker, used, late: await lateness(worker), heldAfter }
}

/** The part of a core that is used for more than the watch, in percent. */
const besideWatch = (used: Usage, alone: Usage): string =>
  `${((used.process / used.at - alone.process / alone.at) * 100).toFixed(1)} % of a core`

/** Archiving of what is pushed: of nothing first, and then of messages. */
const live: Measuring = async (setting, sizes) => {
  const { accounts, messagesPerSecond, seconds } = sizes
  const { centre, ground } = setting
  // A collection of everything takes a second, and is in one window or another.
  const quietSeconds = 4 * seconds
  const { heldAfter, late: lateAlone, used: alone, worker } = await watchAlone(
    setting,
    quietSeconds,
    {},
    resting.quiet
  )
  const watched = performance.now()
  /** KiB that each account needs for more than the watch, which itself needs more from minute to minute. */
  const heldByEach = () => `${((held() - heldAfter(performance.now() - watched)) / accounts).toFixed(1)} KiB`
  const before = await centre.send({ _: "report" })
  const begun = await usedBy(ground, async () => {
    await worker.capture()
    await feedsBegun(setting, before)
  })
  await wait(resting.quiet)
  console.error("everything that was missed is archived")
  const quiet = await usedIn(ground, quietSeconds)
  const heldQuiet = heldByEach()
  console.error("archived quiet accounts")
  await centre.send({ _: "talk", perSecond: messagesPerSecond })
  await wait(10_000)
  await centre.send({ _: "report" })
  const pushed = await usedIn(ground, seconds)
  const late = await lateness(worker)
  const { sent } = await centre.send({ _: "report" })
  await wait(5000)
  await centre.send({ _: "talk", perSecond: 0 })
  let waits = await delays(setting, sent)
  for (const end = Date.now() + longestDelay; waits.some(Number.isNaN) && Date.now() < end; await wait(1000)) {
    waits = await delays(setting, sent)
  }
  const heldPushed = heldByEach()
  await worker.close()
  console.error("archived what was pushed")
  const perMessage = (what: "database" | "process") =>
    `${((pushed[what] / pushed.at - alone[what] / alone.at) * pushed.at / sent.length).toFixed(1)} ms`
  return [
    [
      `archiving of ${accounts} accounts begins: CPU of the process`,
      `${((begun.process - alone.process / alone.at * begun.at) / 1000).toFixed(1)} s`,
      ""
    ],
    ["archiving of them begins: until all have asked for what they missed", inSeconds(begun.at), ""],
    ["archiving of them while they are quiet: CPU of the process", besideWatch(quiet, alone), "2 %"],
    ["memory of each of them", heldQuiet, "2 KiB"],
    ["pushed messages a second", (sent.length / pushed.at * 1000).toFixed(0), ""],
    ["CPU of the process a pushed message", perMessage("process"), ""],
    ["CPU of the database a pushed message", perMessage("database"), ""],
    [`pushed until archived, p50${missing(waits)}`, share(waits, 0.5), "0.4 s"],
    ["pushed until archived, p99", share(waits, 0.99), "2 s"],
    ["pushed until archived, the slowest", share(waits, 1), ""],
    ["memory of each account meanwhile", heldPushed, "100 KiB"],
    ["lateness of looks, p99, of the watch alone", `${lateAlone.toFixed(2)} s`, ""],
    ["lateness of looks, p99, beside pushed messages", `${late.toFixed(2)} s`, ""],
    ["the same, to that of the watch alone", (late / lateAlone).toFixed(2), "1.1"]
  ]
}

/** A first backup while messages are pushed and strangers sign in. */
const backup: Measuring = async (setting, sizes) => {
  const { accounts, messagesPerSecond, rate } = sizes
  const { centre, ground, refs } = setting
  const [first = ""] = refs
  const { late: lateAlone, worker } = await watchAlone(setting, sizes.seconds, { archivePace: { rate, burst: 5 } })
  const before = await centre.send({ _: "report" })
  await worker.capture()
  await feedsBegun(setting, before)
  await centre.send({ _: "talk", perSecond: messagesPerSecond })
  const asked = Date.now()
  await askForRuns(ground, [first])
  const found: Array<number> = []
  const ended: Array<number> = []
  const latest: Array<number> = []
  let done: Date | undefined
  for (let round = 0; done === undefined; round++) {
    const places = Array.from(
      { length: strangersPerRound },
      (_, n) => silent + (round * strangersPerRound + n) % (accounts - silent)
    )
    const played = await playRound(setting, places)
    found.push(...played.found)
    ended.push(...played.ended)
    latest.push(await lateness(worker))
    done = await backedUp(ground, first)
    if (Date.now() - asked > 3_600_000) throw new Error("The backup has not ended within an hour")
    console.error(`${await progressOf(ground, first)}; strangers: ${ended.length}`)
  }
  const memory = memoryOf(process.pid)
  await worker.close()
  const { ofSilent } = await centre.send({ _: "talk", perSecond: 0 })
  const late = Math.max(...latest)
  return [
    [`first backup of ${messagesOfLarge} messages: calls`, String(callsOf(ofSilent[0])), "1300"],
    [
      `first backup, at ${rate} calls a second`,
      `${((done.getTime() - asked) / 60_000).toFixed(1)} min`,
      `${minutesOfBackup / rate} min`
    ],
    ["lateness of looks, p99, beside it and pushed messages", `${late.toFixed(2)} s`, ""],
    ["the same, to that of the watch alone", (late / lateAlone).toFixed(2), "1.1"],
    [`strangers found by push meanwhile, p99${missing(found)}`, share(found, 0.99), "2 s"],
    [`strangers signed out after their deadline, p99${missing(ended)}`, share(ended, 0.99), "2 s"],
    ["strangers signed out after their deadline, the slowest", share(ended, 1), "2 s"],
    ["memory of the process meanwhile", `${memory.toFixed(0)} MiB`, ""],
    ["messages of it that are missing or doubled", String(await differences(ground, first)), "0"]
  ]
}

/** Many runs at the same time, at the default rate, some of them with files. */
const runs: Measuring = async (setting, sizes) => {
  const { messagesPerSecond, seconds } = sizes
  const { centre, ground, refs } = setting
  const { late: lateAlone, used: alone, worker } = await watchAlone(setting, sizes.seconds, {})
  const before = await centre.send({ _: "report" })
  await worker.capture()
  await feedsBegun(setting, before)
  await centre.send({ _: "talk", perSecond: messagesPerSecond })
  await wait(10_000)
  const heldPushed = held()
  const read = refs.slice(2, silent)
  await askForRuns(ground, read)
  await wait(20_000)
  const from = await centre.send({ _: "report" })
  const used = await usedIn(ground, seconds)
  const late = await lateness(worker)
  const to = await centre.send({ _: "report" })
  const heldRunning = held()
  await centre.send({ _: "talk", perSecond: 0 })
  await worker.close()
  console.error(`read ${read.length} accounts at the same time`)
  const perSecond = (count: (report: Report) => number) => ((count(to) - count(from)) / used.at * 1000).toFixed(0)
  const callsOfRuns = ({ ofSilent }: Report) => ofSilent.slice(2).reduce((sum, counts) => sum + callsOf(counts), 0)
  return [
    [
      `${read.length} runs at the same time, 4 of them with files: calls a second, of 20 that a process makes`,
      perSecond(callsOfRuns),
      ""
    ],
    [
      "MiB of files a second meanwhile, of 20 that a process reads",
      perSecond(({ requests }) => requests["upload.getFile"] ?? 0),
      ""
    ],
    ["CPU of the process meanwhile", `${(used.process / used.at * 100).toFixed(0)} % of a core`, ""],
    ["the process is busy with one thing, p99 and longest, of the watch alone", alone.busy, ""],
    ["the process is busy with one thing, p99 and longest, meanwhile", used.busy, ""],
    ["lateness of looks, p99, meanwhile", `${late.toFixed(2)} s`, ""],
    ["the same, to that of the watch alone", (late / lateAlone).toFixed(2), "1.1"],
    ["memory of the runs", `${((heldRunning - heldPushed) / 1024).toFixed(1)} MiB`, "24 MiB"]
  ]
}

/** What is measured, by itself or after the others; each begins a worker of its own. */
export const parts = { live, backup, runs, night, files, sealing }
export type Part = keyof typeof parts

export const isPart = (name: string): name is Part => name in parts

/** Measures the parts one after the other. */
export const measure = async (
  ground: Ground,
  sizes: Sizes,
  chosen: ReadonlyArray<Part>
): Promise<ReadonlyArray<Row>> => {
  const setting = await set(ground, sizes.accounts)
  try {
    await readOthers(setting)
    console.error("the archives of quiet accounts are there")
    const rows: Array<Row> = []
    for (const part of chosen) rows.push(...await parts[part](setting, sizes))
    const { requests } = await setting.centre.send({ _: "report" })
    const shown = traces.reduce((sum, name) => sum + (requests[name] ?? 0), 0)
    return [...rows, ["requests that mark something as read or show a presence", String(shown), "0"]]
  } finally {
    setting.centre.stop()
  }
}
