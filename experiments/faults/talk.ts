/** People who write, edit and delete in chats, and everything that they ever wrote. */
import type { Effect } from "effect"
import * as crypto from "node:crypto"
import type { MessengerUserId } from "../../src/domain/messenger/Messenger.ts"
import type { ChatOf, SimulatedChats } from "../../src/layers/messenger/simulated/SimulatedChats.ts"

const grace = { id: "901", name: "Grace", username: "grace" }

/** A chat of each person's own, and one that all share. */
const ownChat = 7001n
const team = -1_000_000_007_002n

/** A message as the messenger has it, or had it. */
export interface Written {
  readonly chat: string
  readonly id: string
  /** Each text that it ever had, the newest last. */
  readonly texts: ReadonlyArray<string>
  /** SHA-256 of its file; null without one. */
  readonly file: string | null
  readonly isGone: boolean
}

/** The largest file, in bytes. */
const largestFile = 300_000

type Run = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

const pick = <A>(all: ReadonlyArray<A>): A | undefined => all[Math.floor(Math.random() * all.length)]

export const makeTalk = (chats: SimulatedChats["Service"], run: Run) => {
  const written = new Map<string, {
    readonly chat: string
    readonly id: bigint
    readonly file: string | null
    texts: Array<string>
    gone: boolean
  }>()
  let last = 0

  const placeOf = (user: MessengerUserId, isShared: boolean): ChatOf => ({
    userId: user,
    chatId: isShared ? team : ownChat,
    shared: isShared
  })
  const nameOf = ({ chatId, shared, userId }: ChatOf) => shared ? `${chatId}` : `${userId}/${chatId}`
  const ofChat = (where: ChatOf) => [...written.values()].filter(({ chat, gone }) => chat === nameOf(where) && !gone)

  const write = async (where: ChatOf) => {
    const text = `word ${++last}`
    const id = await run(chats.send(where, { from: grace, text }))
    written.set(`${nameOf(where)} ${id}`, { chat: nameOf(where), id, texts: [text], file: null, gone: false })
  }

  const sendFile = async (where: ChatOf) => {
    const content = crypto.randomBytes(1 + Math.floor(Math.random() * largestFile))
    // Every other one is at another data centre.
    const name = `file ${++last}${last % 2 === 0 ? "@2" : ""}`
    const files = [{ messengerFile: name, name, mimeType: "application/pdf", content: content.toString("base64") }]
    const id = await run(chats.send(where, { from: grace, text: null, kind: "document", files }))
    const file = crypto.createHash("sha256").update(content).digest("hex")
    written.set(`${nameOf(where)} ${id}`, { chat: nameOf(where), id, texts: [""], file, gone: false })
  }

  const deed = async (where: ChatOf) => {
    const recent = pick(ofChat(where).slice(-12))
    const draw = Math.random()
    if (draw < 0.06) return sendFile(where)
    if (recent === undefined || draw < 0.65) return write(where)
    if (draw < 0.85 && recent.file === null) {
      const text = `${recent.texts[0]}, edit ${++last}`
      recent.texts.push(text)
      return run(chats.edit(where, recent.id, text))
    }
    recent.gone = true
    return run(chats.remove(where, [recent.id]))
  }

  return {
    join: (user: MessengerUserId) =>
      run(chats.join(user, {
        chatId: team,
        type: "group",
        shared: true,
        title: "Team",
        members: [{ ...grace, role: "member" }]
      })),
    /** So many deeds in chats of the people. */
    talk: async (users: ReadonlyArray<MessengerUserId>, deeds: number) => {
      for (let n = 0; n < deeds; n++) {
        const user = pick(users)
        if (user !== undefined) await deed(placeOf(user, Math.random() < 0.4))
      }
    },
    /** A file in each person's own chat. */
    sendFiles: async (users: ReadonlyArray<MessengerUserId>) => {
      for (const user of users) await sendFile(placeOf(user, false))
    },
    /** One more message in each chat. */
    close: async (users: ReadonlyArray<MessengerUserId>) => {
      for (const user of users) await write(placeOf(user, false))
      const [first] = users
      if (first !== undefined) await write(placeOf(first, true))
    },
    losePushes: async (users: ReadonlyArray<MessengerUserId>, times: number) => {
      for (const user of users) await run(chats.losePushes(user, times))
    },
    forget: async (users: ReadonlyArray<MessengerUserId>) => {
      for (const user of users) await run(chats.forgetLog(placeOf(user, false)))
      const [first] = users
      if (first !== undefined) await run(chats.forgetLog(placeOf(first, true)))
    },
    /** All that was ever written in the person's chats. */
    written: (user: MessengerUserId): ReadonlyArray<Written> =>
      [placeOf(user, false), placeOf(user, true)].flatMap((where) =>
        [...written.values()].filter(({ chat }) => chat === nameOf(where)).map(({ file, gone, id, texts }) => ({
          chat: String(where.chatId),
          id: String(id),
          texts,
          file,
          isGone: gone
        }))
      )
  }
}
