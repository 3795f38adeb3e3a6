/** Searching: words, filters, and hits with marked words that lead into their chats. */
import type { ArchiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import type { Chat } from "../../domain/archive/Chat.ts"
import type { Hit } from "../ViewerCalls.ts"
import { button, fill, make, named, problem, status, tone } from "./Elements.ts"
import { editsIn } from "./MessageView.ts"
import { type MarkedWords, type OpenedArchive, reasonOf, senderOf, titleOf, wordsOf } from "./OpenedArchive.ts"
import { makeFilters } from "./SearchFilters.ts"
import { count, excerpt, plural, shortDay, textWith, timeOf } from "./Texts.ts"

export interface Search {
  readonly element: HTMLElement
  readonly setAccounts: (accounts: ReadonlyArray<ArchiveAccount>) => void
  readonly setChat: (chat: Chat) => void
  readonly focus: () => void
  /** Searches in the chat that was opened last. */
  readonly focusInChat: () => void
  readonly move: (by: 1 | -1) => void
  readonly isOpen: () => boolean
  readonly clear: () => void
}

export interface SearchEvents {
  readonly open: (chat: Chat, id: string, words: MarkedWords) => void
  readonly began: () => void
  readonly ended: () => void
}

const snippetSize = 160
/** Hits that are looked for before the next ones are asked for by hand. */
const enough = 10

const snippet = ({ message }: Hit): ReadonlyArray<Node> => {
  const { edits, matches } = message
  const shown = matches.find(({ field, revision }) =>
    revision === edits && ["text", "caption", "transcript"].includes(field)
  )
  const text = shown === undefined ? wordsOf(message) : shown.field === "caption"
    ? message.caption ?? ""
    : shown.field === "transcript"
    ? message.transcript ?? ""
    : message.text ?? ""
  const spans = shown === undefined
    ? []
    : matches.filter(({ field, revision }) => field === shown.field && revision === edits)
  const cut = excerpt(text, spans, snippetSize)
  return textWith(cut.text, cut.spans)
}

const hitElement = (hit: Hit, open: SearchEvents["open"]): HTMLElement => {
  const { chat, message } = hit
  const earlier = editsIn(message)
  const body = [
    make(
      "span",
      { class: "hit-head" },
      make("strong", {}, named(titleOf(chat))),
      make(
        "time",
        { class: "hint", datetime: message.sent_at.toISOString() },
        `${shortDay(message.sent_at)}, ${timeOf(message.sent_at)}`
      )
    ),
    make("span", { class: "hint" }, named(senderOf(message))),
    make("span", { class: "snippet", dir: "auto" }, ...withoutLinks(snippet(hit))),
    earlier === null ? null : tone("note", `Found ${earlier}`),
    message.deleted_at === null ? null : tone("danger", "Deleted on the messenger"),
    message.also_in.length === 0
      ? null
      : make("span", { class: "hint" }, `Also in ${plural(message.also_in.length, "other account")}`)
  ]
  return make(
    "li",
    {},
    chat === null
      ? make("div", { class: "hit" }, body)
      : button(body, () => open(chat, message.id, message.matches), { class: "hit" })
  )
}

/** Links stand in no button. */
const withoutLinks = (nodes: ReadonlyArray<Node>): ReadonlyArray<Node> =>
  nodes.map((node) => node instanceof HTMLAnchorElement ? document.createTextNode(node.textContent ?? "") : node)

export const makeSearch = (
  archive: OpenedArchive,
  shownAccounts: () => ReadonlyArray<string>,
  { began, ended, open }: SearchEvents
): Search => {
  let isOpen = false
  let turn = 0
  const input = make("input", {
    type: "search",
    id: "query",
    placeholder: "Search messages",
    "aria-label": "Search messages",
    autocomplete: "off",
    maxlength: 200
  })
  const filters = makeFilters(archive, shownAccounts, () => {
    if (isOpen) void run(true)
  })
  const hits = make("ol", { class: "hits", "aria-label": "Hits" })
  const said = make("div", { class: "said" })
  const foot = make("div", { class: "foot" })
  const found = make("div", { class: "found", hidden: true }, said, hits, foot)
  const form = make(
    "form",
    { class: "search-form", role: "search" },
    make("div", { class: "row" }, input, make("button", { class: "main" }, "Search")),
    filters.element
  )
  const element = make("div", { class: "search-box" }, form, found)

  let sums = { hits: 0, searched: 0, unreadable: 0 }

  const run = async (first: boolean): Promise<void> => {
    turn += 1
    const own = turn
    if (first) {
      sums = { hits: 0, searched: 0, unreadable: 0 }
      hits.replaceChildren()
    }
    fill(said, status(sums.searched === 0 ? "Searching …" : `Searching … ${count(sums.searched)} messages covered.`))
    foot.replaceChildren()
    try {
      const answer = await archive.call(
        "search",
        first ? { query: input.value, ...filters.asked() } : null
      )
      if (own !== turn || !isOpen) return
      sums = {
        hits: sums.hits + answer.hits.length,
        searched: sums.searched + answer.searched,
        unreadable: sums.unreadable + answer.unreadable
      }
      filters.addSenders(answer.hits)
      hits.append(...answer.hits.map((hit) => hitElement(hit, open)))
      fill(
        said,
        status(
          answer.hasMore
            ? `${plural(sums.hits, "hit")} so far, newest first; ${count(sums.searched)} messages covered.`
            : `${sums.hits === 0 ? "Nothing found" : plural(sums.hits, "hit")} in ${plural(sums.searched, "message")}.`
        ),
        sums.unreadable === 0 ? null : tone("caution", `${plural(sums.unreadable, "page")} not readable`)
      )
      // The time of a call was over before it found enough: it goes on by itself.
      if (answer.hasMore && !answer.complete && sums.hits < enough) return void run(false)
      fill(foot, answer.hasMore ? button("More", () => void run(false)) : null)
    } catch (error) {
      if (own === turn) fill(said, problem(reasonOf(error)))
    }
  }

  const clear = (): void => {
    turn += 1
    isOpen = false
    found.hidden = true
    input.value = ""
    hits.replaceChildren()
    ended()
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (input.value.trim() === "") return clear()
    isOpen = true
    found.hidden = false
    began()
    void run(true)
  })
  input.addEventListener("input", () => {
    if (input.value === "" && isOpen) clear()
  })

  const focus = (): void => {
    input.focus()
    input.select()
  }

  return {
    element,
    setAccounts: filters.setAccounts,
    setChat: filters.setChat,
    focus,
    focusInChat: () => {
      filters.chooseChat()
      focus()
    },
    move: (by) => {
      const rows = [...hits.querySelectorAll<HTMLElement>("button.hit")]
      const at = rows.findIndex((row) => row === document.activeElement)
      ;(at === -1 ? rows.at(by === 1 ? 0 : -1) : rows[at + by])?.focus()
    },
    isOpen: () => isOpen,
    clear
  }
}
