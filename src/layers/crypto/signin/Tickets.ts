/**
 * Text that this service has given out for one purpose and gets back within some minutes, without keeping it meanwhile.
 */
import { Duration } from "effect"
import { hmac, type Pepper, sameText } from "../Peppers.ts"

type Keys = readonly [Pepper, ...ReadonlyArray<Pepper>]

/** A ticket that came back: its text, and the time it was given out. */
export interface Ticket {
  readonly value: string
  readonly at: number
}

const sign = (key: Pepper, about: ReadonlyArray<string>, value: string, at: string): string =>
  hmac(key, JSON.stringify(["ticket", ...about, value, at]))

/** The text with the moment and an HMAC over both and what it is about; the text has no full stop. */
export const write = (keys: Keys, about: ReadonlyArray<string>, value: string, now: number): string =>
  `${value}.${now}.${sign(keys[0], about, value, String(now))}`

/** Reads what was given out for the same purpose, not longer ago than that. */
export const read = (
  keys: Keys,
  about: ReadonlyArray<string>,
  text: string,
  now: number,
  lifetime: Duration.Duration
): Ticket | null => {
  const [value = "", at = "", signature = ""] = text.split(".", 3)
  const given = /^[0-9]{1,16}$/.test(at) ? Number(at) : 0
  const valid = keys.some((key) => sameText(sign(key, about, value, at), signature))
  return valid && given > now - Duration.toMillis(lifetime) && given <= now ? { value, at: given } : null
}
