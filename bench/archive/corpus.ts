/** Chats of made-up people, the same in every run: words are as frequent as in any language, and most days are quiet. */
import type { SeenMessage } from "../../src/ports/archive/ArchiveWriter.ts"

export const messagesPerAccount = 100_000
const chatsPerAccount = 100
const messagesPerChat = messagesPerAccount / chatsPerAccount
/** On one day in four somebody writes: about eleven messages in a chat. */
const days = 365
const activeDays = 91
const vocabularySize = 30_000
const newestDay = Date.UTC(2026, 9, 31) / 1000
const secondsPerDay = 86_400

/** Numbers from 0 to 1 that follow from the seed. */
const drawing = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = state + 0x6D2B79F5 | 0
    let mixed = Math.imul(state ^ state >>> 15, state | 1)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32
  }
}

const syllables = "ba de fi go hu ka le mi no pu ra se ti vo wa xe yo zu an er in ol un".split(" ")

/** The nth word in the order of frequency; the rarer, the longer. */
export const wordOf = (rank: number): string => {
  let word = ""
  for (let left = rank + 1; left > 0; left = Math.floor(left / syllables.length)) {
    word += syllables[left % syllables.length]
  }
  return word
}

const words = Array.from({ length: vocabularySize }, (_, rank) => wordOf(rank))

/** About 60 characters, by Zipf's law. */
const textOf = (draw: () => number): string => {
  let text = ""
  const length = 30 + draw() * 60
  while (text.length < length) text += `${text === "" ? "" : " "}${words[Math.floor(vocabularySize ** draw()) - 1]}`
  return text
}

export interface BenchChat {
  readonly chatId: bigint
  readonly title: string
  /** Newest first, as a first backup reads them. */
  readonly messages: ReadonlyArray<SeenMessage>
}

const makeChat = (account: number, chat: number, size: number): BenchChat => {
  const draw = drawing(account * chatsPerAccount + chat + 1)
  const active = Array.from({ length: activeDays }, () => Math.floor(draw() * days))
  const times = Array.from({ length: size }, () => {
    const day = active[Math.floor(draw() * activeDays)] ?? 0
    return newestDay - day * secondsPerDay + 28_800 + Math.floor(draw() * 36_000)
  }).sort((one, other) => one - other)
  const chatId = BigInt(account * 1_000_000 + chat + 1)
  const messages = times.map((at, place): SeenMessage => {
    const outgoing = draw() < 0.5
    return {
      id: BigInt(place + 1),
      at,
      from: outgoing
        ? { id: `1${account}`, name: `Account ${account}`, username: null }
        : { id: `2${chatId}`, name: `Person ${chatId}`, username: `person${chatId}` },
      kind: "text",
      text: textOf(draw),
      details: outgoing ? { outgoing } : {}
    }
  }).toReversed()
  return { chatId, title: `Person ${chatId}`, messages }
}

let micros = 0

/** Microseconds of processor time that making chats has taken so far: no part of what writing them takes. */
export const cpuOfCorpus = (): number => micros

/** A chat of the account with this place; an id is higher, the later its message was sent. */
export const chatOf = (account: number, chat: number, size = messagesPerChat): BenchChat => {
  const before = process.cpuUsage()
  const made = makeChat(account, chat, size)
  const { system, user } = process.cpuUsage(before)
  micros += system + user
  return made
}

export const chatNumbers = Array.from({ length: chatsPerAccount }, (_, chat) => chat)

/** A chat as long as those that many people write in, of the first account. */
export const largeChat = chatOf(0, chatsPerAccount, 10_000)
