/** Writes a corpus of one size, and measures what writing, storing, listing and searching it come to. */
import { fillDatabase } from "../../test/support/postgres/fill.ts"
import { cpuOfFamily, deployed, type Server, startService } from "../peers/processes.ts"
import { median, quantile, startAsking, taking } from "../support/asking.ts"
import { type Ground, makeKeys } from "../support/ground.ts"
import { chatOf, messagesPerAccount, wordOf } from "./corpus.ts"
import { listRows, peerKeys, searchRows, writeRows } from "./rows.ts"
import { organizationId, password, writeSealed } from "./sealed.ts"

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
const costOf = async (ground: Ground, messages: number, work: () => Promise<void>) => {
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
  const made = await makeKeys(ground, organizationId, "owner", keyCount, ["org:read", "archive:read"])
  const reading = startReading(server, made)
  try {
    return [...written, ...await measureReads(ground, reading, made, accountIds, keys)]
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
  return [
    ["first request with the password", `${median(cold).toFixed(0)} ms`, "–", "120 ms"],
    ["list of 50: p50, p99", times(listed), times(peerListed), "2, 8 ms"],
    await row("a frequent word", [wordOf(20)], "first page 200 ms at 1 M, 500 ms at 5 M"),
    await row("a rare word", [wordOf(25_000)], "first page 200 ms at 1 M, 500 ms at 5 M"),
    await row("two words", [wordOf(300), wordOf(2000)], "first page 200 ms at 1 M, 500 ms at 5 M"),
    await row("nothing found", ["qqqqq"], "400 ms a million")
  ]
}
