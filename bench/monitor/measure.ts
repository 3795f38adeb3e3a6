/** Watches an organization of one size, and measures it. */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { SqlClient } from "effect/sql"
import { seenMark } from "../../src/domain/protection/ListDigest.ts"
import * as PasswordDerivation from "../../src/layers/archive/PasswordDerivation.ts"
import * as FileBlobs from "../../src/layers/blobs/FileBlobs.ts"
import * as Core from "../../src/layers/Core.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import { PasswordHasher } from "../../src/layers/crypto/signin/PasswordHasher.ts"
import * as MailSettings from "../../src/layers/mail/MailSettings.ts"
import * as Worker from "../../src/layers/Worker.ts"
import type { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { Engine } from "../../src/protection/PollLoop.ts"
import { postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import { fillDatabase } from "../../test/support/postgres/fill.ts"
import { cpuOfFamily, memoryOf, startService } from "../peers/processes.ts"
import { median, quantile, startAsking, taking } from "../support/asking.ts"
import { type Ground, makeKeys } from "../support/ground.ts"
import { makePlatform, own, type Platform } from "./platform.ts"

export interface Sizes {
  /** How long quiet looks are measured. */
  readonly seconds: number
  /** How long the messenger takes for a call, in ms. */
  readonly latency: number
}

export const columns = [
  "accounts",
  "looks a second (due)",
  "late p50, p99, longest, s",
  "database CPU a quiet look, ms (goal 0.2)",
  "statements a quiet look (goal 0.05)",
  "CPU for 1,000 quiet accounts (goal 10 % of a core)",
  "MiB",
  "found by push: median, slowest, s (goal 2)",
  "found by poll: median, slowest, s (goal 72)",
  "signed out after the deadline: median, slowest, s (goal 2)",
  "a page of accounts beside it, p99 ms"
]

export const organization = "watched"
export const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Accounts as they are when nothing is new: each look of the first minute is due at its own moment. */
export const fill = async ({ superuser }: Ground, accounts: number) => {
  await fillDatabase(superuser, [{ id: organization, accounts, events: 0, departments: 10, everyone: "protected" }])
  await superuser.query("delete from session")
  await superuser.query(
    `insert into service_session (organization_id, account_id, slot, session_ref, created_at)
    select organization_id, id, 'main', id::text, now() - interval '90 days' from account`
  )
  await superuser.query("update account set session_ref = id::text")
  await superuser.query("vacuum analyze")
  // The last of it: nothing is late when the watch begins.
  await superuser.query(
    `insert into monitor (organization_id, account_id, next_at, started_at, last_polled_at, last_ok_at, look_at, seen_mark)
    select organization_id, account_id, clock_timestamp() + interval '5 s' + random() * interval '60 s', now() - interval '1 day', now(),
      now() + interval '5 s', now() + interval '1 day',
      translate(rtrim(replace(encode(sha256(convert_to('["' || id || '",' || $1 || ']', 'UTF8')), 'base64'), E'\\n', ''), '='),
        '+/', '-_')
    from service_session`,
    [JSON.stringify(seenMark([own]))]
  )
  await superuser.query("vacuum analyze monitor")
}

/** Takes what is due, for as long as it runs. */
export const watching = Effect.flatMap(Engine, ({ claim, pause }) => Effect.forever(Effect.andThen(claim, pause)))

/** The watch of one process, over a messenger; without an ownership of its own it watches all accounts. */
export const workerOver = (
  ground: Pick<Ground, "blobs" | "pepper" | "url">,
  messenger: Layer.Layer<MessengerSession, never, Ownership>,
  options?: Worker.Options,
  ownership: Layer.Layer<Ownership, never, SqlClient.SqlClient> = Ownership.layerAlone
) =>
  Worker.layer(options).pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: Core.defaultKeyPrefix })),
    Layer.provideMerge(FileBlobs.layer(ground.blobs)),
    Layer.provideMerge(Layer.mergeAll(
      MailSettings.layer(null),
      PasswordHasher.layerWith({ memoryCost: 8, timeCost: 1, parallelism: 1 }),
      PasswordDerivation.layer,
      messenger,
      Peppers.layerText(Redacted.make(ground.pepper))
    )),
    Layer.provideMerge(ownership),
    Layer.provideMerge(postgresLayer(ground.url))
  )

/** What a process and the database have used until now. */
const usage = async ({ pid, superuser }: Ground) => {
  const { rows } = await superuser.query(
    "select xact_commit::int as statements from pg_stat_database where datname = current_database()"
  )
  const { system, user } = process.cpuUsage()
  return { at: Date.now(), database: cpuOfFamily(pid), process: (system + user) / 1000, statements: rows[0].statements }
}

/** Times as `median, slowest of count`. */
const spread = (times: ReadonlyArray<number | undefined>): string => {
  const known = times.flatMap((time) => time === undefined ? [] : [time / 1000])
  return `${median(known).toFixed(1)}, ${Math.max(...known).toFixed(1)} of ${known.length}${
    known.length === times.length ? "" : `, ${times.length - known.length} missing`
  }`
}

/** The ids of accounts whose strangers have been written down, and when. */
export const detected = async ({ superuser }: Ground) => {
  const { rows } = await superuser.query<{ account_id: string; seen_at: Date }>(
    "select account_id::text, seen_at from session where not current"
  )
  return new Map(rows.map(({ account_id, seen_at }) => [account_id, seen_at.getTime()]))
}

/** Strangers sign in; answers when each was found, told by a push and not. */
const findStrangers = async (ground: Ground, platform: Platform) => {
  const { rows } = await ground.superuser.query<{ id: string }>("select id::text from account limit 20")
  const open = platform.open()
  const notified = open.filter((_, place) => place % Math.floor(open.length / 20) === 0).slice(0, 20)
  const polled = rows.map(({ id }) => id).filter((id) => !notified.includes(id))
  const at = Date.now()
  for (const ref of notified) platform.signIn(ref, true)
  for (const ref of polled) platform.signIn(ref, false)
  const all = [...notified, ...polled]
  let found = new Map<string, number>()
  for (const end = at + 80_000; found.size < all.length && Date.now() < end; await wait(500)) {
    found = await detected(ground)
  }
  const since = (ref: string) => {
    const seen = found.get(ref)
    return seen === undefined ? undefined : seen - at
  }
  return { all, byPush: notified.map(since), byPoll: polled.map(since) }
}

/** Lets the deadlines of the accounts' strangers come in 12 s; answers the time of that. */
export const setDeadlines = async ({ superuser }: Ground, refs: ReadonlyArray<string>): Promise<number> => {
  const at = Date.now() + 12_000
  await superuser.query("update session set review_deadline = $1 where account_id = any($2::uuid[]) and not current", [
    new Date(at),
    refs
  ])
  await superuser.query(
    "update monitor set due_at = $1, next_at = least(next_at, $1), epoch = epoch + 1 where account_id = any($2::uuid[])",
    [new Date(at), refs]
  )
  return at
}

/** Accounts without a deadline are due evenly in so many seconds; what is being looked at now stays as it is. */
export const spreadLooks = async ({ superuser }: Ground, seconds: number) => {
  await superuser.query(
    `update monitor set next_at = now() + random() * $1 * interval '1 s' from (
      select organization_id, account_id from monitor where due_at is null for update skip locked
    ) as free
    where (monitor.organization_id, monitor.account_id) = (free.organization_id, free.account_id)`,
    [seconds]
  )
}

/** Their deadlines come, while twice as many looks are due; answers how long after each it was done. */
const reachDeadlines = async (ground: Ground, platform: Platform, refs: ReadonlyArray<string>) => {
  await spreadLooks(ground, 30)
  const at = await setDeadlines(ground, refs)
  await wait(at + 20_000 - Date.now())
  return refs.map((ref) => {
    const done = platform.signedOut(ref)
    return done === undefined ? undefined : done - at
  })
}

/** Asks for pages until it is stopped; answers the 99th percentile, and how many were refused. */
const startPages = async (ground: Ground) => {
  const service = await startService(ground.url, ground.pepper)
  const next = taking(await makeKeys(ground, organization, "owner", 20))
  const asking = startAsking(service.address)
  const times: Array<number> = []
  const ending = new AbortController()
  let refused = 0
  const done = (async () => {
    for (; !ending.signal.aborted; await wait(100)) {
      const { millis, status } = await asking.ask(next(), "/v1/accounts?limit=50")
      if (status === 200) times.push(millis)
      else refused += 1
    }
  })()
  return async () => {
    ending.abort()
    await done
    asking.stop()
    await service.stop()
    return `${quantile(times, 0.99).toFixed(0)}${
      refused === 0 ? "" : `, ${refused} of ${times.length + refused} refused`
    }`
  }
}

/** How late looks of the last minute began: the median, p99 and the longest, in seconds. */
export const latenesses = Effect.map(PrometheusMetrics.format(), (text) =>
  ["0.5", "0.99", "1"].map((share) => {
    const found = new RegExp(`^console_monitor_lateness_seconds\\{quantile="${share}"\\} (\\S+)$`, "m").exec(text)?.[1]
    return Number(found ?? Number.NaN)
  }))

const lateness = Effect.map(latenesses, (all) => all.map((seconds) => seconds.toFixed(1)).join(", "))

/** Measures one size; the row of the table. */
export const measureSize = async (
  ground: Ground,
  accounts: number,
  { latency, seconds }: Sizes
): Promise<ReadonlyArray<string | number>> => {
  await fill(ground, accounts)
  const platform = makePlatform(latency)
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(Layer.buildWithScope(workerOver(ground, platform.layer), scope))
  const run = <A, E>(effect: Effect.Effect<A, E, Engine>) => Effect.runPromise(Effect.provideContext(effect, context))
  await run(Effect.forkIn(watching, scope))
  await wait(10_000)
  const [from, polls] = [await usage(ground), platform.polls()]
  await wait(seconds * 1000)
  const [to, looks] = [await usage(ground), platform.polls() - polls]
  const late = await run(lateness)
  const elapsed = to.at - from.at
  const stopPages = await startPages(ground)
  const { all, byPoll, byPush } = await findStrangers(ground, platform)
  const ended = await reachDeadlines(ground, platform, all)
  const page = await stopPages()
  const memory = memoryOf(process.pid)
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return [
    accounts,
    `${(looks / elapsed * 1000).toFixed(0)} (${(accounts / 60).toFixed(0)})`,
    late,
    Number(((to.database - from.database) / looks).toFixed(2)),
    Number(((to.statements - from.statements) / looks).toFixed(3)),
    `${((to.process - from.process) / elapsed * 100 * 1000 / accounts).toFixed(1)} %`,
    Math.round(memory),
    spread(byPush),
    spread(byPoll),
    spread(ended),
    page
  ]
}
