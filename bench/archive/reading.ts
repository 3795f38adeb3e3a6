/** Requests of the archive's reader over HTTP, and the time that they take. */
import type { Server } from "../peers/processes.ts"
import { median, quantile, startAsking, taking } from "../support/asking.ts"
import { chatOf } from "./corpus.ts"
import { password } from "./sealed.ts"

export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** The median and the 99th percentile. */
export const times = (millis: ReadonlyArray<number>) =>
  `${median(millis).toFixed(1)}, ${quantile(millis, 0.99).toFixed(1)} ms`

/** Requests of the owner with the archive password; anything but 200 ends the run. */
export const startReading = ({ address }: Pick<Server, "address">, keys: ReadonlyArray<string>) => {
  const asking = startAsking(address)
  const next = taking(keys)
  const headers = { "archive-password": Buffer.from(password).toString("base64url") }
  const ask = async (method: string, path: string, content?: unknown, key = next()) => {
    const answer = await asking.send(method, key, path, content, headers)
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`)
    return { ...answer, parsed: JSON.parse(answer.body) as Record<string, unknown> }
  }
  return { ask, stop: asking.stop }
}
export type Reading = ReturnType<typeof startReading>

/** Milliseconds of one search until its first page is there, however many calls that takes. */
export const timeSearch = ({ ask }: Reading, query: string) =>
  timed(async () => {
    let cursor: unknown = null
    do {
      const content = { query, ...(cursor === null ? {} : { cursor }) }
      const { parsed } = await ask("POST", "/v1/archive/search", content)
      cursor = parsed["complete"] === false ? parsed["cursor"] : null
    } while (cursor !== null)
  })

/** Places of messages, drawn over the whole corpus. */
export const places = (accounts: number, lists: number) =>
  Array.from({ length: lists }, (_, n) => ({
    account: n * 7919 % accounts,
    chatId: chatOf(n * 7919 % accounts, n * 31 % 100, 1).chatId,
    below: 60 + n * 613 % 940
  }))

export type Place = ReturnType<typeof places>[number]

/** Milliseconds of a list of 50 messages below a place. */
export const timeList = ({ ask }: Reading, accountIds: ReadonlyArray<string>, { account, below, chatId }: Place) =>
  timed(() =>
    ask("GET", `/v1/archive/accounts/${accountIds[account]}/chats/${chatId}/messages?before_id=${below}&limit=50`)
  )
