/** The calls of the viewer's page to its worker, which alone has keys and asks the service. */
import type { ArchiveAccount } from "../domain/archive/ArchiveAccount.ts"
import type { Chat, ChatMember } from "../domain/archive/Chat.ts"
import type { Message, MessageEdit } from "../domain/archive/Message.ts"
import type { MessageDetails, MessageKind } from "../domain/archive/Records.ts"
import type { FoundMessage } from "../domain/archive/SearchResult.ts"

/** A chat of an account. */
export interface ChatPlace {
  readonly accountId: string
  readonly chatId: string
}

/** A message with what only its record has: styles and links, polls, contacts and words of services. */
export interface ShownMessage extends Message {
  readonly details: MessageDetails
}

/** Messages of a chat, the oldest first. */
export interface Shown {
  readonly messages: ReadonlyArray<ShownMessage>
  /** True if more of them follow in the direction that was asked for. */
  readonly hasMore: boolean
  /** The id to go on with, where a page held no message that could be shown. */
  readonly next: string | null
  readonly unreadable: number
}

export interface SearchAsk {
  readonly query: string
  readonly accountIds: ReadonlyArray<string>
  /** One chat of the one account; null for all. */
  readonly chatId: string | null
  /** Messages of one sender; null for all. */
  readonly fromId: string | null
  readonly kind: MessageKind | null
  /** Days, `YYYY-MM-DD`; both belong to what is searched. */
  readonly since: string | null
  readonly until: string | null
}

export interface Hit {
  readonly message: FoundMessage
  readonly chat: Chat | null
}

/** Every call by name: its input and its answer. */
export interface Calls {
  /** Names the service before anything else. */
  start: {
    readonly ask: { readonly address: string; readonly token: string; readonly organizationId: string }
    readonly answer: null
  }
  unlock: { readonly ask: { readonly password: string }; readonly answer: { readonly millis: number } }
  accounts: {
    readonly ask: { readonly after: string | null }
    readonly answer: { readonly accounts: ReadonlyArray<ArchiveAccount>; readonly hasMore: boolean }
  }
  chats: {
    readonly ask: { readonly accountId: string; readonly after: string | null }
    readonly answer: { readonly chats: ReadonlyArray<Chat>; readonly hasMore: boolean; readonly unreadable: number }
  }
  chat: { readonly ask: ChatPlace; readonly answer: Chat | null }
  members: {
    readonly ask: ChatPlace
    readonly answer: { readonly members: ReadonlyArray<ChatMember>; readonly unreadable: number }
  }
  messages: {
    readonly ask: ChatPlace & {
      readonly direction: "older" | "newer"
      readonly bound: string | null
      /** The day from which on messages are shown, `YYYY-MM-DD`. */
      readonly since: string | null
    }
    readonly answer: Shown
  }
  around: {
    readonly ask: ChatPlace & { readonly id: string }
    readonly answer: Shown & { readonly hasNewer: boolean } | null
  }
  edits: {
    readonly ask: ChatPlace & { readonly id: string }
    readonly answer: { readonly revisions: ReadonlyArray<MessageEdit>; readonly unreadable: number }
  }
  search: {
    /** Without a query it goes on with the last search. */
    readonly ask: SearchAsk | null
    readonly answer: {
      readonly hits: ReadonlyArray<Hit>
      readonly hasMore: boolean
      readonly complete: boolean
      readonly searched: number
      readonly unreadable: number
    }
  }
  /** Begins to read the content of a file. */
  openFile: {
    readonly ask: { readonly accountId: string; readonly fileId: string }
    readonly answer: { readonly handle: number; readonly bytes: number }
  }
  /** The next part of it, opened and checked; null after its end. What is not asked for is not read either. */
  readFile: { readonly ask: { readonly handle: number }; readonly answer: Uint8Array<ArrayBuffer> | null }
  /** Ends it before. */
  closeFile: { readonly ask: { readonly handle: number }; readonly answer: null }
  /** Decides about chats of an account, one after the other; fails where none of them could be decided about. */
  decide: {
    readonly ask: {
      readonly accountId: string
      readonly chats: ReadonlyArray<Pick<Chat, "id" | "protected" | "type">>
      readonly effect: "archive" | "skip"
    }
    /** The ids of those that are decided, and the first refusal of another one. */
    readonly answer: { readonly decided: ReadonlyArray<string>; readonly refusal: string | null }
  }
}

export type CallName = keyof Calls

/** A call as it is sent to the worker. */
export interface Asked<Name extends CallName = CallName> {
  readonly id: number
  readonly name: Name
  readonly ask: Calls[Name]["ask"]
}

/** Reasons that the page acts on; any other is shown as its message. */
export type FaultCode =
  | "wrong_password"
  | "session_ended"
  | "not_allowed"
  | "no_key"
  | "closed"
  | "slow_down"
  | "gone"
  | "other"

export interface Fault {
  readonly code: FaultCode
  readonly message: string
}

/** The worker's answer to a call. */
export type Answered =
  /** The service takes no request for so many seconds; the worker goes on by itself then. */
  | { readonly waiting: number }
  | { readonly id: number; readonly answer: Calls[CallName]["answer"] }
  | { readonly id: number; readonly fault: Fault }
