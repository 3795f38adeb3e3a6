/** The meaning of the platform's refusals. The platform's own codes appear only here. */
import type { SessionEnd } from "../../../domain/messenger/Messenger.ts"
import {
  type MessengerFailure,
  NoSession,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable
} from "../../../ports/messenger/MessengerSession.ts"

/** A refusal as the platform sends it. */
export interface PlatformRefusal {
  readonly code: number
  readonly text: string
}

const ended: Readonly<Record<string, SessionEnd>> = {
  AUTH_KEY_UNREGISTERED: "revoked",
  AUTH_KEY_INVALID: "revoked",
  AUTH_KEY_PERM_EMPTY: "revoked",
  SESSION_REVOKED: "revoked",
  SESSION_EXPIRED: "revoked",
  USER_DEACTIVATED: "deleted",
  USER_DEACTIVATED_BAN: "banned",
  AUTH_KEY_DUPLICATED: "key_duplicated",
  SESSION_PASSWORD_NEEDED: "never"
}

/** The code of every demand to wait. */
const tooMuch = 420

/** Waits within a text: `FLOOD_WAIT_30`, `TAKEOUT_INIT_DELAY_30`, `SESSION_TOO_FRESH_30`, others in minutes. */
const namedWait = /_(?:WAIT|DELAY|TOO_FRESH)_(\d+)(MIN)?$/
const anyNumber = /_(\d+)(MIN)?$/

/** Waits that the platform does not put a number to. */
const longWaits = new Set(["PHONE_NUMBER_FLOOD", "PHONE_PASSWORD_FLOOD", "PEER_FLOOD"])
const longWait = 3600
const longestWait = 7 * 86_400

/** The number of seconds that the platform demands to wait; null where it does not. */
const waitOf = ({ code, text }: PlatformRefusal): number | null => {
  const [, number, minutes] = (code === tooMuch ? anyNumber : namedWait).exec(text) ?? []
  if (number === undefined) return code === tooMuch || longWaits.has(text) ? longWait : null
  return Math.min(longestWait, Math.max(1, Number(number) * (minutes === undefined ? 1 : 60)))
}

/** The default meaning of a refusal. */
export const common = (refusal: PlatformRefusal): MessengerFailure => {
  const reason = ended[refusal.text]
  if (reason !== undefined) return new NoSession({ reason })
  const seconds = waitOf(refusal)
  if (seconds !== null) return new PlatformBusy({ retryAfterSeconds: seconds })
  if (refusal.code < 0 || refusal.code >= 500) return new PlatformUnavailable()
  return new PlatformRefused({ reason: refusal.text })
}
