/** Names of files and folders in exports, which others choose: safe on every system, and never a path. */
import { utf8 } from "../../domain/archive/Bytes.ts"

/** Bytes in UTF-8 of one name. */
const longestName = 100
const longestExtension = 16

/** Characters that no system shows or that some refuse: controls, marks of direction, and those of paths and patterns. */
const refused =
  /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFF<>:"/\\|?*%]/gu

const surrogate = /[\uD800-\uDFFF]/gu

/** Names of devices, which Windows refuses with any extension. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu

/** Files that do something when they are opened, in a browser or by the system; they get another extension. */
const active =
  /\.(?:x?html?|shtml|xht|mht(?:ml)?|svgz?|xml|xslt?|m?js|jse|hta|url|lnk|desktop|exe|com|scr|bat|cmd|ps1|vb[es]?|wsf|msi|jar|app|command|sh|reg|scf|library-ms|pif|chm|iso|img|vhdx?)$/iu

const cut = (text: string, bytes: number): string => {
  let kept = ""
  let size = 0
  for (const character of text) {
    size += utf8(character).length
    if (size > bytes) break
    kept += character
  }
  return kept
}

/** A name of one folder or file: no path, not empty, not reserved, at most 100 bytes. */
export const safeName = (name: string, otherwise: string): string => {
  const clean = name.normalize("NFC").replaceAll(refused, "_").replaceAll(surrogate, "_").replaceAll(/\s+/gu, " ")
    .replaceAll(/^[. ]+|[. ]+$/gu, "")
  const [extension = ""] = /\.[^. ]+$/u.exec(clean) ?? []
  const isShort = utf8(extension).length <= longestExtension
  const kept = isShort
    ? `${cut(clean.slice(0, clean.length - extension.length), longestName - longestExtension).trimEnd()}${extension}`
    : cut(clean, longestName)
  const named = kept.replaceAll(/[. ]+$/gu, "")
  if (named === "") return otherwise
  return device.test(named) ? `_${named}` : active.test(named) ? `${named}_` : named
}

/** The folder of a chat; its id makes it another one than every other's. */
export const chatFolder = (id: bigint, title: string): string => `chats/chat_${id}_${safeName(title, "untitled")}`

/** A file of a message, beside the chat's documents; the message's id and the place make it another than every other. */
export const filePath = (messageId: bigint, place: number, name: string | null, mimeType: string): string => {
  const [, subtype = "bin"] = /^[a-z]+\/([a-z0-9]{1,10})$/u.exec(mimeType.toLowerCase()) ?? []
  return `files/${messageId}-${place + 1}_${safeName(name ?? `file.${subtype}`, "file")}`
}

/** The path as a relative address. */
export const addressOf = (path: string): string => path.split("/").map((name) => encodeURIComponent(name)).join("/")
