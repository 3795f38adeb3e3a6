/** Names and media types that third parties chose, as they reach a reader safely. */

const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i

/** The media type without parameters; one that is none is that of any bytes. */
export const safeMediaType = (given: string | null | undefined): string => {
  const [type = ""] = (given ?? "").split(";", 1)
  const trimmed = type.trim().toLowerCase()
  return mediaType.test(trimmed) ? trimmed : "application/octet-stream"
}

/** Characters that mean something to a file system or a shell, control what is shown, or cannot be seen. */
const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*]/gu

/** Names that some file systems keep for devices, with any extension. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i

const maxNameLength = 120

/** The longest beginning within so many code units, with no half of a pair. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).toWellFormed().replace(/\uFFFD$/, "")

/**
 * A file name that a third party chose, as one that can be stored anywhere: no path, nothing hidden, no device; long
 * ones keep their extension.
 */
export const safeFileName = (given: string | null | undefined, otherwise: string): string => {
  const clean = (given ?? "").replace(unsafe, "_").replace(/\s+/g, " ").replace(/^[\s.]+|[\s.]+$/g, "")
  if (clean === "" || /^_+$/.test(clean)) return otherwise
  const name = clean.replace(devices, "_$&")
  if (name.length <= maxNameLength) return name
  const [extension = ""] = /\.[\p{L}\p{N}]{1,10}$/u.exec(name) ?? []
  return `${cut(name.slice(0, name.length - extension.length), maxNameLength - extension.length)}${extension}`
}
