/** Writes a corpus of one size, and measures what writing, storing, listing and searching it come to. */
import { fillDatabase } from "../../test/support/postgres/fill.ts"
import { cpuOfFamily, deployed, type Server, startService } from "../peers/processes.ts"
import { median, quantile, startAsking, taking } from "../support/asking.ts"
import { type Ground, makeKeys } from "../support/ground.ts"
import { chatOf, messagesPerAccount, wordOf } from "./corpus.ts"
import { listRows, peerKeys, searchRows, writeRows } from "./rows.ts"
import { derivePassword, organizationId, password, writeSealed } from "./sealed.ts"

export const columns = ["measured", "archive", "a row for each message", "goal"]

export type Row = readonly [string, string, string, string]

const lists = 300
const searches = 20
/** Keys that requests alternate between: each may ask 120 times a minute. */
const keyCount = 12

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
  const database = cpuOfFamily(ground.pid)
  const begun = performance.now()
  await work()
  const { system, user } = process.cpuUsage(before)
  const perMessage = (micros: number) => (micros / messages).toFixed(1)
  return {
    process: `${perMessage(user + system)} µs`,
    database: `${perMessage((cpuOfFamily(ground.pid) - database) * 1000)} µs`,
    rate: `${Math.round(messages / (performance.now() - begun)) * 1000} a second`
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

const times = (millis: ReadonlyArray<number>) => `${median(millis).toFixed(1)}, ${quantile(millis, 0.99).toFixed(1)} ms`

const progress = (what: string, messages: number) => {
  let written = 0
  return () => {
    written += messagesPerAccount
    if (written % 1_000_000 === 0 || written === messages) {
      process.stderr.write(`${what}: ${written.toLocaleString("en")} messages\n`)
    }
  }
}

/** Requests of the owner with the archive password; anything but 200 ends the run. */
const startReading = (server: Server, keys: ReadonlyArray<string>) => {
  const asking = startAsking(server.address)
  const next = taking(keys)
  const headers = { "archive-password": Buffer.from(password).toString("base64url") }
  const ask = async (method: string, path: string, content?: unknown, key = next()) => {
    const answer = await asking.send(method, key, path, content, headers)
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`)
    return { ...answer, parsed: JSON.parse(answer.body) as Record<string, unknown> }
  }
  return { ask, stop: asking.stop }
}
type Reading = ReturnType<typeof startReading>

/** Times of searches until their first page is there, and the messages that the last one found. */
const searchTimes = async (reading: Reading, query: string) => {
  const found: Array<number> = []
  for (let turn = 0; turn < searches; turn++) {
    let cursor: unknown = null
    const millis = await timed(async () => {
      do {
        const content = { query, ...(cursor === null ? {} : { cursor }) }
        const { parsed } = await reading.ask("POST", "/v1/archive/search", content)
        cursor = parsed["complete"] === false ? parsed["cursor"] : null
      } while (cursor !== null)
    })
    found.push(millis)
  }
  return found
}

/** Sends a list of chat and id, both drawn over the whole corpus. */
const places = (accounts: number) =>
  Array.from({ length: lists }, (_, n) => ({
    account: n * 7919 % accounts,
    chat: n * 31 % 100,
    below: 60 + n * 613 % 940
  }))

export const measure = async (ground: Ground, messages: number): Promise<ReadonlyArray<Row>> => {
  const accounts = messages / messagesPerAccount
  await fillDatabase(ground.superuser, [{ id: organizationId, accounts, events: 0, departments: 10 }])
  const { rows: found } = await ground.superuser.query<{ id: string }>("select id::text from account order by id")
  const accountIds = found.map(({ id }) => id)
  const sealed = await costOf(ground, messages, () => writeSealed(ground, accountIds, progress("archive", messages)))
  await ground.superuser.query("vacuum analyze")
  const keys = peerKeys()
  const rows = await costOf(
    ground,
    messages,
    () => writeRows(ground.superuser, keys, accountIds, progress("rows", messages))
  )
  const bytes = (size: number) => `${Math.round(size / messages)} B`
  const written: ReadonlyArray<Row> = [
    ["write, CPU of the process a message", sealed.process, rows.process, "30 µs"],
    ["write, CPU of the database a message", sealed.database, rows.database, "6 µs"],
    ["write, messages", sealed.rate, rows.rate, ""],
    [
      "storage a message",
      bytes(await sizeOf(ground, "^archive_")),
      bytes(await sizeOf(ground, "^peer_message$")),
      "130 B"
    ]
  ]
  const server = await startService(ground.url, ground.pepper, deployed)
  const made = await makeKeys(ground, organizationId, "owner", keyCount, [
    "org:read",
    "archive:read",
    "archive:delete"
  ])
  const reading = startReading(server, made)
  try {
    const reads = await measureReads(ground, reading, made, accountIds, keys)
    return [...written, ...reads, ...await measureDeletion(ground, reading, accountIds)]
  } finally {
    reading.stop()
    await server.stop()
  }
}

const measureReads = async (
  ground: Ground,
  { ask, stop }: Reading,
  made: ReadonlyArray<string>,
  accountIds: ReadonlyArray<string>,
  keys: ReturnType<typeof peerKeys>
): Promise<ReadonlyArray<Row>> => {
  const chats = `/v1/archive/accounts/${accountIds[0]}/chats?limit=1`
  const cold: Array<number> = []
  for (const key of made) cold.push(await timed(() => ask("GET", chats, undefined, key)))
  const derived: Array<number> = []
  for (let turn = 0; turn < 5; turn++) derived.push(await timed(derivePassword))
  const listed: Array<number> = []
  const peerListed: Array<number> = []
  for (const { account, below, chat } of places(accountIds.length)) {
    const { chatId } = chatOf(account, chat)
    const path = `/v1/archive/accounts/${accountIds[account]}/chats/${chatId}/messages?before_id=${below}&limit=50`
    listed.push(await timed(() => ask("GET", path)))
    peerListed.push(await timed(() => listRows(ground.superuser, keys, accountIds[account] ?? "", chatId, below)))
  }
  const peerSearch = async (words: ReadonlyArray<string>) => {
    const peer: Array<number> = []
    for (let turn = 0; turn < searches; turn++) {
      peer.push(await timed(() => searchRows(ground.superuser, keys, words)))
    }
    return times(peer)
  }
  const row = async (what: string, words: ReadonlyArray<string>, goal: string): Promise<Row> => [
    `search, ${what}: p50, p99`,
    times(await searchTimes({ ask, stop }, words.join(" "))),
    await peerSearch(words),
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
    ["list of 50: p50, p99", times(listed), times(peerListed), "2, 8 ms"],
    await row("a frequent word", [wordOf(20)], firstPage),
    await row("a rare word", [wordOf(25_000)], firstPage),
    await row("two words", [wordOf(300), wordOf(2000)], firstPage),
    await row("nothing found", ["qqqqq"], `${accountIds.length * 40} ms`)
  ]
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

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

/** The service makes the manifests by itself, within 10 minutes of its start. */
const coveredPages = async (reading: Reading) => {
  for (let waited = 0; waited < 15 * 60; waited += 15) {
    const { uncovered } = await verifyAll(reading)
    if (uncovered === 0) return
    await pause(15_000)
  }
  throw new Error("No manifest covers the archive after a quarter of an hour")
}

const measureDeletion = async (
  { superuser }: Ground,
  reading: Reading,
  accountIds: ReadonlyArray<string>
): Promise<ReadonlyArray<Row>> => {
  await coveredPages(reading)
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
  await reading.ask("POST", `${path}/confirm`, { confirm_phrase: preview["confirm_phrase"] })
  let cleanup: Record<string, unknown> = {}
  while (cleanup["state"] !== "done") {
    await pause(1000)
    cleanup = (await reading.ask("GET", path)).parsed
  }
  const cleaned = Date.parse(String(cleanup["finished_at"])) - Date.parse(String(cleanup["started_at"]))
  const deleted = await timed(() => superuser.query("delete from peer_message where account_id = $1", account_ids))
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
      rate(deleted),
      "at least 200000 messages a second"
    ]
  ]
}
