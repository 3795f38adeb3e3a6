/** The chats of an account, and those that wait for a decision about them. */
import type { ArchiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import type { Chat } from "../../domain/archive/Chat.ts"
import { makeDecisions } from "./ChatDecisions.ts"
import { button, fill, labelled, make, named, problem, status, tone } from "./Elements.ts"
import { type OpenedArchive, reasonOf, titleOf } from "./OpenedArchive.ts"
import { plural, shortDay } from "./Texts.ts"

export interface ChatList {
  readonly element: HTMLElement
  /** The accounts whose chats are shown: one. */
  readonly accounts: () => ReadonlyArray<string>
  /** Begins with the chats of the chosen account, or of the first that has any. */
  readonly setAccounts: (accounts: ReadonlyArray<ArchiveAccount>, chosen: string) => void
  readonly mark: (chat: Chat | null) => void
  readonly move: (by: 1 | -1) => void
  readonly focus: () => void
  readonly show: (shown: boolean) => void
}

const kinds: Readonly<Record<Chat["type"], string>> = {
  private: "Private",
  group: "Group",
  channel: "Channel",
  bot: "Bot",
  saved: "Notes"
}

const factsOf = ({ last_message_at, messages, type }: Chat): string =>
  [
    kinds[type],
    plural(messages, "message"),
    ...(last_message_at === null ? [] : [shortDay(last_message_at)])
  ].join(" · ")

export const makeChatList = (archive: OpenedArchive, open: (chat: Chat) => void): ChatList => {
  let accountId: string | null = null
  let chats: ReadonlyArray<Chat> = []
  let hasMore = false
  let unreadable = 0
  let refused: string | null = null
  let marked: string | null = null
  const list = make("ul", { class: "chats", "aria-label": "Chats" })
  const foot = make("div", { class: "foot" })
  const account = make("select", { id: "account" })
  const review = make("div", {})
  const element = make("div", { class: "chat-list" }, labelled("Account", account), review, list, foot)

  const rowOf = (chat: Chat): HTMLElement =>
    make(
      "li",
      {},
      button(
        [
          make("strong", {}, named(titleOf(chat))),
          make("span", { class: "hint" }, factsOf(chat)),
          chat.effect === "review" ? tone("caution", "To review") : null,
          chat.effect === "skip" ? tone("off", "Not archived") : null
        ],
        () => open(chat),
        { class: "chat", "data-id": chat.id, "aria-current": chat.id === marked ? "true" : undefined }
      )
    )

  const draw = (): void => {
    list.replaceChildren(...chats.map(rowOf))
    const waiting = chats.filter(({ effect }) => effect === "review")
    fill(review, waiting.length === 0 ? null : makeDecisions(archive, waiting, refused, decided))
    fill(
      foot,
      chats.length === 0 && !hasMore ? make("p", { class: "empty" }, "No chat of this account is archived.") : null,
      unreadable === 0 ? null : tone("caution", `${plural(unreadable, "title")} not readable`),
      hasMore ? button("More chats", () => void more()) : null
    )
  }

  const decided = (ids: ReadonlySet<string>, effect: Chat["effect"], reason: string | null): void => {
    refused = reason
    chats = chats.map((chat) => ids.has(chat.id) ? { ...chat, effect, selected: effect === "archive" } : chat)
    draw()
  }

  const more = async (): Promise<void> => {
    if (accountId === null) return
    const asked = accountId
    fill(foot, status("Opening chats …"))
    try {
      const found = await archive.call("chats", { accountId: asked, after: chats.at(-1)?.id ?? null })
      if (asked !== accountId) return
      chats = [...chats, ...found.chats]
      hasMore = found.hasMore
      unreadable += found.unreadable
      draw()
    } catch (error) {
      if (asked === accountId) fill(foot, problem(reasonOf(error)))
    }
  }

  const choose = (id: string): void => {
    accountId = id
    chats = []
    unreadable = 0
    refused = null
    list.replaceChildren()
    review.replaceChildren()
    void more()
  }
  account.addEventListener("change", () => choose(account.value))

  return {
    element,
    accounts: () => accountId === null ? [] : [accountId],
    setAccounts: (accounts, chosen) => {
      const kept = [...accounts].sort((one, other) => Number(other.chats > 0) - Number(one.chats > 0))
      fill(
        account,
        kept.map(({ id, messages, name }) => make("option", { value: id }, `${name} (${plural(messages, "message")})`))
      )
      const first = kept.find(({ id }) => id === chosen) ?? kept[0]
      if (first === undefined) fill(element, make("p", { class: "empty" }, "You can access no account."))
      else {
        account.value = first.id
        choose(first.id)
      }
    },
    mark: (chat) => {
      marked = chat?.id ?? null
      for (const row of list.querySelectorAll("button.chat")) {
        if (row.getAttribute("data-id") === marked) row.setAttribute("aria-current", "true")
        else row.removeAttribute("aria-current")
      }
    },
    move: (by) => {
      const rows = [...list.querySelectorAll<HTMLElement>("button.chat")]
      const at = rows.findIndex((row) => row === document.activeElement)
      ;(at === -1 ? rows.at(by === 1 ? 0 : -1) : rows[at + by])?.focus()
    },
    focus: () => {
      const rows = list.querySelectorAll<HTMLElement>("button.chat")
      ;(rows[0] ?? account).focus()
    },
    show: (shown) => {
      element.hidden = !shown
    }
  }
}
