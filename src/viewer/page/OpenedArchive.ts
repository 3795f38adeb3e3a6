/** The opened archive as every view of the page uses it, and how chats and senders are called there. */
import type { Chat } from "../../domain/archive/Chat.ts"
import type { FoundMessage } from "../../domain/archive/SearchResult.ts"
import type { CallName, Calls, ShownMessage } from "../ViewerCalls.ts"

export interface OpenedArchive {
  readonly call: <Name extends CallName>(name: Name, ask: Calls[Name]["ask"]) => Promise<Calls[Name]["answer"]>
  readonly lock: () => void
  /** The admin may take messages out of the archive. */
  readonly redacts: boolean
}

/** The places of the words of a search in a message. */
export type MarkedWords = FoundMessage["matches"]

export const titleOf = (chat: Chat | null): string =>
  chat === null ? "Unknown chat" : chat.title ?? (chat.type === "saved" ? "Saved messages" : `Chat ${chat.id}`)

/** The name of who wrote a message. */
export const senderOf = ({ from }: ShownMessage | FoundMessage): string => {
  if (from === null) return "Unknown sender"
  return from.name ?? (from.username === null ? `Person ${from.id}` : `@${from.username}`)
}

/** The words of a message, for a quotation of it. */
export const wordsOf = ({ caption, files, kind, text, transcript }: ShownMessage | FoundMessage): string =>
  text ?? caption ?? transcript ?? files[0]?.name ?? `A ${kind} message`

/** An error in words. */
export const reasonOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
