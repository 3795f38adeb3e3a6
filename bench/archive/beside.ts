/** The time of requests beside searches: of the process that they ask, and of another one on the same machine. */
import { deployed, startService } from "../peers/processes.ts"
import { median } from "../support/asking.ts"
import type { Ground } from "../support/ground.ts"
import { wordOf } from "./corpus.ts"
import { places, type Reading, startReading, timeList, times, timeSearch } from "./reading.ts"

const lists = 300
/** As many as run for an organization in a process. */
const searchesAtOnce = 2
/** Of everything, without a hit, and with pages to open. */
const queries = ["qqqqq", `${wordOf(300)} ${wordOf(2000)}`]

/** Times of lists while the others search; and those of the searches. */
const listBeside = async (reading: Reading, searching: ReadonlyArray<Reading>, accountIds: ReadonlyArray<string>) => {
  const over = new AbortController()
  const searched: Array<number> = []
  const searches = searching.map(async (each, place) => {
    for (let turn = place; !over.signal.aborted; turn++) {
      searched.push(await timeSearch(each, queries[turn % queries.length] ?? ""))
    }
  })
  const listed: Array<number> = []
  for (const place of places(accountIds.length, lists)) listed.push(await timeList(reading, accountIds, place))
  over.abort()
  await Promise.all(searches)
  return { listed: times(listed), searched: median(searched).toFixed(0) }
}

/**
 * A search in a thread costs others at best what one in another process does: the processors and the database are the
 * same.
 */
export const measureBeside = async (
  ground: Ground,
  here: { readonly address: string; readonly reading: Reading },
  keys: ReadonlyArray<string>,
  accountIds: ReadonlyArray<string>
): Promise<ReadonlyArray<readonly [string, string, string, string]>> => {
  const other = await startService(ground.url, ground.pepper, deployed)
  const opened = [here.address, other.address].map((address) =>
    Array.from({ length: searchesAtOnce }, () => startReading({ address }, keys.slice(0, 8)))
  )
  try {
    const [same = [], apart = []] = opened
    // The other process derives the keys of the passwords first.
    for (const key of keys.slice(0, 8)) await apart[0]?.ask("POST", "/v1/archive/search", { query: "qqqqq" }, key)
    const alone = await listBeside(here.reading, [], accountIds)
    const beside = await listBeside(here.reading, same, accountIds)
    const elsewhere = await listBeside(here.reading, apart, accountIds)
    return [
      ["list of 50, again: p50, p99", alone.listed, "–", ""],
      [`list of 50 beside ${searchesAtOnce} searches at a time: p50, p99`, beside.listed, "–", ""],
      ["list of 50 beside these in another process: p50, p99", elsewhere.listed, "–", ""],
      [
        "these searches, in the process and in the other one: p50",
        `${beside.searched}, ${elsewhere.searched} ms`,
        "–",
        ""
      ]
    ]
  } finally {
    for (const reading of opened.flat()) reading.stop()
    await other.stop()
  }
}
