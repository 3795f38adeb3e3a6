/** Chats as pages that are read offline, on a phone and on paper: no script, nothing from elsewhere, all text escaped. */
import { html as template, raw } from "hono/html"
import {
  allReactions,
  chatTitle,
  exportDay,
  type ExportedChat,
  type ExportedFile,
  type ExportedMessage,
  exportTime,
  otherWords,
  senderName
} from "./ExportedChat.ts"
import { addressOf } from "./ExportNames.ts"
import { isolated, pageStyle } from "./HtmlStyle.ts"

/** Messages of one page. */
export const messagesPerHtmlPage = 1000

type Markup = ReturnType<typeof raw>
type Value = Markup | string | number | null | ReadonlyArray<Value>

/** Markup from a template, whose values are escaped. */
const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Markup => {
  const made = template(strings, ...values)
  if (made instanceof Promise) throw new Error("Markup that waits for a promise")
  return made
}

const nothing = html``

/** The name of a page of a chat, from 0. */
export const htmlPageName = (page: number): string => page === 0 ? "messages.html" : `messages${page + 1}.html`

const frame = (title: string, body: Markup): string =>
  String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:; media-src 'self' file:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${isolated(title)}</title><style>${raw(pageStyle)}</style></head>
<body>${body}</body></html>
`)

/** Text of others: as it is, in a direction of its own, and without characters that are not shown. */
const said = (text: string): Markup => html`<div class="text" dir="auto">${isolated(text)}</div>`

const named = (text: string): Markup => html`<bdi>${isolated(text)}</bdi>`

const sizeOf = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
    ? `${Math.ceil(bytes / 1024)} KB`
    : `${Math.ceil(bytes / 1024 ** 2)} MB`

const pictures: ReadonlySet<string> = new Set(["image/gif", "image/jpeg", "image/png", "image/webp"])

const fileOf = (file: ExportedFile): Markup => {
  const name = file.name ?? "File"
  if (file.path === null) {
    return html`<div class="file">${named(name)} <small>${isolated(file.mime_type)}, ${sizeOf(file.bytes)}: ${
      file.state === "saved" ? "not included in this export" : `content not archived (${file.state})`
    }</small></div>`
  }
  const address = addressOf(file.path)
  const shown = pictures.has(file.mime_type)
    ? html`<a href="${address}"><img loading="lazy" alt="" src="${address}"></a>`
    : nothing
  return html`<div class="file">${shown}<a href="${address}" download>${named(name)}</a> <small>${
    isolated(file.mime_type)
  }, ${sizeOf(file.bytes)}</small></div>`
}

const revisionsOf = ({ editsLeftOut, lostEdits, revisions }: ExportedMessage): Markup => {
  const earlier = revisions.slice(0, -1)
  const lost = lostEdits === 0 ? nothing : html`<p class="mark">${lostEdits} edits could not be read.</p>`
  const leftOut = editsLeftOut === 0
    ? nothing
    : html`<p class="mark">${editsLeftOut} edits before the last one are not included in this export.</p>`
  if (earlier.length === 0) return html`${lost}${leftOut}`
  return html`<details open class="edits"><summary>Earlier versions: ${earlier.length}</summary>${
    earlier.map((revision) =>
      html`<div class="edit"><small>${
        revision.edited_at === null ? "As first seen" : `Edited ${revision.edited_at.toISOString().slice(0, 19)}Z`
      }</small>${said(revision.text ?? revision.caption ?? "")}</div>`
    )
  }</details>${lost}${leftOut}`
}

/** The address of another message of the chat. */
export type AddressOfMessage = (id: string) => { readonly address: string; readonly quote: string | null } | null

const replyOf = (id: string, addresses: AddressOfMessage): Markup => {
  const found = addresses(id)
  if (found === null) {
    return html`<div class="reply">In reply to message ${isolated(id)}, which is not in this part</div>`
  }
  return html`<div class="reply"><a href="${found.address}">In reply to message ${isolated(id)}</a>${
    found.quote === null ? nothing : html`<div dir="auto">${isolated(found.quote)}</div>`
  }</div>`
}

const messageOf = (message: ExportedMessage, addresses: AddressOfMessage): Markup => {
  const { deletedAt, details, revisions } = message
  const lastEdit = revisions.at(-1)?.edited_at ?? null
  const reactions = allReactions(details)
  const classes = [
    "message",
    ...(details.outgoing === true ? ["out"] : []),
    ...(deletedAt === null ? [] : ["deleted"])
  ].join(" ")
  return html`<article class="${classes}" id="m${String(message.id)}">
<header><strong>${named(senderName(message.from))}</strong> ${
    message.from?.username === null || message.from?.username === undefined
      ? nothing
      : html`<small>${named(`@${message.from.username}`)}</small>`
  } <a class="time" href="#m${String(message.id)}"><time datetime="${exportTime(message.at)}">${
    exportTime(message.at, "").slice(11)
  }</time> #${String(message.id)}</a></header>
${
    details.forwarded_from === undefined
      ? nothing
      : html`<div class="mark">Forwarded from ${named(details.forwarded_from)}</div>`
  }${details.reply_to_id === undefined ? nothing : replyOf(details.reply_to_id, addresses)}${
    message.text === null ? nothing : said(message.text)
  }${message.files.map(fileOf)}${details.caption === undefined ? nothing : said(details.caption)}${
    otherWords(details).map(said)
  }${
    message.text === null && message.files.length === 0 && details.caption === undefined &&
      otherWords(details).length === 0
      ? html`<div class="mark">${message.kind}</div>`
      : nothing
  }${reactions === null ? nothing : html`<div class="mark">Reactions: ${named(reactions)}</div>`}${
    lastEdit === null ? nothing : html`<div class="mark">Edited ${lastEdit.toISOString().slice(0, 19)}Z</div>`
  }${
    deletedAt === null
      ? nothing
      : html`<div class="mark gone">Deleted on the messenger; noticed ${exportTime(deletedAt)}</div>`
  }${
    details.redacted_at === undefined
      ? nothing
      : html`<div class="mark gone">Redacted ${exportTime(details.redacted_at)}: its content is not archived</div>`
  }${revisionsOf(message)}</article>
`
}

/** The place of a page among those of its chat. */
export interface HtmlPlace {
  readonly page: number
  readonly hasNext: boolean
  readonly addresses: AddressOfMessage
}

/** One page of a chat. */
export const htmlPage = (
  chat: ExportedChat,
  messages: ReadonlyArray<ExportedMessage>,
  { addresses, hasNext, page }: HtmlPlace
): string => {
  const title = chatTitle(chat)
  const pages = html`<nav><a href="../../index.html">All chats</a>${
    page === 0 ? nothing : html` <a href="${htmlPageName(page - 1)}">Earlier</a>`
  }${hasNext ? html` <a href="${htmlPageName(page + 1)}">Later</a>` : nothing}</nav>`
  let day = ""
  const shown = messages.map((message) => {
    const today = exportDay(message.at)
    const line = today === day ? nothing : html`<h2 class="day">${today}</h2>`
    day = today
    return html`${line}${messageOf(message, addresses)}`
  })
  return frame(
    title,
    html`<header class="top"><h1>${named(title)}</h1><p>${chat.type} chat ${String(chat.id)}, as seen by ${
      named(chat.account.name)
    }. Times are UTC.</p>${pages}</header><main>${shown}</main><footer>${pages}</footer>`
  )
}

/** A chat as the list of all has it. */
export interface ListedChat {
  readonly chat: ExportedChat
  readonly messages: number
  readonly firstAt: number
  readonly lastAt: number
}

/** The page that leads to all chats of the part. */
export const htmlIndex = (title: string, chats: ReadonlyArray<ListedChat>): string =>
  frame(
    title,
    html`<header class="top"><h1>${
      isolated(title)
    }</h1><p>What is here, and the hashes of all files, are in <a href="manifest.json">manifest.json</a>.</p></header>
<main><ul class="chats">${
      chats.map(({ chat, firstAt, lastAt, messages }) =>
        html`<li><a href="${addressOf(`${chat.folder}/${htmlPageName(0)}`)}">${
          named(chatTitle(chat))
        }</a> <small>${chat.type}, ${messages} messages, ${exportDay(firstAt)} to ${exportDay(lastAt)}</small></li>
`
      )
    }</ul></main>`
  )
