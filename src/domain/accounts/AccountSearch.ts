/** Finds accounts by what a person remembers of them: one normalised text for each, and patterns to search for. */
import type { MessengerNames } from "./Account.ts"

/** Letters that no decomposition takes apart, as they are written without their strokes. */
const plain: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i"
}

/** The text without regard to case, compatibility forms and diacritics. */
const fold = (text: string): string =>
  text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => plain[letter] ?? letter).normalize("NFKC")

/** Its words, with one space between them. */
const words = (text: string): string => fold(text).replace(/[^\p{L}\p{N}]+/gu, " ").trim()

const digits = (text: string): string => text.normalize("NFKC").replace(/\D/g, "")

/** A username as it is kept and searched for. */
const handle = (text: string): string => fold(text).replace(/[^\p{L}\p{N}_]+/gu, "")

/** The fields that an account is found by. */
export interface Searched extends MessengerNames {
  readonly phone_number: string
  readonly role_label: string | null
}

/** The account's text: a line each for its number, its role label, its username and its name. */
export const searchText = ({ first_name, last_name, phone_number, role_label, username }: Searched): string =>
  [
    `#${digits(phone_number)}`,
    ` ${words(role_label ?? "")}`,
    `@${handle(username ?? "")}`,
    ` ${words([first_name, last_name].join(" "))}`
  ].join("\n")

/** One way to match, in LIKE's notation; the lower its rank, the better the match. */
export interface Pattern {
  readonly rank: number
  readonly like: string
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, "\\$&")

/** Below this many letters only the starts of words are searched for: everything else would match nearly everybody. */
const anywhereFrom = 3

/**
 * The patterns that a query searches for, the best first: whole number, username, start of a name's word, and anywhere.
 */
export const patterns = (query: string): ReadonlyArray<Pattern> => {
  const text = escaped(words(query))
  const name = escaped(handle(query))
  const number = /^[\d\s()+./-]+$/.test(query.normalize("NFKC")) ? digits(query) : ""
  const long = [...text].length >= anywhereFrom
  return [
    ...(number === "" ? [] : [{ rank: 0, like: `#${number}\n%` }]),
    ...(name === "" ? [] : [{ rank: 1, like: `%\n@${name}\n%` }]),
    ...(text === "" ? [] : [
      { rank: 2, like: `%\n@%\n% ${text}%` },
      { rank: 3, like: long ? `%${text}%` : `%\n ${text}%` }
    ]),
    ...(number.length < anywhereFrom || number === text ? [] : [{ rank: 3, like: `%${number}%` }]),
    ...(long && name !== "" && name !== text ? [{ rank: 3, like: `%${name}%` }] : [])
  ]
}
