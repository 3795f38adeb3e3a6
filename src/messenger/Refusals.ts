/** What the platform's refusals mean. Their texts are the platform's, and stand here alone. */
import type { SessionEnd } from "../domain/Messenger.ts"
import {
  type Common,
  NoSession,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable
} from "../ports/MessengerSession.ts"

/** A refusal as the platform sends it. */
export interface Refusal {
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

const wait = /^(?:FLOOD_WAIT|FLOOD_PREMIUM_WAIT|SLOWMODE_WAIT|FLOOD_TEST_PHONE_WAIT|TAKEOUT_INIT_DELAY)_(\d+)$/

/** Waits that the platform does not put a number to. */
const longWaits = new Set(["PHONE_NUMBER_FLOOD", "PHONE_PASSWORD_FLOOD", "PEER_FLOOD"])
const longWait = 3600

/** What a refusal means that has no meaning of its own where it comes from. */
export const common = ({ code, text }: Refusal): Common => {
  const reason = ended[text]
  if (reason !== undefined) return new NoSession({ reason })
  const seconds = wait.exec(text)?.[1]
  if (seconds !== undefined) return new PlatformBusy({ retryAfterSeconds: Math.max(1, Number(seconds)) })
  if (longWaits.has(text)) return new PlatformBusy({ retryAfterSeconds: longWait })
  if (code < 0 || code >= 500) return new PlatformUnavailable()
  return new PlatformRefused({ reason: text })
}
