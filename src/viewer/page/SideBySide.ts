/** The revisions of a message side by side; what differs from the one before is marked. */
import type { MessageEdit } from "../../domain/archive/Message.ts"
import type { Calls } from "../ViewerCalls.ts"
import { make, tone } from "./Elements.ts"
import type { MarkedWords } from "./OpenedArchive.ts"
import { difference, momentOf, plural, type Span, textWith } from "./Texts.ts"

const wordsOf = ({ caption, text }: MessageEdit): string => text ?? caption ?? ""

const fieldOf = ({ text }: MessageEdit): "text" | "caption" => text === null ? "caption" : "text"

const changed = (tag: "del" | "ins", text: string, { length, start }: Span): ReadonlyArray<Node> => [
  ...textWith(text.slice(0, start)),
  ...(length === 0 ? [] : [make(tag, {}, ...textWith(text.slice(start, start + length)))]),
  ...textWith(text.slice(start + length))
]

const titleOf = ({ edited_at, revision, seen_at }: MessageEdit): string =>
  revision === 0 ? "As first seen" : `Edited ${momentOf(edited_at ?? seen_at)}`

/** The text, with the words of a search, or else with what is new in it. */
const shown = (revision: MessageEdit, before: MessageEdit | undefined, words: MarkedWords): ReadonlyArray<Node> => {
  const text = wordsOf(revision)
  const spans = words.filter((word) => word.revision === revision.revision && word.field === fieldOf(revision))
  if (spans.length > 0) return textWith(text, spans)
  return before === undefined ? textWith(text) : changed("ins", text, difference(wordsOf(before), text)[1])
}

export const revisionsElement = (
  { revisions, unreadable }: Calls["edits"]["answer"],
  words: MarkedWords
): HTMLElement => {
  return make(
    "div",
    {},
    unreadable === 0 ? null : tone("caution", `${plural(unreadable, "revision")} not readable`),
    make(
      "ol",
      { class: "side-by-side" },
      revisions.map((revision, index) =>
        make(
          "li",
          {},
          make("p", { class: "hint" }, titleOf(revision)),
          make("p", { class: "text", dir: "auto" }, ...shown(revision, revisions[index - 1], words))
        )
      )
    )
  )
}
