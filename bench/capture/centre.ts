/** The data centre of the measurement, in a process of its own: chats, strangers, and everything that it is asked for. */
import * as DataCentre from "../../test/support/dataCentre/DataCentre.ts"
import { configOf, fullChannel } from "../../test/support/dataCentre/Said.ts"
import type { Word } from "../../test/support/dataCentre/Words.ts"
import { fullUser, sessions, signIn, user } from "../support/heldAccount.ts"
import {
  type Chat,
  chatsOf,
  dialogOf,
  type Entry,
  fileBytes,
  grace,
  messageOf,
  namesOf,
  numberOf,
  silent
} from "./histories.ts"

export type Order =
  /** The secrets of the sessions of all accounts. */
  | { readonly _: "keys"; readonly keys: ReadonlyArray<string> }
  /** People write to the accounts in turn, so many messages a second. */
  | { readonly _: "talk"; readonly perSecond: number }
  | { readonly _: "signIn"; readonly places: ReadonlyArray<number> }
  | { readonly _: "report" }

/** A message that was written to an account, and the time of that in ms. */
export type Sent = readonly [place: number, id: number, at: number]

export interface Report {
  readonly port: number
  readonly publicKey: string
  /** Since the last report. */
  readonly sent: ReadonlyArray<Sent>
  /** The numbers of requests by their names, of all accounts and of each one with a history. */
  readonly requests: Readonly<Record<string, number>>
  readonly ofSilent: ReadonlyArray<Readonly<Record<string, number>>>
  /** The times in ms at which strangers were signed out, by the places of their accounts. */
  readonly signedOut: ReadonlyArray<readonly [place: number, at: number]>
}

interface Account {
  readonly place: number
  readonly key: DataCentre.Key
  readonly chats: ReadonlyArray<Chat>
  readonly log: Array<Entry>
  hasStranger: boolean
}

/** Ids of what is written while it runs are above those of the histories. */
const firstLiveId = 100_000_000

const accounts: Array<Account> = []
const byKey = new Map<string, Account>()
const requests: Record<string, number> = {}
const ofSilent: Array<Record<string, number>> = []
const signedOut: Array<readonly [number, number]> = []
let sent: Array<Sent> = []

/** The largest part of a file that is asked for. */
const bytes = Buffer.alloc(1024 * 1024, 7)

const now = () => Math.floor(Date.now() / 1000)

/** The position of the common box: one for each message that was written since the beginning. */
const stateOf = ({ log }: Account): Word => ({
  _: "updates.state",
  pts: 1 + log.length,
  qts: 0,
  date: now(),
  seq: 0,
  unreadCount: 0
})

const chatAt = ({ chats }: Account, peer: Word): Chat => {
  const chat = chats.find((chat) => numberOf(chat.peer) === numberOf(peer))
  if (chat === undefined) throw new DataCentre.Refusal(400, "PEER_ID_INVALID")
  return chat
}

const answered = (chat: Chat, found: ReadonlyArray<Entry>): Word => ({
  _: "messages.messages",
  messages: found.map((entry) => messageOf(chat, entry)),
  topics: [],
  ...namesOf([chat])
})

/** Dialogs after a place, the newest first; nobody has any in the second folder. */
const dialogs = ({ chats }: Account, { folderId, limit, offsetPeer }: Word): Word => {
  const there = folderId === 0 ? chats.filter(({ messages }) => messages.length > 0) : []
  const after = there.findIndex(({ peer }) => numberOf(peer) === numberOf(offsetPeer))
  const page = there.slice(after + 1, after + 1 + limit)
  return {
    _: "messages.dialogsSlice",
    count: there.length,
    dialogs: page.map(dialogOf),
    messages: page.flatMap((chat) => chat.messages.slice(0, 1).map((entry) => messageOf(chat, entry))),
    ...namesOf(page)
  }
}

const answers: Readonly<Record<string, (account: Account, request: Word) => DataCentre.Answer>> = {
  "help.getConfig": () => configOf(1, [centre.port]),
  "updates.getState": stateOf,
  "updates.getDifference": (account, { pts }) => {
    const missed = account.log.slice(pts - 1)
    const [chat] = account.chats.filter(({ peer }) => numberOf(peer) === grace)
    if (missed.length === 0 || chat === undefined) return { _: "updates.differenceEmpty", date: now(), seq: 0 }
    return {
      _: "updates.difference",
      newMessages: missed.map((entry) => messageOf(chat, entry)),
      newEncryptedMessages: [],
      otherUpdates: [],
      ...namesOf([chat]),
      state: stateOf(account)
    }
  },
  "updates.getChannelDifference": () => ({ _: "updates.channelDifferenceEmpty", final: true, pts: 1 }),
  "messages.getDialogs": dialogs,
  "messages.getPeerDialogs": (account, { peers }) => {
    const chats = peers.map(({ peer }: Word) => chatAt(account, peer["peer"] ?? peer))
    return {
      _: "messages.peerDialogs",
      dialogs: chats.map(dialogOf),
      messages: [],
      ...namesOf(chats),
      state: stateOf(account)
    }
  },
  "messages.getHistory": (account, { limit, offsetId, peer }) => {
    const chat = chatAt(account, peer)
    const from = offsetId === 0 ? 0 : chat.messages.findIndex(({ id }) => id < offsetId)
    return answered(chat, from === -1 ? [] : chat.messages.slice(from, from + limit))
  },
  "messages.getMessages": (account, { id }) => {
    const wanted = new Set(id.map((one: Word) => one["id"]))
    const [chat] = account.chats.filter(({ messages }) => messages.some((entry) => wanted.has(entry.id)))
    return chat === undefined
      ? { _: "messages.messages", messages: [], topics: [], chats: [], users: [] }
      : answered(chat, chat.messages.filter((entry) => wanted.has(entry.id)))
  },
  "upload.getFile": (_, { limit, offset }) => ({
    _: "upload.file",
    type: { _: "storage.fileUnknown" },
    mtime: 0,
    bytes: bytes.subarray(0, Math.max(0, Math.min(limit, fileBytes - Number(offset))))
  }),
  "channels.getFullChannel": (_, { channel }) => fullChannel(channel.channelId, { pts: 1, availableMinId: 0 }),
  "channels.getParticipants": (account, { channel }) => ({
    _: "channels.channelParticipants",
    count: 1,
    participants: [{ _: "channelParticipant", userId: grace, date: 0 }],
    ...namesOf([chatAt(account, channel)])
  }),
  "account.getAuthorizations": ({ hasStranger }) => sessions(hasStranger),
  "account.updateProfile": () => user,
  "users.getFullUser": () => fullUser,
  "account.resetAuthorization": (account) => {
    account.hasStranger = false
    signedOut.push([account.place, Date.now()])
    return true
  },
  "account.getPasskeys": () => ({ _: "account.passkeys", passkeys: [] })
}

const counted = (counts: Record<string, number>, name: string) => {
  counts[name] = (counts[name] ?? 0) + 1
}

const centre = await DataCentre.start({
  answer: async (key, request) => {
    counted(requests, request._)
    const account = byKey.get(key.id)
    const answer = answers[request._]
    if (account === undefined || answer === undefined) throw new DataCentre.Refusal(400, `METHOD_INVALID ${request._}`)
    const own = ofSilent[account.place]
    if (own !== undefined) counted(own, request._)
    return answer(account, request)
  },
  gone: () => {}
})

let turn = 0

/** Somebody writes to the next account without a history, and it is pushed at once. */
const write = () => {
  const account = accounts[silent + turn++ % (accounts.length - silent)]
  const chat = account?.chats.find(({ peer }) => numberOf(peer) === grace)
  if (account === undefined || chat === undefined) return
  const entry = {
    id: firstLiveId + account.log.length,
    at: now(),
    text: `Message ${account.log.length + 1} while others write`,
    outgoing: false
  }
  account.log.push(entry)
  chat.messages.unshift(entry)
  sent.push([account.place, entry.id, Date.now()])
  centre.push(account.key, {
    _: "updates",
    updates: [{ _: "updateNewMessage", message: messageOf(chat, entry), pts: 1 + account.log.length, ptsCount: 1 }],
    ...namesOf([chat]),
    date: now(),
    seq: 0
  })
}

const tick = 100
let perTick = 0
let due = 0
setInterval(() => {
  for (due += perTick; due >= 1; due--) write()
}, tick).unref()

const does: { readonly [Kind in Order["_"]]: (order: Extract<Order, { readonly _: Kind }>) => void } = {
  keys: ({ keys }) => {
    for (const [place, secret] of keys.entries()) {
      const key = centre.know(Buffer.from(secret, "base64"))
      const account = { place, key, chats: chatsOf(place), log: [], hasStranger: false }
      accounts.push(account)
      byKey.set(key.id, account)
      if (place < silent) ofSilent.push({})
    }
  },
  talk: ({ perSecond }) => void (perTick = perSecond * tick / 1000),
  signIn: ({ places }) => {
    for (const place of places) {
      const account = accounts[place]
      if (account === undefined) continue
      account.hasStranger = true
      centre.push(account.key, signIn())
    }
  },
  report: () => {}
}

process.on("disconnect", () => process.exit(0))
process.on("message", (order: Order) => {
  does[order._](order as never)
  const { port, publicKey } = centre
  process.send!({ port, publicKey, sent, requests, ofSilent, signedOut } satisfies Report)
  sent = []
})
