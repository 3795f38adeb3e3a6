/** The text of an answer for an assistant: lists as one line an item with the members that matter, the rest as JSON. */
import { Predicate } from "effect"
import type { EncodedAnswer } from "../kernel/Encoding.ts"
import * as Operation from "../kernel/Operation.ts"

type Item = Readonly<Record<string, unknown>>

const isItem = (value: unknown): value is Item => Predicate.isObject(value)

const itemsOf = (value: unknown): ReadonlyArray<Item> => Array.isArray(value) ? value.filter(isItem) : []

/** The members of each kind of item, by the path to them. */
const columns: Readonly<Record<string, ReadonlyArray<string>>> = {
  account: ["id", "name", "phone_number", "status", "role_label", "department_id", "archive.saving.state"],
  journal_event: ["sequence", "id", "at", "action", "outcome", "actor.name", "via", "account_id", "details"],
  ai_connection: [
    "id",
    "kind",
    "label",
    "client.name",
    "scopes",
    "owner_email",
    "last_used_at",
    "expires_at",
    "revoked_at"
  ],
  api_key: ["id", "label", "scopes", "owner_email", "mine", "last_used_at", "expires_at", "revoked_at"],
  search_result: [
    "sent_at",
    "account_id",
    "chat_id",
    "id",
    "from.name",
    "text",
    "caption",
    "transcript",
    "files.name",
    "deleted_at",
    "also_in"
  ],
  archive_account: [
    "id",
    "name",
    "phone_number",
    "chats",
    "messages",
    "first_message_at",
    "last_message_at",
    "saving.state"
  ],
  chat: [
    "id",
    "type",
    "title",
    "username",
    "effect",
    "complete",
    "messages",
    "first_message_at",
    "last_message_at",
    "left_at"
  ],
  message: [
    "sent_at",
    "id",
    "from.name",
    "kind",
    "text",
    "caption",
    "transcript",
    "files.name",
    "forwarded_from",
    "reply_to_id",
    "edits",
    "deleted_at",
    "redacted_at"
  ],
  message_edit: ["revision", "seen_at", "edited_at", "text", "caption"],
  chat_member: ["id", "name", "username", "phone", "role", "joined_at", "last_seen_in_chat_at"]
}

/** The value at a path; of an array, that of each of its items. */
const at = (value: unknown, [name, ...rest]: ReadonlyArray<string>): unknown => {
  if (name === undefined) return value
  if (Array.isArray(value)) return value.map((one) => at(one, [name, ...rest]))
  return Predicate.hasProperty(value, name) ? at(value[name], rest) : null
}

const plain = /^[\w.:@+-]+$/

/** Characters of a text of a message in a list; get_message has the rest. Edits are whole: no tool shows a single one. */
const longestText = 600

const texts = ["text", "caption", "transcript"]

const isLong = (value: unknown): value is string => typeof value === "string" && value.length > longestText

const cut = (item: Item): Item =>
  item["object"] !== "message" ? item : Object.fromEntries(
    Object.entries(item).map(([name, value]) =>
      texts.includes(name) && isLong(value)
        ? [name, `${value.slice(0, longestText).toWellFormed()} … ${value.length - longestText} more characters`]
        : [name, value]
    )
  )

/** The line below messages of which texts were cut. */
const cutNotice = (items: ReadonlyArray<Item>): ReadonlyArray<string> => {
  const count = items
    .filter((item) => item["object"] === "message")
    .flatMap((item) => texts.filter((name) => isLong(item[name])))
    .length
  return count === 0 ? [] : [`texts cut after ${longestText} characters: ${count}; get_message shows a message whole.`]
}

/** A value on a line: what others have written is in quotes, so that it cannot pass for a line of ours. */
const cell = (value: unknown): string => {
  if (value === null || value === undefined || Array.isArray(value) && value.length === 0) return "-"
  if (typeof value === "string") return plain.test(value) ? value : JSON.stringify(value)
  return Array.isArray(value) && value.every((one) => typeof one === "string" && plain.test(one))
    ? value.join(",")
    : JSON.stringify(value)
}

const table = (items: ReadonlyArray<Item>, kind: unknown = items[0]?.["object"]): ReadonlyArray<string> => {
  const paths = columns[String(kind)]
  if (paths === undefined) return items.map((item) => JSON.stringify(item))
  const parts = paths.map((path) => path.split("."))
  return [paths.join(" | "), ...items.map(cut).map((item) => parts.map((path) => cell(at(item, path))).join(" | "))]
}

/** A message among those around it, each a line in their order; the message itself is marked, and below as a whole. */
const inContext = (message: Item, around: ReadonlyArray<Item>): ReadonlyArray<string> => {
  const whole = Object.fromEntries(
    Object.entries(message).filter(([name]) => name !== "content_notice" && name !== "context")
  )
  const id = (item: Item): bigint => BigInt(String(item["id"]))
  const place = around.filter((item) => id(item) < id(message)).length
  const [header = "", ...lines] = table(around.toSpliced(place, 0, message), "message")
  const marked = lines.map((line, index) => `${index === place ? ">" : " "} ${line}`)
  return [`  ${header}`, ...marked, ...cutNotice(around), JSON.stringify(whole)]
}

/** The call for the next page. */
const next = (operation: Operation.Any, answer: Item, items: ReadonlyArray<Item>): string => {
  const last = items.at(-1)
  if (typeof answer["next_id"] === "string" && Object.hasOwn(operation.query, "starting_after")) {
    return `pass starting_after ${answer["next_id"]}`
  }
  if (typeof answer["next_id"] === "string") {
    return `pass before_id ${answer["next_id"]}, or after_id where the oldest come first`
  }
  if (Object.hasOwn(operation.query, "after_sequence")) return `pass after_sequence ${String(last?.["sequence"])}`
  const cursor = ["starting_after", "before_id"].find((name) => Object.hasOwn(operation.query, name))
  return cursor === undefined ? "narrow the query, or raise limit" : `pass ${cursor} ${String(last?.["id"])}`
}

/** The answer as text; what it leaves out is in the structured content. */
export const render = (operation: Operation.Any, { answer, text }: EncodedAnswer): string => {
  if (!isItem(answer)) return text
  if (Operation.answersSealed(operation)) return "Sealed data, in the structured content."
  const notice = typeof answer["content_notice"] === "string" ? [answer["content_notice"]] : []
  if (answer["object"] === "list") {
    const items = itemsOf(answer["data"])
    const more = answer["has_more"] === true
      ? `${items.length} items; has_more: true, for more ${next(operation, answer, items)}.`
      : `${items.length} items; has_more: false.`
    const unreadable = Number(answer["unreadable"] ?? 0) > 0 ? [`unreadable: ${String(answer["unreadable"])}`] : []
    return [...notice, ...table(items), ...cutNotice(items), ...unreadable, more].join("\n")
  }
  if (answer["object"] === "search_result") {
    const items = itemsOf(answer["data"])
    const lines = items.length === 0 ? [] : table(items, answer["object"])
    const unreadable = Number(answer["unreadable"] ?? 0) > 0 ? [`unreadable: ${String(answer["unreadable"])}`] : []
    const ended = answer["complete"] === true ? "" : " The time was over before the page was full."
    const more = typeof answer["cursor"] === "string"
      ? `has_more: true, for more pass the same arguments with cursor ${answer["cursor"]}`
      : "has_more: false"
    const summary = `${items.length} items; searched: ${String(answer["searched"])} messages; ${more}.${ended}`
    return [...notice, ...lines, ...cutNotice(items), ...unreadable, summary].join("\n")
  }
  const around = itemsOf(answer["context"])
  if (answer["object"] === "message" && around.length > 0) return [...notice, ...inContext(answer, around)].join("\n")
  if (answer["object"] === "ai_connections") {
    const lists = [["connections", answer["connections"]], ["api_keys", answer["api_keys"]]] as const
    const parts = lists.flatMap(([name, list]) => [`${name}: ${itemsOf(list).length}`, ...table(itemsOf(list))])
    return [...notice, ...parts].join("\n")
  }
  return text
}
