/** Writes a corpus of one size, and measures what writing, storing, listing and searching it come to. */
import { loosen } from "../../src/layers/sql/archive/LoosePages.ts"
import { fillDatabase } from "../../test/support/postgres/fill.ts"
import { cpuOfFamily, deployed, startService } from "../peers/processes.ts"
import { median } from "../support/asking.ts"
import { type Ground, makeKeys } from "../support/ground.ts"
import { measureBeside } from "./beside.ts"
import { cpuOfCorpus, messagesPerAccount, wordOf } from "./corpus.ts"
import { measureMedia } from "./media.ts"
import { places, type Reading, startReading, timed, timeList, times, timeSearch } from "./reading.ts"
import { listRows, peerKeys, searchRows, writeRows } from "./rows.ts"
import { derivePassword, organizationId, timeUnlocks, writeSealed } from "./sealed.ts"

export const columns = ["measured", "archive", "a row for each message", "goal"]

export type Row = readonly [string, string, string, string]

/** Those that are written to, as a new installation has them: never analyzed. */
const archiveTables =
  "archive_page, archive_loose, archive_block, archive_chat, archive_tail, archive_change, archive_epoch"
const lists = 300
/** Lists before them that are not counted: a process that has just started has its code still to be compiled. */
const warmingUp = 600
const searches = 20
/** Keys that requests alternate between: each may ask 120 times a minute. */
const keyCount = 32
/** Above this size the peer is not asked: it takes longer to write than all else together. */
const peerUpTo = 1_000_000

const sizeOf = async ({ superuser }: Ground, tables: string) => {
  const { rows } = await superuser.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relname ~ $1`,
    [tables]
  )
  return Number(rows[0]?.bytes ?? 0)
}

/** Processor time of the process and of the database, and the time that it takes, per message. */
const costOf = async (ground: Ground, messages: number, work: () => Promise<unknown>) => {
  const before = process.cpuUsage()
  const made = cpuOfCorpus()
  const database = cpuOfFamily(ground.pid)
  const begun = performance.now()
  await work()
  const { system, user } = process.cpuUsage(before)
  const perMessage = (micros: number) => (micros / messages).toFixed(1)
  return {
    process: `${perMessage(user + system - (cpuOfCorpus() - made))} µs`,
    database: `${perMessage((cpuOfFamily(ground.pid) - database) * 1000)} µs`,
    rate: `${Math.round(messages / (performance.now() - begun)) * 1000} a second`
  }
}

const progress = (what: string, messages: number) => {
  let written = 0
  return () => {
    written += messagesPerAccount
    if (written % 1_000_000 === 0 || written === messages) {
      process.stderr.write(`${what}: ${written.toLocaleString("en")} messages\n`)
    }
  }
}

/** The keys of the peer, which is not asked where they are null. */
type Keys = ReturnType<typeof peerKeys> | null

export const keysFor = (messages: number): Keys => messages > peerUpTo ? null : peerKeys()

export const accountsOf = async ({ superuser }: Ground): Promise<ReadonlyArray<string>> => {
  const { rows } = await superuser.query<{ id: string }>("select id::text from account order by id")
  return rows.map(({ id }) => id)
}

/** Archives the messages, and writes the peer's; what that and storing them come to. */
export const fill = async (ground: Ground, messages: number, keys: Keys): Promise<ReadonlyArray<Row>> => {
  const accounts = messages / messagesPerAccount
  await fillDatabase(ground.superuser, [{ id: organizationId, accounts, events: 0, departments: 10 }])
  // That analyzes every table: one that is known to be empty is read whole for as long as a plan lasts.
  await ground.superuser.query(`truncate ${archiveTables}`)
  const accountIds = await accountsOf(ground)
  const sealed = await costOf(ground, messages, () => writeSealed(ground, accountIds, progress("archive", messages)))
  await ground.superuser.query("vacuum analyze")
  const rows = keys === null ? null : await costOf(
    ground,
    messages,
    () => writeRows(ground.superuser, keys, accountIds, progress("rows", messages))
  )
  const bytes = (size: number) => `${Math.round(size / messages)} B`
  return [
    ["write, CPU of the process a message", sealed.process, rows?.process ?? "–", "30 µs"],
    ["write, CPU of the database a message", sealed.database, rows?.database ?? "–", "6 µs"],
    ["write, messages", sealed.rate, rows?.rate ?? "–", ""],
    [
      "storage a message",
      bytes(await sizeOf(ground, "^archive_")),
      rows === null ? "–" : bytes(await sizeOf(ground, "^peer_message$")),
      "130 B"
    ]
  ]
}

/** What reading and deleting them come to. */
export const measure = async (ground: Ground, keys: Keys): Promise<ReadonlyArray<Row>> => {
  const accountIds = await accountsOf(ground)
  const server = await startService(ground.url, ground.pepper, deployed)
  const made = await makeKeys(ground, organizationId, "owner", keyCount, [
    "org:read",
    "archive:read",
    "archive:delete"
  ])
  const reading = startReading(server, made)
  try {
    await manifestsMade(ground)
    const reads = await measureReads(ground, reading, made, accountIds, keys)
    const beside = await measureBeside(ground, { address: server.address, reading }, made, accountIds)
    const deletion = await measureDeletion(ground, reading, accountIds, keys !== null)
    const scan = await measureScan(ground, reading)
    return [...reads, ...beside, ...deletion, ...scan, ...await mediaRows(ground)]
  } finally {
    reading.stop()
    await server.stop()
  }
}

const repeated = async (time: () => Promise<number>): Promise<ReadonlyArray<number>> => {
  const found: Array<number> = []
  for (let turn = 0; turn < searches; turn++) found.push(await time())
  return found
}

const timesOf = (millis: ReadonlyArray<number> | null): string => millis === null ? "–" : times(millis)

const measureReads = async (
  ground: Ground,
  reading: Reading,
  made: ReadonlyArray<string>,
  accountIds: ReadonlyArray<string>,
  keys: Keys
): Promise<ReadonlyArray<Row>> => {
  const chats = `/v1/archive/accounts/${accountIds[0]}/chats?limit=1`
  const cold: Array<number> = []
  for (const key of made) cold.push(await timed(() => reading.ask("GET", chats, undefined, key)))
  const derived: Array<number> = []
  for (let turn = 0; turn < 5; turn++) derived.push(await timed(derivePassword))
  const listed: Array<number> = []
  const peerListed: Array<number> = []
  for (const place of places(accountIds.length, warmingUp)) await timeList(reading, accountIds, place)
  for (const place of places(accountIds.length, lists)) {
    listed.push(await timeList(reading, accountIds, place))
    if (keys === null) continue
    const { account, below, chatId } = place
    peerListed.push(await timed(() => listRows(ground.superuser, keys, accountIds[account] ?? "", chatId, below)))
  }
  const peerSearch = (words: ReadonlyArray<string>) =>
    keys === null ? null : repeated(() => timed(() => searchRows(ground.superuser, keys, words)))
  const row = async (what: string, words: ReadonlyArray<string>, goal: string): Promise<Row> => [
    `search, ${what}: p50, p99`,
    times(await repeated(() => timeSearch(reading, words.join(" ")))),
    timesOf(await peerSearch(words)),
    goal
  ]
  const firstPage = accountIds.length * messagesPerAccount <= 1_000_000 ? "200 ms" : "500 ms"
  return [
    [
      "first request with the password; the derivation of its key alone",
      `${median(cold).toFixed(0)}, ${median(derived).toFixed(0)} ms`,
      "–",
      "120 ms"
    ],
    [
      "a request's unlock with a password that was derived before: p50",
      `${(median(await timeUnlocks(ground)) / 1000).toFixed(2)} ms`,
      "–",
      "0.2 ms"
    ],
    ["list of 50: p50, p99", times(listed), timesOf(keys === null ? null : peerListed), "2, 8 ms"],
    await row("a frequent word", [wordOf(20)], firstPage),
    await row("a rare word", [wordOf(25_000)], firstPage),
    await row("two words", [wordOf(300), wordOf(2000)], firstPage),
    await row("nothing found", ["qqqqq"], `${accountIds.length * 40} ms`)
  ]
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** What is left is searched without a vocabulary. */
const measureScan = async ({ superuser }: Ground, reading: Reading): Promise<ReadonlyArray<Row>> => {
  await superuser.query("delete from archive_block")
  await superuser.query(`${loosen("archive_page")} on conflict do nothing`)
  // Until then plans are those of a table that was empty.
  await superuser.query("analyze archive_block, archive_loose")
  const { rows } = await superuser.query<{ messages: string }>("select sum(messages) as messages from archive_loose")
  const millions = Number(rows[0]?.messages) / 1_000_000
  if (millions === 0) return []
  const spent = await timeSearch(reading, "qqqqq")
  const measured = "scan without a vocabulary, nothing found, a million messages"
  return [[measured, `${(spent / 1000 / millions).toFixed(1)} s`, "–", "6 s"]]
}

const mediaRows = async ({ blobs }: Ground): Promise<ReadonlyArray<Row>> => {
  const { alone, opened, sealed, waited } = await measureMedia(blobs)
  return [
    ["Node's cipher alone, in a second of processor time", `${alone.toFixed(0)} MB`, "–", ""],
    ["files, sealed in a second of processor time", `${sealed.toFixed(0)} MB`, "–", "at least 250 MB"],
    ["files, opened in a second of processor time, read included", `${opened.toFixed(0)} MB`, "–", "at least 1500 MB"],
    ["first byte of a range near the end of 2 GiB: p50", `${median(waited).toFixed(1)} ms`, "–", "5 ms"]
  ]
}

/** The longest transaction of the service until the work is done, looked for every few milliseconds. */
const longestTransaction = async ({ superuser }: Ground, work: () => Promise<void>): Promise<number> => {
  let longest = 0
  const done = new AbortController()
  const looking = async () => {
    while (!done.signal.aborted) {
      const { rows } = await superuser.query<{ millis: number | null }>(`
        select max(extract(epoch from clock_timestamp() - xact_start))::float8 * 1000 as millis from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
      longest = Math.max(longest, rows[0]?.millis ?? 0)
      await pause(3)
    }
  }
  await Promise.all([
    looking(),
    work().finally(() => done.abort())
  ])
  return longest
}

/** Verifies everything, call by call; the pages that it has compared, and those that no manifest covers yet. */
const verifyAll = async ({ ask }: Reading) => {
  let [pages, uncovered, faults] = [0, 0, 0]
  let cursor: unknown = undefined
  do {
    const { parsed } = await ask("POST", "/v1/archive/verify", cursor === undefined ? {} : { cursor })
    pages += Number(parsed["pages"])
    uncovered += Number(parsed["not_covered"])
    faults += Number(parsed["missing"]) + Number(parsed["changed"]) + Number(parsed["added"]) +
      Number(parsed["unproven"])
    cursor = parsed["cursor"]
  } while (cursor !== null)
  if (faults > 0) throw new Error(`The verification has found ${faults} faults in an archive without any`)
  return { pages, uncovered }
}

/** The service makes the manifests by itself, from its start on; of so many pages that takes a while. */
const manifestsMade = async ({ superuser }: Ground) => {
  for (let waited = 0; waited < 15 * 60; waited++) {
    const { rows } = await superuser.query("select 1 from archive_round")
    if (rows.length > 0) return
    await pause(1000)
  }
  throw new Error("No manifest covers the archive after a quarter of an hour")
}

const measureDeletion = async (
  ground: Ground,
  reading: Reading,
  accountIds: ReadonlyArray<string>,
  withPeer: boolean
): Promise<ReadonlyArray<Row>> => {
  const { uncovered } = await verifyAll(reading)
  if (uncovered > 0) throw new Error(`No manifest covers ${uncovered} pages`)
  let pages = 0
  const verified = await timed(async () => {
    pages = (await verifyAll(reading)).pages
  })
  const account_ids = accountIds.slice(0, 1)
  const previewed: Array<number> = []
  let preview: Record<string, unknown> = {}
  for (let turn = 0; turn < 5; turn++) {
    previewed.push(
      await timed(async () => {
        const content = { criteria: { account_ids }, stop_saving: false }
        preview = (await reading.ask("POST", "/v1/archive/cleanups", content)).parsed
      })
    )
  }
  const path = `/v1/archive/cleanups/${String(preview["id"])}`
  let cleanup: Record<string, unknown> = {}
  const longest = await longestTransaction(ground, async () => {
    await reading.ask("POST", `${path}/confirm`, { confirm_phrase: preview["confirm_phrase"] })
    while (cleanup["state"] !== "done") {
      await pause(1000)
      cleanup = (await reading.ask("GET", path)).parsed
    }
  })
  const cleaned = Date.parse(String(cleanup["finished_at"])) - Date.parse(String(cleanup["started_at"]))
  const deleted = withPeer
    ? await timed(() => ground.superuser.query("delete from peer_message where account_id = $1", account_ids))
    : null
  const rate = (millis: number) => `${Math.round(messagesPerAccount / millis) * 1000} messages a second`
  await verifyAll(reading)
  return [
    [
      "verification of everything",
      `${(verified / 1000).toFixed(1)} s, ${Math.round(pages / verified * 1000)} pages a second`,
      "–",
      ""
    ],
    [`preview of a cleanup of ${messagesPerAccount} messages: p50`, `${median(previewed).toFixed(0)} ms`, "–", "20 ms"],
    [
      "cleanup of these, from its first batch to its last",
      rate(cleaned),
      deleted === null ? "–" : rate(deleted),
      "at least 200000 messages a second"
    ],
    [
      "the longest transaction meanwhile",
      `${longest.toFixed(0)} ms`,
      deleted === null ? "–" : `${deleted.toFixed(0)} ms`,
      "200 ms"
    ]
  ]
}
