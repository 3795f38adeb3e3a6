/** A file of a message: what it is, whether its content is archived, and its content where it is asked for. */
import type { FileReason } from "../../domain/archive/FileReason.ts"
import type { ArchivedFile } from "../../domain/archive/Message.ts"
import { safeFileName } from "../../domain/FileNames.ts"
import { button, fill, make, named, problem, tone } from "./Elements.ts"
import { downloadContent, type Progress, showContent, type ShownContent } from "./FileContent.ts"
import type { FilePreviews } from "./FilePreviews.ts"
import { offeredAs } from "./MediaTypes.ts"
import { type OpenedArchive, reasonOf } from "./OpenedArchive.ts"
import { sizeOf } from "./Texts.ts"

const megabyte = 1024 * 1024
/** Images up to this size are shown by themselves; larger ones, sound and films are asked for. */
const shownAtOnce = 4 * megabyte
const shownAtMost = { image: 32 * megabyte, audio: 128 * megabyte, video: 256 * megabyte }

const reasons: Readonly<Record<FileReason, string>> = {
  rule: "Not saved: the rules leave it out",
  size: "Not saved: larger than the rules allow",
  protected: "Not saved: its chat does not allow saving",
  once: "Not saved: it could be seen only once",
  gone: "Expired: the messenger no longer has it",
  refused: "Could not be read from the messenger"
}

const states = {
  saved: ["good", "Saved"],
  pending: ["note", "Not saved yet"],
  skipped: ["off", "Not saved"],
  failed: ["danger", "Could not be saved"],
  deleted: ["off", "Deleted from the archive"]
} as const

const kinds = { image: "Image", audio: "Sound", video: "Film" }

export interface FileElement {
  readonly element: HTMLLIElement
  /** Ends what is being opened, and takes what is shown away. */
  readonly close: () => void
}

const mediaElement = (
  { address, kind }: ShownContent,
  label: string,
  failed: () => void
): HTMLElement => {
  const element = kind === "image"
    ? make("img", { alt: label, decoding: "async" })
    : make(kind, { controls: true, playsinline: true, "aria-label": label })
  element.addEventListener("error", failed)
  element.src = address
  return element
}

export const fileElement = (archive: OpenedArchive, file: ArchivedFile, previews: FilePreviews): FileElement => {
  const { bytes, mime_type, name, reason, state } = file
  const kind = offeredAs(mime_type)
  // A name as it is stored: one that writes from right to left could look like that of another type.
  const label = safeFileName(name, kind === null ? "File without a name" : `${kinds[kind]} without a name`)
  const preview = make("div", { class: "preview" })
  const said = make("div", { class: "preview" })
  const actions = make("div", { class: "file-actions" })
  let running: AbortController | null = null
  let address: string | null = null

  const isPlayed = kind === "audio" || kind === "video"
  const opening = (more: string): HTMLElement => make("p", { class: "hint", role: "status" }, `Opening ${more}…`)

  /** A bar that grows, and not a new text for each part, which would be read out. */
  const showProgress = (plays: boolean): Progress => {
    const bar = make("progress", { "aria-label": `${label}, opened`, max: 1, value: 0 })
    fill(said, opening(`${sizeOf(bytes)} ${plays ? "to the end, before it plays " : ""}`), bar)
    return (share) => {
      bar.value = share
    }
  }

  /** Runs one thing at a time, which its user can end. */
  const run = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    running?.abort()
    const own = new AbortController()
    running = own
    fill(said, opening(""))
    fill(actions, button("Cancel", () => own.abort()))
    try {
      await work(own.signal)
      if (running === own) fill(said)
    } catch (error) {
      if (running === own) fill(said, problem(reasonOf(error)))
    } finally {
      if (running === own) {
        running = null
        offer()
      }
    }
  }

  const show = (): Promise<void> =>
    run(async (signal) => {
      const shown = await showContent(archive, file, signal, showProgress(isPlayed))
      if (shown === null) return
      if (signal.aborted) return URL.revokeObjectURL(shown.address)
      address = shown.address
      fill(
        preview,
        mediaElement(shown, label, () => fill(preview, problem("It cannot be shown here. Download it to open it.")))
      )
    })

  const download = (): Promise<void> =>
    run(async (signal) => {
      await downloadContent(archive, file, signal, showProgress(false))
    })

  const isShowable = kind !== null && bytes <= shownAtMost[kind]
  const offer = (): void =>
    fill(
      actions,
      isShowable && address === null ? button(kind === "image" ? "Show" : "Play", () => void show()) : null,
      kind !== null && !isShowable ? make("span", { class: "hint" }, "Too large to be shown here") : null,
      button("Download", () => void download(), { "aria-label": `Download ${label}` })
    )

  const isSaved = state === "saved"
  const [colour, words] = states[state]
  const element = make(
    "li",
    { class: "file" },
    make("strong", {}, named(label)),
    make("span", { class: "hint" }, `${mime_type} · ${sizeOf(bytes)}`),
    isSaved ? null : tone(colour, reason === null ? words : reasons[reason]),
    isSaved ? actions : null,
    preview,
    said
  )
  if (isSaved) {
    offer()
    if (kind === "image" && bytes <= shownAtOnce) previews.add(element, show)
  }
  return {
    element,
    close: () => {
      running?.abort()
      running = null
      if (address !== null) URL.revokeObjectURL(address)
      address = null
      preview.replaceChildren()
    }
  }
}
