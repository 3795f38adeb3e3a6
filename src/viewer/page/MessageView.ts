/** One message of a conversation, with its revisions where they are asked for. */
import type { Chat } from "../../domain/archive/Chat.ts"
import { reactionWords } from "../../domain/archive/Reactions.ts"
import type { FoundMessage } from "../../domain/archive/SearchResult.ts"
import type { ShownMessage } from "../ViewerCalls.ts"
import { button, fill, make, named, problem, status, tone } from "./Elements.ts"
import type { FilePreviews } from "./FilePreviews.ts"
import { type FileElement, fileElement } from "./FileView.ts"
import { type MarkedWords, type OpenedArchive, reasonOf, senderOf, wordsOf } from "./OpenedArchive.ts"
import { revisionsElement } from "./SideBySide.ts"
import { excerpt, momentOf, plural, type Span, textWith, timeOf } from "./Texts.ts"

export interface MessageView {
  readonly element: HTMLLIElement
  readonly mark: (words: MarkedWords) => void
  readonly close: () => void
}

/** The conversation around a message. */
export interface Surroundings {
  readonly jump: (id: string) => void
  readonly find: (id: string) => ShownMessage | null
  readonly previews: FilePreviews
}

type Field = MarkedWords[number]["field"]

const quoteSize = 120

const spansOf = (words: MarkedWords, field: Field, revision: number): ReadonlyArray<Span> =>
  words.filter((word) => word.field === field && word.revision === revision)

const paragraph = (kind: string, text: string | null, spans: ReadonlyArray<Span>): HTMLElement | null =>
  text === null || text === "" ? null : make("p", { class: kind, dir: "auto" }, ...textWith(text, spans))

const replyTo = ({ find, jump }: Surroundings, id: string): HTMLElement => {
  const answered = find(id)
  const shown = answered === null
    ? "Go to the message that this answers"
    : [
      make("strong", {}, named(senderOf(answered))),
      make("span", { dir: "auto" }, excerpt(wordsOf(answered), [], quoteSize).text)
    ]
  return button(shown, () => jump(id), { class: "reply" })
}

/** The form that takes the message out of the archive, on the console's own page. */
const redaction = ({ account_id, id }: Chat, messageId: string): HTMLElement => {
  const query = new URLSearchParams({ account: account_id, chat: id, message: messageId })
  const name = `Redact message ${messageId} …`
  return make(
    "a",
    { class: "redact", href: `archive-redactions?${query}`, "aria-label": name, title: name },
    "Redact …"
  )
}

const list = (title: string, lines: ReadonlyArray<string>): HTMLElement =>
  make(
    "div",
    { class: "more" },
    make("strong", {}, title),
    make("ul", {}, lines.map((line) => make("li", { dir: "auto" }, ...textWith(line))))
  )

/** The content of a message, with marked words. */
const contentOf = (
  message: ShownMessage,
  files: ReadonlyArray<FileElement>,
  around: Surroundings,
  words: MarkedWords
) => {
  const { caption, details, edits, forwarded_from, kind, reply_to_id, text, transcript } = message
  const spans = (field: Field) => spansOf(words, field, edits)
  return [
    forwarded_from === null
      ? null
      : make("p", { class: "forward" }, "Forwarded from ", make("strong", {}, named(forwarded_from))),
    reply_to_id === null ? null : replyTo(around, reply_to_id),
    files.length === 0 ? null : make("ul", { class: "files" }, files.map(({ element }) => element)),
    paragraph("text", text, spans("text")),
    paragraph("text", caption, spans("caption")),
    transcript === null ? null : make(
      "div",
      { class: "more" },
      make("strong", {}, "Transcript"),
      paragraph("text", transcript, spans("transcript"))
    ),
    paragraph("service", details.service ?? null, spans("service")),
    details.sticker === undefined ? null : list("Sticker", [details.sticker.emoji ?? details.sticker.id]),
    details.poll === undefined ? null : list("Poll", details.poll),
    details.contact === undefined ? null : list("Contact", details.contact),
    details.reactions === undefined
      ? null
      : list("Reactions", details.reactions.map(reactionWords)),
    text === null && caption === null && transcript === null && files.length === 0 && details.service === undefined &&
      details.sticker === undefined && details.poll === undefined && details.contact === undefined
      ? message.redacted_at !== null
        ? null
        : make(
          "p",
          { class: "hint" },
          kind === "text" ? "An empty message." : `A ${kind}, of which no text is archived.`
        )
      : null
  ]
}

export const messageElement = (
  archive: OpenedArchive,
  chat: Chat,
  message: ShownMessage,
  around: Surroundings
): MessageView => {
  const { deleted_at, edited_at, edits, id, outgoing, redacted_at, sent_at } = message
  const files = message.files.map((file) => fileElement(archive, file, around.previews))
  let words: MarkedWords = []
  const content = make("div", { class: "content" })
  const revisions = make("div", { class: "revisions" })

  const showRevisions = async (): Promise<void> => {
    fill(revisions, status("Opening the revisions …"))
    try {
      const found = await archive.call("edits", { accountId: chat.account_id, chatId: chat.id, id })
      fill(revisions, revisionsElement(found, words))
    } catch (error) {
      fill(revisions, problem(reasonOf(error)))
    }
    opener?.setAttribute("aria-expanded", "true")
  }

  const toggle = (): void => {
    if (revisions.childElementCount === 0) return void showRevisions()
    revisions.replaceChildren()
    opener?.setAttribute("aria-expanded", "false")
  }

  const opener = edits === 0 ? null : button(`Edited${edits > 1 ? ` ${edits} times` : ""}`, toggle, {
    class: "link edited",
    "aria-expanded": "false",
    title: "Show the revisions side by side"
  })

  fill(content, contentOf(message, files, around, words))
  const element = make(
    "li",
    {
      class: `message${outgoing ? " outgoing" : ""}${deleted_at === null ? "" : " deleted"}${
        message.details.service === undefined ? "" : " of-service"
      }`,
      tabindex: -1,
      "data-id": id
    },
    make(
      "div",
      { class: "bubble" },
      make(
        "p",
        { class: "who-and-when" },
        make("strong", { class: "sender" }, named(senderOf(message))),
        opener ??
          (edited_at === null ? null : make("span", { title: momentOf(edited_at) }, "edited before it was archived")),
        archive.redacts && redacted_at === null ? redaction(chat, id) : null,
        make("time", { datetime: sent_at.toISOString(), title: `${momentOf(sent_at)}, message ${id}` }, timeOf(sent_at))
      ),
      content,
      deleted_at === null
        ? null
        : make("p", { class: "gone" }, tone("danger", "Deleted on the messenger"), ` noticed ${momentOf(deleted_at)}`),
      redacted_at === null ? null : make("p", { class: "gone" }, tone("off", "Redacted"), ` ${momentOf(redacted_at)}`),
      revisions
    )
  )
  return {
    element,
    mark: (found) => {
      words = found
      fill(content, contentOf(message, files, around, found))
      if (edits > 0 && found.length > 0 && found.every(({ revision }) => revision !== edits)) void showRevisions()
    },
    close: () => {
      for (const file of files) file.close()
    }
  }
}

/** The files of a search's words, as a text says them. */
export const editsIn = (message: FoundMessage): string | null =>
  message.edits === 0 || message.matches.some(({ revision }) => revision === message.edits)
    ? null
    : `in an earlier one of ${plural(message.edits + 1, "revision")}`
