/** A file of a message: what it is, and whether its content is archived. */
import type { ArchivedFile } from "../../domain/archive/Message.ts"
import { make, named, tone } from "./Elements.ts"
import type { OpenedArchive } from "./OpenedArchive.ts"
import { sizeOf } from "./Texts.ts"

const states = {
  saved: ["good", "Saved"],
  pending: ["note", "Not saved yet"],
  skipped: ["off", "Not saved, by the rules"],
  failed: ["danger", "Could not be saved"],
  deleted: ["off", "Deleted from the archive"]
} as const

export const fileElement = (_archive: OpenedArchive, { bytes, mime_type, name, state }: ArchivedFile): HTMLElement => {
  const [kind, words] = states[state]
  return make(
    "li",
    { class: "file" },
    make("strong", {}, name === null ? "File without a name" : named(name)),
    make("span", { class: "hint" }, `${mime_type} · ${sizeOf(bytes)}`),
    tone(kind, words)
  )
}
