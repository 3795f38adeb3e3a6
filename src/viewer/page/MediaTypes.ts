/** The types that the page shows, by the first bytes of a content: never by what its sender says of it. */

export interface MediaType {
  readonly kind: "audio" | "image" | "video"
  readonly type: string
}

const image = (type: string): MediaType => ({ kind: "image", type })
const audio = (type: string): MediaType => ({ kind: "audio", type })
const video = (type: string): MediaType => ({ kind: "video", type })

/** The first bytes in Latin-1, with their type. Nothing that can run is among them, and no SVG. */
const signatures: ReadonlyArray<readonly [RegExp, MediaType]> = [
  [/^\xff\xd8\xff/, image("image/jpeg")],
  [/^\x89PNG\r\n\x1a\n/, image("image/png")],
  [/^GIF8[79]a/, image("image/gif")],
  [/^RIFF[^]{4}WEBP/, image("image/webp")],
  [/^[^]{4}ftypavif/, image("image/avif")],
  [/^RIFF[^]{4}WAVE/, audio("audio/wav")],
  [/^OggS/, audio("audio/ogg")],
  [/^ID3|^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/, audio("audio/mpeg")],
  [/^fLaC/, audio("audio/flac")],
  [/^[^]{4}ftypM4A/, audio("audio/mp4")],
  [/^[^]{4}ftyp/, video("video/mp4")],
  [/^\x1a\x45\xdf\xa3/, video("video/webm")]
]

/** Bytes that are looked at. */
const looked = 32

/** The type of the content; null for anything that the page does not show. */
export const mediaOf = (first: Uint8Array): MediaType | null => {
  const text = String.fromCharCode(...first.subarray(0, looked))
  return signatures.find(([pattern]) => pattern.test(text))?.[1] ?? null
}

const names: Readonly<Record<string, MediaType["kind"]>> = {
  "image/jpeg": "image",
  "image/png": "image",
  "image/gif": "image",
  "image/webp": "image",
  "image/avif": "image"
}

/** The kind of a content by the type that its message says; it decides only what is offered. */
export const offeredAs = (type: string): MediaType["kind"] | null => {
  const known = names[type.toLowerCase()]
  if (known !== undefined) return known
  return /^audio\//i.test(type) ? "audio" : /^video\//i.test(type) ? "video" : null
}
