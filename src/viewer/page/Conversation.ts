/** A chat as a conversation: a part of it at a time, which grows where it is scrolled to. */
import type { Chat } from "../../domain/archive/Chat.ts"
import type { ShownMessage } from "../ViewerCalls.ts"
import { button, fill, make, named, problem, status, tone } from "./Elements.ts"
import { makePreviews } from "./FilePreviews.ts"
import { messageElement, type MessageView } from "./MessageView.ts"
import { type MarkedWords, type OpenedArchive, reasonOf, titleOf } from "./OpenedArchive.ts"
import { dayOf, plural, shortDay } from "./Texts.ts"

/** Messages in the page at most: those that are furthest away leave it. */
const most = 360
/** Pixels from an end of the list at which more is asked for. */
const near = 900

/** The place to begin at: the newest, a message with marked words, or a day. */
export type Beginning =
  | { readonly at: "newest" }
  | { readonly at: "message"; readonly id: string; readonly marked: MarkedWords | null }
  | { readonly at: "day"; readonly day: string }

export interface Conversation {
  readonly element: HTMLElement
  readonly move: (by: 1 | -1) => void
  readonly close: () => void
}

export interface ConversationEvents {
  readonly back: () => void
  readonly search: () => void
}

/** An end of what is shown: true if more follows there, beyond the last message or beyond an id. */
interface End {
  more: boolean
  next: string | null
}

const chatTypes: Readonly<Record<Chat["type"], string>> = {
  private: "Private chat",
  group: "Group",
  channel: "Channel",
  bot: "Bot",
  saved: "Own notes"
}

const factsOf = (chat: Chat): string =>
  [
    chatTypes[chat.type],
    ...(chat.username === null ? [] : [`@${chat.username}`]),
    ...(chat.members_count === null ? [] : [plural(chat.members_count, "member")]),
    plural(chat.messages, "message"),
    ...(chat.first_message_at === null || chat.last_message_at === null
      ? []
      : [[...new Set([chat.first_message_at, chat.last_message_at].map(shortDay))].join(" to ")])
  ].join(" · ")

const isOfAlbum = (one: ShownMessage | undefined, other: ShownMessage): boolean =>
  one !== undefined && other.album_id !== null && one.album_id === other.album_id

const isSameSpeaker = (one: ShownMessage | undefined, other: ShownMessage): boolean =>
  one !== undefined && one.from?.id === other.from?.id && one.kind !== "service" && other.kind !== "service" &&
  other.sent_at.getTime() - one.sent_at.getTime() < 10 * 60 * 1000

export const openConversation = (
  archive: OpenedArchive,
  chat: Chat,
  beginning: Beginning,
  { back, search }: ConversationEvents
): Conversation => {
  const place = { accountId: chat.account_id, chatId: chat.id }
  const views = new Map<string, MessageView>()
  const previews = makePreviews()
  let messages: ReadonlyArray<ShownMessage> = []
  let unreadable = 0
  let closed = false
  let loading = false
  const ends: { older: End; newer: End } = { older: { more: true, next: null }, newer: { more: true, next: null } }

  const list = make("ol", { class: "messages", "aria-label": "Messages" })
  const top = make("div", { class: "end" })
  const bottom = make("div", { class: "end" })
  const scroller = make(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": "Conversation" },
    top,
    list,
    bottom
  )
  const note = make("div", { class: "unread" })

  const viewOf = (message: ShownMessage): MessageView => {
    const known = views.get(message.id)
    if (known !== undefined) return known
    const made = messageElement(archive, chat, message, {
      jump: (id) => void go({ at: "message", id, marked: null }),
      find: (id) => messages.find((each) => each.id === id) ?? null,
      previews
    })
    views.set(message.id, made)
    return made
  }

  const clear = (): void => {
    for (const view of views.values()) view.close()
    views.clear()
  }

  const draw = (): void => {
    const rows: Array<HTMLElement> = []
    let before: ShownMessage | undefined
    for (const message of messages) {
      const day = dayOf(message.sent_at)
      if (before === undefined || dayOf(before.sent_at) !== day) {
        rows.push(make("li", { class: "day" }, make("h3", {}, day)))
        before = undefined
      }
      const { element } = viewOf(message)
      element.classList.toggle("follows", isSameSpeaker(before, message))
      element.classList.toggle("album", isOfAlbum(before, message))
      rows.push(element)
      before = message
    }
    list.replaceChildren(...rows)
    const shown = new Set(messages.map(({ id }) => id))
    for (const [id, view] of views) {
      if (shown.has(id)) continue
      view.close()
      views.delete(id)
    }
    fill(
      top,
      ends.older.more
        ? status("Earlier messages …")
        : status(chat.complete ? "This is the beginning of the chat." : "Nothing earlier is archived.")
    )
    fill(bottom, ends.newer.more ? status("Later messages …") : null)
    fill(
      note,
      unreadable === 0
        ? null
        : tone(
          "caution",
          `${plural(unreadable, "message")} here ${unreadable === 1 ? "is" : "are"} not readable with this password`
        )
    )
  }

  /** Draws while what is read stays where it is on the screen. */
  const drawInPlace = (): void => {
    const line = scroller.getBoundingClientRect().top
    const anchor = [...views.values()].find(({ element }) =>
      element.isConnected && element.getBoundingClientRect().bottom > line
    )
    const before = anchor?.element.getBoundingClientRect().top ?? 0
    draw()
    if (anchor?.element.isConnected === true) {
      scroller.scrollTop += anchor.element.getBoundingClientRect().top - before
    }
  }

  const grow = async (direction: "older" | "newer"): Promise<void> => {
    const end = ends[direction]
    if (loading || closed || !end.more) return
    loading = true
    try {
      const last = direction === "older" ? messages[0] : messages.at(-1)
      const found = await archive.call("messages", {
        ...place,
        direction,
        bound: end.next ?? last?.id ?? null,
        since: null
      })
      if (closed) return
      unreadable += found.unreadable
      end.more = found.hasMore
      end.next = found.messages.length === 0 ? found.next : null
      const joined = direction === "older" ? [...found.messages, ...messages] : [...messages, ...found.messages]
      const cut = joined.length - most
      messages = cut <= 0 ? joined : direction === "older" ? joined.slice(0, most) : joined.slice(cut)
      if (cut > 0) ends[direction === "older" ? "newer" : "older"] = { more: true, next: null }
      drawInPlace()
    } catch (error) {
      if (!closed) fill(direction === "older" ? top : bottom, problem(reasonOf(error)))
      return
    } finally {
      loading = false
    }
    look()
  }

  const look = (): void => {
    if (scroller.scrollTop < near) void grow("older")
    else if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < near) void grow("newer")
  }
  scroller.addEventListener("scroll", look, { passive: true })

  const focusOn = (id: string, marked: MarkedWords | null): void => {
    const view = views.get(id)
    if (view === undefined) return
    if (marked !== null) view.mark(marked)
    view.element.scrollIntoView({ block: "center" })
    view.element.focus({ preventScroll: true })
    view.element.classList.add("reached")
    setTimeout(() => view.element.classList.remove("reached"), 2500)
  }

  const ask = async (to: Beginning) => {
    if (to.at === "message") {
      const found = await archive.call("around", { ...place, id: to.id })
      return found ?? null
    }
    const found = await archive.call("messages", {
      ...place,
      direction: to.at === "day" ? "newer" : "older",
      bound: null,
      since: to.at === "day" ? to.day : null
    })
    return to.at === "day"
      ? { ...found, hasMore: true, hasNewer: found.hasMore }
      : { ...found, hasNewer: false }
  }

  const go = async (to: Beginning): Promise<void> => {
    if (to.at === "message" && views.has(to.id)) return focusOn(to.id, to.marked)
    fill(bottom, status("Opening …"))
    try {
      const found = await ask(to)
      if (closed) return
      if (found === null) {
        fill(note, tone("caution", "This message is not archived, or is not readable."))
        return
      }
      messages = found.messages
      unreadable = found.unreadable
      ends.older = { more: found.hasMore, next: null }
      ends.newer = { more: found.hasNewer, next: null }
      clear()
      draw()
      if (messages.length === 0) {
        fill(top, null)
        fill(
          bottom,
          make(
            "p",
            { class: "empty" },
            to.at === "day" ? "Nothing was sent on that day or later." : "No message of this chat is archived."
          )
        )
        return
      }
      if (to.at === "message") focusOn(to.id, to.marked)
      else scroller.scrollTop = to.at === "day" ? 0 : scroller.scrollHeight
      look()
    } catch (error) {
      if (!closed) fill(bottom, problem(reasonOf(error)))
    }
  }

  const day = make("input", {
    type: "date",
    id: "go-to-day",
    "aria-label": "Go to a day",
    min: chat.first_message_at?.toISOString().slice(0, 10),
    max: chat.last_message_at?.toISOString().slice(0, 10)
  })
  day.addEventListener("change", () => {
    if (day.value !== "") void go({ at: "day", day: day.value })
  })

  const move = (by: 1 | -1): void => {
    const rows = messages.flatMap(({ id }) => views.get(id)?.element ?? [])
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    const next = at === -1 ? rows.at(by === 1 ? 0 : -1) : rows[at + by]
    next?.scrollIntoView({ block: "nearest" })
    next?.focus({ preventScroll: true })
  }

  const element = make(
    "section",
    { class: "conversation", "aria-labelledby": "chat-title" },
    make(
      "header",
      {},
      button("Back", back, { class: "back-to-list" }),
      make(
        "div",
        { class: "chat-facts" },
        make("h2", { id: "chat-title", tabindex: -1, title: titleOf(chat) }, named(titleOf(chat))),
        make("p", { class: "hint" }, factsOf(chat))
      ),
      make(
        "div",
        { class: "tools" },
        button("Search", search, { title: "Search in this chat" }),
        button("Newest", () => void go({ at: "newest" })),
        day,
        make(
          "a",
          {
            href: `archive-exports?account=${encodeURIComponent(chat.account_id)}&chat=${encodeURIComponent(chat.id)}`
          },
          "Export …"
        )
      )
    ),
    note,
    scroller
  )
  void go(beginning)
  return {
    element,
    move,
    close: () => {
      closed = true
      clear()
      previews.close()
    }
  }
}
