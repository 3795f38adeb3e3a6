/** The filters of a search: accounts or the chat that was opened last, sender, days and kind. */
import type { ArchiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import type { Chat } from "../../domain/archive/Chat.ts"
import type { MessageKind } from "../../domain/archive/Records.ts"
import type { Hit, SearchAsk } from "../ViewerCalls.ts"
import { fill, labelled, make, named } from "./Elements.ts"
import { type OpenedArchive, senderOf, titleOf } from "./OpenedArchive.ts"
import { excerpt, shortDay } from "./Texts.ts"

export interface SearchFilters {
  readonly element: HTMLElement
  readonly asked: () => Omit<SearchAsk, "query">
  readonly setAccounts: (accounts: ReadonlyArray<ArchiveAccount>) => void
  /** Offers the chat to search in. */
  readonly setChat: (chat: Chat) => void
  /** Searches in the chat that was opened last, if one was. */
  readonly chooseChat: () => void
  /** Offers the senders of hits. */
  readonly addSenders: (hits: ReadonlyArray<Hit>) => void
}

const kinds: Readonly<Record<MessageKind, string>> = {
  text: "Texts",
  photo: "Photos",
  video: "Videos",
  voice: "Voice messages",
  document: "Documents",
  sticker: "Stickers",
  location: "Places",
  contact: "Contacts",
  poll: "Polls",
  service: "Service messages",
  other: "Others"
}

const isKind = (text: string): text is MessageKind => Object.hasOwn(kinds, text)

const limitSize = 40

const option = (value: string, text: string): HTMLOptionElement => make("option", { value }, text)

const chosen = ({ selectedOptions, value }: HTMLSelectElement): ReadonlyArray<string> =>
  value === "" ? [] : [selectedOptions[0]?.text ?? ""]

/** `changed` is called where something else was chosen from a list. */
export const makeFilters = (
  archive: OpenedArchive,
  shownAccounts: () => ReadonlyArray<string>,
  changed: () => void
): SearchFilters => {
  let accounts: ReadonlyArray<ArchiveAccount> = []
  /** The chat that was opened last, and the one that is offered. */
  let opened: Chat | null = null
  let chat: Chat | null = null
  const people = new Map<string, string>()

  const where = make("select", { id: "where" }, option("", "All accounts"), option("account", "This account"))
  const inChat = option("chat", "")
  const sender = make("select", { id: "sender" }, option("", "Anyone"))
  const since = make("input", { type: "date", id: "since" })
  const until = make("input", { type: "date", id: "until" })
  const kind = make(
    "select",
    { id: "kind" },
    option("", "Any kind"),
    Object.entries(kinds).map(([value, text]) => option(value, text))
  )
  const summary = make("summary", {}, "Filters")
  const element = make(
    "details",
    {},
    summary,
    make(
      "div",
      { class: "filters" },
      labelled("In", where),
      labelled("Sender", sender),
      labelled("Kind", kind),
      labelled("From", since),
      labelled("Until", until)
    )
  )

  /** Says what limits the search, also where the filters are folded. */
  const summarize = (): void => {
    const days = [since, until].map(({ value }) => value === "" ? "" : shortDay(new Date(value)))
    const limits = [
      ...chosen(where),
      ...chosen(sender),
      ...(days.join("") === "" ? [] : [days.join(" – ").trim()]),
      ...chosen(kind)
    ]
    fill(summary, "Filters", limits.map((limit) => [" · ", named(excerpt(limit, [], limitSize).text)]))
  }
  element.addEventListener("change", ({ target }) => {
    summarize()
    if (target === where) {
      offerChat()
      void offerMembers()
    }
    // A day changes with every digit that is typed.
    if (target instanceof HTMLSelectElement) changed()
  })

  const offer = (found: ReadonlyArray<readonly [id: string, name: string]>): void => {
    for (const [id, name] of found) if (!people.has(id)) people.set(id, name)
    const { value } = sender
    const sorted = [...people].sort(([, one], [, other]) => one.localeCompare(other))
    fill(sender, option("", "Anyone"), sorted.map(([id, name]) => option(id, name)))
    sender.value = value
  }

  /** The chat of a search stays, where its hits lead into others too. */
  const offerChat = (): void => {
    if (opened === null || where.value === "chat") return
    chat = opened
    fill(inChat, `Chat: ${titleOf(chat)}`)
    where.append(inChat)
  }

  const offerMembers = async (): Promise<void> => {
    if (where.value !== "chat" || chat === null) return
    const place = { accountId: chat.account_id, chatId: chat.id }
    // Without them the senders of hits are offered all the same.
    const { members } = await archive.call("members", place).catch(() => ({ members: [] }))
    offer(members.map(({ id, name }) => [id, name]))
  }

  return {
    element,
    asked: () => {
      const inside = where.value === "chat" ? chat : null
      return {
        accountIds: inside !== null
          ? [inside.account_id]
          : where.value === "account"
          ? shownAccounts()
          : accounts.map(({ id }) => id),
        chatId: inside?.id ?? null,
        fromId: sender.value === "" ? null : sender.value,
        kind: isKind(kind.value) ? kind.value : null,
        since: since.value === "" ? null : since.value,
        until: until.value === "" ? null : until.value
      }
    },
    setAccounts: (all) => {
      accounts = all
    },
    setChat: (shown) => {
      opened = shown
      offerChat()
    },
    chooseChat: () => {
      if (opened === null) return
      where.value = ""
      offerChat()
      where.value = "chat"
      summarize()
      void offerMembers()
    },
    addSenders: (hits) => {
      const found = hits.flatMap(({ message }) =>
        message.from === null ? [] : [[message.from.id, senderOf(message)] as const]
      )
      offer(found)
    }
  }
}
