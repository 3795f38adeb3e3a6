/** A messaging platform in a few lines, as awkward as the real one may be: for histories of capture. */
import { Effect, Stream } from "effect"
import { isOfCommonBox } from "../../../src/domain/archive/CapturedChat.ts"
import type { ChatType } from "../../../src/domain/archive/Chat.ts"
import {
  type ChatChange,
  type ChatFeed,
  type ChatReader,
  ChatRefused,
  type ChatSeen,
  type MessageSeen,
  PositionRefused,
  type Push
} from "../../../src/ports/messenger/MessengerArchive.ts"
import { type MessengerFailure, PlatformRefused } from "../../../src/ports/messenger/MessengerSession.ts"
import { InTransaction } from "./captureGround.ts"
import type { Drawn } from "./drawnNumbers.ts"

interface Content {
  readonly id: bigint
  readonly at: number
  readonly text: string
  readonly editedAt: number | null
  readonly expiresAt: number | null
}

interface LogEntry {
  readonly position: number
  readonly chatId: bigint
  readonly kind: "new" | "edited" | "deleted"
  readonly ids: ReadonlyArray<bigint>
}

interface Box {
  position: number
  log: Array<LogEntry>
}

export interface ModelChat {
  readonly chatId: bigint
  readonly type: ChatType
  readonly messages: Map<bigint, Content>
  /** Null where it shares the common one. */
  readonly box: Box | null
  nextId: bigint
  joinedAt: number | null
  left: boolean
  visibleFrom: bigint
  migratedTo: bigint | null
  /** The platform fails to answer of it. */
  isSick: boolean
  /** It pushes nearly nothing. */
  readonly isSilent: boolean
}

const privates = [101n, 102n, 103n]
const basicGroup = -201n
const channels = [-1_000_000_000_301n, -1_000_000_000_302n, -1_000_000_000_303n]
const successor = -1_000_000_000_399n

const isRefused = (value: unknown): value is ChatRefused | PlatformRefused =>
  value instanceof ChatRefused || value instanceof PlatformRefused

export class Platform {
  /** In milliseconds. */
  now: number
  readonly chats = new Map<bigint, ModelChat>()
  readonly common: Box = { position: 1, log: [] }
  nextId = 1n
  /** Pushes on their way; null while no session is connected. */
  pending: Array<Push> | null = null
  /** Is called in the middle of each call, once its answer is fixed. */
  during: Effect.Effect<void> = Effect.void
  /** The failure of a call, or null. */
  fails: () => MessengerFailure | null = () => null
  readonly drawn: Drawn
  readonly logKept: number

  constructor(drawn: Drawn, now: number) {
    this.drawn = drawn
    this.now = now
    this.logKept = drawn.between(8, 57)
    for (const chatId of privates) this.add(chatId, "private")
    this.add(basicGroup, "group")
    for (const chatId of channels) this.add(chatId, "group")
  }

  add(chatId: bigint, type: ChatType): ModelChat {
    const own = !isOfCommonBox(chatId)
    const chat: ModelChat = {
      chatId,
      type,
      messages: new Map(),
      box: own ? { position: 1, log: [] } : null,
      nextId: 1n,
      joinedAt: own ? this.seconds : null,
      left: false,
      visibleFrom: 1n,
      migratedTo: null,
      isSick: false,
      isSilent: own && this.drawn.chance(0.4)
    }
    this.chats.set(chatId, chat)
    return chat
  }

  get seconds(): number {
    return Math.floor(this.now / 1000)
  }

  visible(chat: ModelChat): ReadonlyArray<Content> {
    if (chat.left && chat.box !== null) return []
    return [...chat.messages.values()]
      .filter(({ expiresAt, id }) => id >= chat.visibleFrom && (expiresAt === null || expiresAt > this.seconds))
      .sort((one, other) => one.id < other.id ? -1 : 1)
  }

  seen(chat: ModelChat, { at, editedAt, expiresAt, id, text }: Content): MessageSeen {
    return {
      chatId: chat.chatId,
      record: {
        id,
        at,
        from: null,
        kind: "text",
        text,
        details: editedAt === null ? {} : { edited_at: editedAt }
      },
      editHidden: false,
      expiresAt: expiresAt === null ? null : new Date(expiresAt * 1000),
      files: []
    }
  }

  sighting(chat: ModelChat, withPosition: boolean): ChatSeen {
    const top = this.visible(chat).at(-1)
    return {
      chatId: chat.chatId,
      type: chat.type,
      ref: String(chat.chatId),
      title: null,
      username: null,
      members: chat.box === null ? null : 2,
      protected: false,
      // Answers other than dialogs may lack it.
      joinedAt: chat.joinedAt === null || !withPosition && this.drawn.chance(0.3)
        ? null
        : new Date(chat.joinedAt * 1000),
      left: chat.left,
      migratedTo: chat.migratedTo,
      topId: withPosition ? top?.id ?? null : null,
      position: withPosition ? chat.box?.position ?? null : null
    }
  }

  /** Moves the chat's box by a change, and pushes it as far as the platform cares to. */
  private moved(chat: ModelChat, kind: LogEntry["kind"], ids: ReadonlyArray<bigint>): void {
    const box = chat.box ?? this.common
    box.position += 1
    box.log = [...box.log, { position: box.position, chatId: chat.chatId, kind, ids }].slice(-this.logKept)
    if (this.pending === null || chat.left || this.drawn.chance(0.15)) return
    if (chat.isSilent && this.drawn.chance(0.9)) return
    const change = this.changeOf(chat, kind, ids)
    if (change === null) return
    const push: Push = {
      _tag: "Pushed",
      box: chat.box === null ? "common" : chat.chatId,
      position: box.position,
      count: 1,
      chats: this.drawn.chance(0.8) ? [this.sighting(chat, false)] : [],
      change
    }
    // Now and then one arrives after others, or twice.
    const place = this.drawn.chance(0.1) ? this.drawn.between(0, this.pending.length) : this.pending.length
    this.pending.splice(place, 0, push)
    if (this.drawn.chance(0.05)) this.pending.push(push)
  }

  private changeOf(chat: ModelChat, kind: LogEntry["kind"], ids: ReadonlyArray<bigint>): ChatChange | null {
    if (kind === "deleted") return { _tag: "Deleted", chatId: chat.box === null ? null : chat.chatId, ids }
    const found = this.visible(chat).find(({ id }) => id === ids[0])
    if (found === undefined) return null
    return { _tag: kind === "new" ? "New" : "Edited", message: this.seen(chat, found) }
  }

  send(chat: ModelChat, expiresIn: number | null): void {
    const id = chat.box === null ? this.nextId++ : chat.nextId++
    const at = this.seconds
    chat.messages.set(id, {
      id,
      at,
      text: `${chat.chatId}/${id}`,
      editedAt: null,
      expiresAt: expiresIn === null ? null : at + expiresIn
    })
    this.moved(chat, "new", [id])
  }

  /** Sends to the chat until something of it is pushed, to a session that is connected from now on. */
  sendUntilPushed(chat: ModelChat): ReadonlyArray<Push> {
    const pending: Array<Push> = []
    this.pending = pending
    while (pending.length === 0) this.send(chat, null)
    return pending
  }

  edit(chat: ModelChat): void {
    const found = this.drawn.oneOf([...chat.messages.values()].slice(-6))
    if (found === null) return
    chat.messages.set(found.id, { ...found, text: `${found.text}+`, editedAt: this.seconds })
    this.moved(chat, "edited", [found.id])
  }

  remove(chat: ModelChat, all: boolean): void {
    const ids = [...chat.messages.keys()]
    const one = this.drawn.oneOf(ids.slice(-6))
    const gone = all ? ids : one === null ? [] : [one]
    if (gone.length === 0) return
    for (const id of gone) chat.messages.delete(id)
    this.moved(chat, "deleted", gone)
  }

  leave(chat: ModelChat): void {
    chat.left = true
  }

  join(chat: ModelChat, isHidden: boolean): void {
    chat.left = false
    chat.joinedAt = this.seconds
    if (isHidden) chat.visibleFrom = chat.nextId
  }

  migrate(): void {
    const group = this.chats.get(basicGroup)
    if (group === undefined || group.migratedTo !== null) return
    group.migratedTo = successor
    this.add(successor, "group")
  }

  private changesAfter(box: Box, position: number, limit: number) {
    const first = box.log[0]?.position ?? box.position + 1
    if (position > box.position) return null
    if (position + 1 < first && position < box.position) return null
    const entries = box.log.filter((entry) => entry.position > position)
    const part = entries.slice(0, limit)
    const changes = part.flatMap(({ chatId, ids, kind }): ReadonlyArray<ChatChange> => {
      const chat = this.chats.get(chatId)
      const change = chat === undefined ? null : this.changeOf(chat, kind, ids)
      return change === null ? [] : [change]
    })
    return {
      changes,
      chats: [...new Set(part.map(({ chatId }) => chatId))].flatMap((chatId) => this.chats.get(chatId) ?? []),
      position: part.at(-1)?.position ?? box.position,
      more: part.length < entries.length
    }
  }

  private call<A, E = never>(answer: () => A | E, isFailure: (value: A | E) => value is E): Effect.Effect<A, E> {
    return Effect.flatMap(InTransaction, (isInside) => {
      if (isInside) return Effect.die(new Error("A9: a call is made inside a transaction"))
      const failure = this.fails()
      if (failure !== null) return Effect.fail(failure as any)
      const found = answer()
      return Effect.andThen(this.during, isFailure(found) ? Effect.fail(found) : Effect.succeed(found))
    })
  }

  private open(ref: string): ModelChat | ChatRefused | PlatformRefused {
    const chat = this.chats.get(BigInt(ref))
    if (chat === undefined) return new ChatRefused({ reason: "unknown" })
    if (chat.isSick) return new PlatformRefused({ reason: "HISTORY_GET_FAILED" })
    return chat.left && chat.box !== null ? new ChatRefused({ reason: "left" }) : chat
  }

  private state() {
    return { position: this.common.position, date: this.seconds, qts: 0 }
  }

  readonly feed: ChatFeed = {
    state: this.answer(() => this.state()),
    peers: (refs) =>
      this.answer(() => ({
        chats: refs.flatMap((ref) => {
          const chat = this.open(ref)
          return isRefused(chat) ? [] : [this.sighting(chat, true)]
        }),
        state: this.state()
      })),
    difference: (since) =>
      this.refusable(() => {
        const found = this.changesAfter(this.common, since.position, this.drawn.between(1, 12))
        if (found === null) return { _tag: "TooLong", state: this.state() }
        const touched = [...this.chats.values()].filter(({ box, left }) => box !== null && !left)
        return {
          _tag: "Since",
          chats: found.chats.map((chat) => this.sighting(chat, false)),
          changes: found.changes,
          channels: touched.filter(() => this.drawn.chance(0.5)).map((chat) => ({
            chat: this.sighting(chat, false),
            position: null
          })),
          state: { ...this.state(), position: found.position },
          more: found.more
        }
      }),
    channelDifference: (ref, since) =>
      this.refusable(() => {
        const chat = this.open(ref)
        if (isRefused(chat)) return chat
        if (chat.box === null || this.drawn.chance(0.02)) return new PositionRefused()
        const found = this.changesAfter(chat.box, since, this.drawn.between(1, 12))
        if (found === null) {
          return {
            _tag: "TooLong",
            chat: this.sighting(chat, true),
            messages: this.visible(chat).slice(-3).map((message) => this.seen(chat, message))
          }
        }
        return {
          _tag: "Since",
          chats: [this.sighting(chat, false)],
          changes: found.changes,
          position: found.position,
          more: found.more
        }
      })
  }

  private answer<A>(make: () => A): Effect.Effect<A> {
    return this.call<A>(make, (_value): _value is never => false)
  }

  private refusable<A>(make: () => A | ChatRefused | PlatformRefused | PositionRefused): Effect.Effect<A, any> {
    return this.call<A, any>(
      make,
      (value): value is any => isRefused(value) || value instanceof PositionRefused
    )
  }

  private dialogs(): ReadonlyArray<ModelChat> {
    const topAt = (chat: ModelChat) => this.visible(chat).at(-1)?.at ?? 0
    return [...this.chats.values()].filter(({ box, left }) => box === null || !left)
      .sort((one, other) => topAt(other) - topAt(one) || (one.chatId < other.chatId ? -1 : 1))
  }

  readonly reader: ChatReader = {
    // The next page begins after the last row's place, wherever the chats are by then.
    chats: (cursor) =>
      this.answer(() => {
        const all = this.dialogs()
        const after = cursor === null ? [] : cursor.split("/")
        const from = cursor === null ? 0 : all.findIndex((chat) => {
          const at = this.visible(chat).at(-1)?.at ?? 0
          return at < Number(after[0]) || at === Number(after[0]) && chat.chatId > BigInt(after[1] ?? 0)
        })
        const page = from === -1 ? [] : all.slice(from, from + 4)
        const last = page.at(-1)
        const next = last === undefined || from + page.length >= all.length
          ? null
          : `${this.visible(last).at(-1)?.at ?? 0}/${last.chatId}`
        return { chats: page.map((chat) => this.sighting(chat, true)), next, total: all.length }
      }),
    history: (ref, below, limit) =>
      this.refusable(() => {
        const chat = this.open(ref)
        if (isRefused(chat)) return chat
        const fewer = Math.min(limit, this.drawn.between(1, 8))
        const visible = this.visible(chat)
        const page = visible.filter(({ id }) => below === null || id < below).slice(-fewer).toReversed()
        return { messages: page.map((message) => this.seen(chat, message)), total: visible.length }
      }),
    messages: (ref, ids) =>
      this.refusable(() => {
        const chat = this.open(ref)
        if (isRefused(chat)) return chat
        return this.visible(chat).filter(({ id }) => ids.includes(id)).map((message) => this.seen(chat, message))
      }),
    members: (ref) =>
      this.refusable(() => {
        const chat = this.open(ref)
        return isRefused(chat) ? chat : { members: [], next: null }
      }),
    visibleFrom: (ref) =>
      this.refusable(() => {
        const chat = this.open(ref)
        return isRefused(chat) ? chat : chat.visibleFrom
      }),
    file: () => Stream.empty
  }
}
