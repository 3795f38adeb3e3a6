/** Archives what is pushed to many accounts and the long history of one, and measures the watch meanwhile. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as path from "node:path"
import { Capture } from "../../src/capture/Capture.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { traces } from "../../test/support/dataCentre/traces.ts"
import { setPassword } from "../archive/sealed.ts"
import { detected, fill, latenesses, organization, setDeadlines, wait } from "../monitor/measure.ts"
import { cpuOfFamily, memoryOf } from "../peers/processes.ts"
import { quantile } from "../support/asking.ts"
import type { Ground } from "../support/ground.ts"
import { startChild, startWorker } from "../support/wireWorker.ts"
import type { Order, Report } from "./centre.ts"
import { grace, kindOf, messagesOfLarge, silent } from "./histories.ts"

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

/** Accounts that somebody signs in to at the same time. */
const strangersPerRound = 50

/** The goal of a backup at one call a second. */
const minutesOfBackup = 22

/** Calls by which history is read; what the session itself asks is left out. */
const reading = /^(messages|channels)\./

const startCentre = () => startChild<Order, Report>(path.join(import.meta.dirname, "centre.ts"))
type Centre = ReturnType<typeof startCentre>

/** Everything is archived, of some accounts with files; none has a run that is due soon. */
const prepare = async ({ superuser }: Ground, withFiles: ReadonlyArray<string>) => {
  await superuser.query(
    `insert into archive_rule (organization_id, rule_id, level, chat_type, effect, media, live, updated_at)
    values ($1, gen_random_uuid(), 'organization', 'any', 'archive', 'none', true, now())`,
    [organization]
  )
  await superuser.query(
    `insert into archive_rule (organization_id, rule_id, level, target, chat_type, effect, media, live, updated_at)
    select $1, gen_random_uuid(), 'account', id, 'any', 'archive', 'all', true, now() from unnest($2::uuid[]) as id`,
    [organization, withFiles]
  )
  await superuser.query(
    `insert into archive_state (organization_id, account_id, position, date, qts, heard_at)
    select organization_id, id, 1, 1, 0, now() from account`
  )
  await superuser.query(
    `insert into archive_run (organization_id, account_id, next_at)
    select organization_id, id, now() + interval '1 day' from account`
  )
}

const askForBackup = ({ superuser }: Ground, refs: ReadonlyArray<string>) =>
  superuser.query("update archive_run set next_at = now(), asked_at = now() where account_id = any($1::uuid[])", [refs])

/** The number of accounts of which no run has read anything. */
const unread = async ({ superuser }: Ground): Promise<number> => {
  const { rows } = await superuser.query<{ unread: number }>(
    "select count(*)::int as unread from account where archive_last_backup_at is null"
  )
  return rows[0]?.unread ?? 0
}

/** The time at which the account's backup ended; undefined before that. */
const backedUp = async ({ superuser }: Ground, ref: string) => {
  const { rows } = await superuser.query<{ at: Date | null; error: string | null }>(
    "select archive_last_backup_at as at, archive_error as error from account where id = $1",
    [ref]
  )
  if (rows[0]?.error !== null) throw new Error(`The backup failed: ${rows[0]?.error}`)
  return rows[0].at ?? undefined
}

const progressOf = async ({ superuser }: Ground, ref: string): Promise<string> => {
  const { rows } = await superuser.query<{ phase: string | null; messages: string }>(
    "select archive_phase as phase, archive_messages::text as messages from account where id = $1",
    [ref]
  )
  return `${rows[0]?.phase ?? "no run"}, ${rows[0]?.messages ?? 0} messages`
}

/** Messages of the long history that are archived more or less often than once. */
const differences = async ({ superuser }: Ground, ref: string): Promise<number> => {
  const { rows } = await superuser.query<{ messages: number; incomplete: number }>(
    `select sum(messages)::int as messages, count(*) filter (where not complete)::int as incomplete
    from archive_chat where account_id = $1 and chat_id <> $2`,
    [ref, grace]
  )
  return Math.abs(messagesOfLarge - (rows[0]?.messages ?? 0)) + (rows[0]?.incomplete ?? 1)
}

/** Milliseconds from when each message was written until the commit that archived it; those without any are missing. */
const delays = async ({ superuser }: Ground, refs: ReadonlyArray<string>, sent: Report["sent"]) => {
  const { rows } = await superuser.query<{ account: string; id: string; at: Date }>(
    `select account_id::text as account, message_id::text as id, pg_xact_commit_timestamp(xmin) as at
    from archive_tail where chat_id = $1 and kind = 'messages'`,
    [grace]
  )
  const archived = new Map(rows.map(({ account, at, id }) => [`${account} ${id}`, at.getTime()]))
  return sent.map(([place, id, at]) => (archived.get(`${refs[place]} ${id}`) ?? Number.NaN) - at)
}

interface Usage {
  readonly at: number
  readonly process: number
  readonly database: number
}

/** Processor time in ms until now. */
const usage = ({ pid }: Ground): Usage => {
  const { system, user } = process.cpuUsage()
  return { at: performance.now(), process: (system + user) / 1000, database: cpuOfFamily(pid) }
}

const since = (before: Usage, after: Usage): Usage => ({
  at: after.at - before.at,
  process: after.process - before.process,
  database: after.database - before.database
})

/** Somebody signs in to some accounts, is found, and is signed out at the deadline; times in ms after each was due. */
const playRound = async (
  ground: Ground,
  centre: Centre,
  refs: ReadonlyArray<string>,
  places: ReadonlyArray<number>
) => {
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

const inSeconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
const missing = (times: ReadonlyArray<number>): string => {
  const lost = times.filter(Number.isNaN).length
  return lost === 0 ? ` of ${times.length}` : ` of ${times.length}, ${lost} missing`
}
const share = (times: ReadonlyArray<number>, part: number) =>
  inSeconds(quantile(times.filter((time) => !Number.isNaN(time)), part))

const callsOf = (counts: Readonly<Record<string, number>> = {}) =>
  Object.entries(counts).reduce((sum, [name, count]) => reading.test(name) ? sum + count : sum, 0)

/** Measures both; a backup without a rate comes last, of another account and alone. */
export const measure = async (
  ground: Ground,
  { accounts, messagesPerSecond, rate, seconds }: Sizes
): Promise<ReadonlyArray<Row>> => {
  await fill(ground, accounts)
  await setPassword(ground, OrganizationId.make(organization))
  const { rows } = await ground.superuser.query<{ id: string }>("select id::text from account order by id")
  const refs = rows.map(({ id }) => id)
  await prepare(ground, refs.filter((_, place) => kindOf(place) === "files"))
  const secrets = new Map(refs.map((ref) => [ref, crypto.randomBytes(256)]))
  const centre = startCentre()
  try {
    const keys = [...secrets.values()].map((secret) => secret.toString("base64"))
    const begun = await centre.send({ _: "keys", keys })
    const [first = "", second = ""] = refs
    const worker = await startWorker(ground, begun, secrets, { archivePace: { rate, burst: 5 } })
    await worker.open(refs)
    await worker.watch()
    await wait(seconds * 1000 + 10_000)
    const before = usage(ground)
    await wait(seconds * 1000)
    const alone = since(before, usage(ground))
    const [, lateAlone = 0] = await worker.run(latenesses)
    console.error("watched alone")

    await worker.capture()
    await wait(20_000)
    const quietly = usage(ground)
    await wait(seconds * 1000)
    const quiet = since(quietly, usage(ground))
    // The first message makes the chat known, and a run reads it.
    await centre.send({ _: "talk", perSecond: messagesPerSecond })
    for (let left = await unread(ground), turn = 0; left > silent; left = await unread(ground), turn++) {
      if (turn % 10 === 0) console.error(`${left} accounts to read`)
      if (turn > 600) throw new Error("Not every account was read within ten minutes")
      await wait(1000)
    }
    await wait(10_000)
    await centre.send({ _: "report" })
    const talking = usage(ground)
    await wait(seconds * 1000)
    const live = since(talking, usage(ground))
    const [, lateBeside = 0] = await worker.run(latenesses)
    const { sent } = await centre.send({ _: "report" })
    await wait(5000)
    const waits = await delays(ground, refs, sent)
    const perMessage = (what: "database" | "process") =>
      (live[what] / live.at - alone[what] / alone.at) * live.at / sent.length
    console.error("captured what was pushed")

    const asked = Date.now()
    await askForBackup(ground, [first])
    const found: Array<number> = []
    const ended: Array<number> = []
    const latest: Array<number> = []
    let backup: Date | undefined
    for (let round = 0; backup === undefined; round++) {
      const places = Array.from(
        { length: strangersPerRound },
        (_, n) => silent + (round * strangersPerRound + n) % (accounts - silent)
      )
      const played = await playRound(ground, centre, refs, places)
      found.push(...played.found)
      ended.push(...played.ended)
      latest.push((await worker.run(latenesses))[1] ?? 0)
      backup = await backedUp(ground, first)
      if (Date.now() - asked > 3_600_000) throw new Error("The backup has not ended within an hour")
      console.error(`${await progressOf(ground, first)}; strangers: ${ended.length}`)
    }
    const memory = memoryOf(process.pid)
    console.error("backed up")

    // The rate of the first backup is the run's own; the limit of the process is that of a default.
    await worker.close()
    const usual = await startWorker(ground, begun, secrets, {})
    await usual.open(refs)
    await usual.watch()
    await usual.capture()
    await wait(seconds * 1000)
    await askForBackup(ground, refs.slice(2, silent))
    await wait(20_000)
    const running = await centre.send({ _: "report" })
    const many = usage(ground)
    await wait(seconds * 1000)
    const ofMany = since(many, usage(ground))
    const [, lateMany = 0] = await usual.run(latenesses)
    const ran = await centre.send({ _: "talk", perSecond: 0 })
    const runs = silent - 2
    const memoryOfMany = memoryOf(process.pid)
    const perSecond = (count: (report: Report) => number) => (count(ran) - count(running)) / ofMany.at * 1000
    const callsOfMany = perSecond(({ ofSilent }) => ofSilent.slice(2).reduce((sum, counts) => sum + callsOf(counts), 0))
    const partsOfMany = perSecond(({ requests }) => requests["upload.getFile"] ?? 0)
    await usual.close()
    console.error(`read ${runs} accounts at the same time`)

    const alonePace = { rate: 1_000_000, burst: 1_000_000 }
    const other = await startWorker(ground, begun, new Map([[second, secrets.get(second) ?? new Uint8Array()]]), {
      archivePace: alonePace
    })
    const unpaced = usage(ground)
    await askForBackup(ground, [second])
    await other.run(Effect.flatMap(Capture, ({ tick }) => tick))
    const whole = since(unpaced, usage(ground))
    const read = await centre.send({ _: "report" })
    await askForBackup(ground, [second])
    const resting = usage(ground)
    await other.run(Effect.flatMap(Capture, ({ tick }) => tick))
    const night = since(resting, usage(ground))
    await other.close()
    const { ofSilent, requests } = await centre.send({ _: "report" })
    const shown = traces.reduce((sum, name) => sum + (requests[name] ?? 0), 0)
    const wrong = await differences(ground, first) + await differences(ground, second)
    const latestOf = Math.max(lateBeside, ...latest)
    return [
      [
        `archiving of ${accounts} accounts that are quiet: CPU of the process`,
        `${((quiet.process / quiet.at - alone.process / alone.at) * 100).toFixed(1)} % of a core`,
        "2 %"
      ],
      ["pushed messages a second", (sent.length / live.at * 1000).toFixed(0), ""],
      ["CPU of the process a pushed message", `${perMessage("process").toFixed(1)} ms`, ""],
      ["CPU of the database a pushed message", `${perMessage("database").toFixed(1)} ms`, ""],
      [`pushed until archived, p50${missing(waits)}`, share(waits, 0.5), "0.4 s"],
      ["pushed until archived, p99", share(waits, 0.99), "2 s"],
      ["lateness of looks, p99, of the watch alone", `${lateAlone.toFixed(2)} s`, ""],
      ["lateness of looks, p99, beside pushed messages", `${lateBeside.toFixed(2)} s`, ""],
      ["lateness of looks, p99, beside these and a first backup", `${Math.max(...latest).toFixed(2)} s`, ""],
      ["the largest of these two, to that of the watch alone", (latestOf / lateAlone).toFixed(2), "1.1"],
      [`first backup of ${messagesOfLarge} messages: calls`, String(callsOf(ran.ofSilent[0])), "1300"],
      [
        `first backup, at ${rate} calls a second`,
        `${((backup.getTime() - asked) / 60_000).toFixed(1)} min`,
        `${minutesOfBackup / rate} min`
      ],
      [`strangers found by push meanwhile, p99${missing(found)}`, share(found, 0.99), "2 s"],
      [`strangers signed out after their deadline, p99${missing(ended)}`, share(ended, 0.99), "2 s"],
      ["strangers signed out after their deadline, the slowest", share(ended, 1), "2 s"],
      ["memory of the process meanwhile", `${memory.toFixed(0)} MiB`, ""],
      [`${runs} runs at the same time, 4 of them with files: calls a second`, callsOfMany.toFixed(0), "20"],
      [`${runs} runs at the same time: MiB of files a second`, partsOfMany.toFixed(0), "20"],
      [
        `${runs} runs at the same time: CPU of the process`,
        `${(ofMany.process / ofMany.at * 100).toFixed(0)} % of a core`,
        ""
      ],
      [
        `${runs} runs at the same time: lateness of looks, to that of the watch alone`,
        (lateMany / lateAlone).toFixed(2),
        "1.1"
      ],
      [`${runs} runs at the same time: memory of the process`, `${memoryOfMany.toFixed(0)} MiB`, ""],
      [
        "first backup without a rate, CPU of the process a message",
        `${(whole.process / messagesOfLarge * 1000).toFixed(0)} µs`,
        "200 µs"
      ],
      [
        "first backup without a rate, CPU of the database a message",
        `${(whole.database / messagesOfLarge * 1000).toFixed(0)} µs`,
        ""
      ],
      ["first backup without a rate", `${Math.round(messagesOfLarge / whole.at * 1000)} messages a second`, ""],
      ["first backup without a rate: calls", String(callsOf(read.ofSilent[1])), "1300"],
      ["the run after it, with nothing new: calls", String(callsOf(ofSilent[1]) - callsOf(read.ofSilent[1])), "8"],
      ["the run after it: CPU of the process", `${night.process.toFixed(0)} ms`, ""],
      ["messages of both backups that are missing or doubled", String(wrong), "0"],
      ["requests that mark something as read or show a presence", String(shown), "0"]
    ]
  } finally {
    centre.stop()
  }
}
