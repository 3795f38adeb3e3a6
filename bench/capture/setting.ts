/** Accounts whose chats are archived, and what a measurement reads of them and of its own process. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as path from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Capture } from "../../src/capture/Capture.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import type * as Worker from "../../src/layers/Worker.ts"
import { setPassword } from "../archive/sealed.ts"
import { fill, organization, wait } from "../monitor/measure.ts"
import { cpuOfFamily } from "../peers/processes.ts"
import { quantile } from "../support/asking.ts"
import type { Ground } from "../support/ground.ts"
import { startChild, startWorker } from "../support/wireWorker.ts"
import type { Order, Report } from "./centre.ts"
import { grace, kindOf, messagesOfLarge, silent } from "./histories.ts"

/** Milliseconds between two questions if the process is free. */
const busyResolution = 5

/** Calls by which history is read; what the session itself asks is left out. */
const reading = /^(messages|channels)\./

const startCentre = () => startChild<Order, Report>(path.join(import.meta.dirname, "centre.ts"))

export interface Setting {
  readonly ground: Ground
  readonly centre: ReturnType<typeof startCentre>
  /** The accounts' ids, which are those of their sessions too; the silent ones first. */
  readonly refs: ReadonlyArray<string>
  /** A worker with the sessions of the accounts, of all by default. */
  readonly work: (options: Worker.Options, refs?: ReadonlyArray<string>) => ReturnType<typeof startWorker>
}

/** The worker makes as many calls as it can. */
export const unpaced = { rate: 1_000_000, burst: 1_000_000 }

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
    "update archive_state set position = 1, date = 1, qts = 0, heard_at = now()"
  )
  await superuser.query(
    `insert into archive_run (organization_id, account_id, next_at)
    select organization_id, id, now() + interval '1 day' from account`
  )
}

/** The accounts with their data centre: each has a history there, and none is archived. */
export const set = async (ground: Ground, accounts: number): Promise<Setting> => {
  await fill(ground, accounts)
  await setPassword(ground, OrganizationId.make(organization))
  const { rows } = await ground.superuser.query<{ id: string }>("select id::text from account order by id")
  const refs = rows.map(({ id }) => id)
  await prepare(ground, refs.filter((_, place) => kindOf(place) === "files"))
  const secrets = new Map(refs.map((ref) => [ref, crypto.randomBytes(256)]))
  const centre = startCentre()
  const begun = await centre.send({
    _: "keys",
    keys: [...secrets.values()].map((secret) => secret.toString("base64"))
  })
  return {
    ground,
    centre,
    refs,
    work: (options, some = refs) =>
      startWorker(ground, begun, new Map(some.map((ref) => [ref, secrets.get(ref) ?? new Uint8Array()])), options)
  }
}

/** Runs of the accounts are due now; one that is asked for goes before the others. */
export const askForRuns = ({ superuser }: Ground, refs: ReadonlyArray<string>) =>
  superuser.query("update archive_run set next_at = now(), asked_at = now() where account_id = any($1::uuid[])", [refs])

/** The worker runs what is due, and waits for it. */
export const runAll = (worker: Awaited<ReturnType<typeof startWorker>>) =>
  worker.run(Effect.flatMap(Capture, ({ tick }) => tick))

/** The first runs of all accounts but the silent ones: what they archive by then is what a quiet account has. */
export const readOthers = async ({ ground, refs, work }: Setting) => {
  const worker = await work({ archivePace: unpaced })
  await askForRuns(ground, refs.slice(silent))
  await runAll(worker)
  await worker.close()
}

/** Waits until the feed of each account has asked for what it missed. */
export const feedsBegun = async ({ centre, refs }: Setting, before: Report) => {
  const asked = async () => (await centre.send({ _: "report" })).requests["updates.getDifference"] ?? 0
  const all = (before.requests["updates.getDifference"] ?? 0) + refs.length
  for (const end = Date.now() + 600_000; await asked() < all; await wait(500)) {
    if (Date.now() > end) throw new Error("Not every feed has begun within ten minutes")
  }
}

/** The time at which the account's backup ended; undefined before that. */
export const backedUp = async ({ superuser }: Ground, ref: string) => {
  const { rows } = await superuser.query<{ at: Date | null; error: string | null }>(
    "select archive_last_backup_at as at, archive_error as error from archive_state where account_id = $1",
    [ref]
  )
  if (rows[0]?.error !== null) throw new Error(`The backup failed: ${rows[0]?.error}`)
  return rows[0].at ?? undefined
}

export const progressOf = async ({ superuser }: Ground, ref: string): Promise<string> => {
  const { rows } = await superuser.query<{ phase: string | null; messages: string }>(
    "select archive_phase as phase, archive_messages::text as messages from archive_state where account_id = $1",
    [ref]
  )
  return `${rows[0]?.phase ?? "no run"}, ${rows[0]?.messages ?? 0} messages`
}

/** Messages of the long history that are archived more or less often than once. */
export const differences = async ({ superuser }: Ground, ref: string): Promise<number> => {
  const { rows } = await superuser.query<{ messages: number; incomplete: number }>(
    `select sum(messages)::int as messages, count(*) filter (where not complete)::int as incomplete
    from archive_chat where account_id = $1 and chat_id <> $2`,
    [ref, grace]
  )
  return Math.abs(messagesOfLarge - (rows[0]?.messages ?? 0)) + (rows[0]?.incomplete ?? 1)
}

/** Milliseconds from when each message was written until the commit that archived it; those without any are missing. */
export const delays = async ({ ground: { superuser }, refs }: Setting, sent: Report["sent"]) => {
  const { rows } = await superuser.query<{ account: string; id: string; at: Date }>(
    `select account_id::text as account, message_id::text as id, pg_xact_commit_timestamp(xmin) as at
    from archive_tail where chat_id = $1 and kind = 'messages'`,
    [grace]
  )
  const archived = new Map(rows.map(({ account, at, id }) => [`${account} ${id}`, at.getTime()]))
  return sent.map(([place, id, at]) => (archived.get(`${refs[place]} ${id}`) ?? Number.NaN) - at)
}

export interface Usage {
  /** How long it took, in ms. */
  readonly at: number
  /** Processor time in ms. */
  readonly process: number
  readonly database: number
}

/** What the work uses; reading the database's processor time takes some itself, and is left out. */
export const usedBy = async ({ pid }: Ground, work: () => Promise<unknown>): Promise<Usage> => {
  const database = cpuOfFamily(pid)
  const before = process.cpuUsage()
  const began = performance.now()
  await work()
  const at = performance.now() - began
  const { system, user } = process.cpuUsage(before)
  return { at, process: (system + user) / 1000, database: cpuOfFamily(pid) - database }
}

/** What is used in so many seconds, and how long the process was busy with one thing, in ms: p99 and the longest. */
export const usedIn = async (ground: Ground, seconds: number): Promise<Usage & { readonly busy: string }> => {
  const delays = monitorEventLoopDelay({ resolution: busyResolution })
  delays.enable()
  const used = await usedBy(ground, () => wait(seconds * 1000))
  delays.disable()
  const [most, longest] = [delays.percentile(99), delays.max].map((nanos) =>
    Math.max(0, nanos / 1e6 - busyResolution).toFixed(0)
  )
  return { ...used, busy: `${most} ms, ${longest} ms` }
}

export const inSeconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`
export const missing = (times: ReadonlyArray<number>): string => {
  const lost = times.filter(Number.isNaN).length
  return lost === 0 ? ` of ${times.length}` : ` of ${times.length}, ${lost} missing`
}
export const share = (times: ReadonlyArray<number>, part: number) =>
  inSeconds(quantile(times.filter((time) => !Number.isNaN(time)), part))

export const callsOf = (counts: Readonly<Record<string, number>> = {}) =>
  Object.entries(counts).reduce((sum, [name, count]) => reading.test(name) ? sum + count : sum, 0)
