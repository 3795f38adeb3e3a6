import { describe, expect, it } from "@effect/vitest"
import { common } from "../../../../src/layers/messenger/wire/PlatformRefusals.ts"

const busy = (retryAfterSeconds: number) => ({ _tag: "PlatformBusy", retryAfterSeconds })
const ended = (reason: string) => ({ _tag: "NoSession", reason })
const unavailable = { _tag: "PlatformUnavailable" }

const meant: ReadonlyArray<readonly [number, string, object]> = [
  [420, "FLOOD_WAIT_77", busy(77)],
  [420, "FLOOD_WAIT_0", busy(1)],
  [420, "FLOOD_PREMIUM_WAIT_5", busy(5)],
  [420, "SLOWMODE_WAIT_30", busy(30)],
  [420, "FLOOD_TEST_PHONE_WAIT_60", busy(60)],
  [420, "TAKEOUT_INIT_DELAY_86400", busy(86_400)],
  [420, "2FA_CONFIRM_WAIT_604800", busy(604_800)],
  [400, "SESSION_TOO_FRESH_3600", busy(3600)],
  [400, "PASSWORD_TOO_FRESH_7200", busy(7200)],
  [406, "PREVIOUS_CHAT_IMPORT_ACTIVE_WAIT_5MIN", busy(300)],
  // Of the same form, and known to nobody yet.
  [400, "SOMETHING_NEW_WAIT_12", busy(12)],
  [406, "SOMETHING_NEW_DELAY_12", busy(12)],
  [420, "SOMETHING_NEW_12", busy(12)],
  [420, "SOMETHING_NEW", busy(3600)],
  [420, "FLOOD_WAIT_99999999999999999999", busy(604_800)],
  [400, "PHONE_NUMBER_FLOOD", busy(3600)],
  [406, "PHONE_PASSWORD_FLOOD", busy(3600)],
  [400, "PEER_FLOOD", busy(3600)],
  [401, "AUTH_KEY_UNREGISTERED", ended("revoked")],
  [401, "AUTH_KEY_INVALID", ended("revoked")],
  [401, "AUTH_KEY_PERM_EMPTY", ended("revoked")],
  [401, "SESSION_REVOKED", ended("revoked")],
  [401, "SESSION_EXPIRED", ended("revoked")],
  [401, "USER_DEACTIVATED", ended("deleted")],
  [401, "USER_DEACTIVATED_BAN", ended("banned")],
  [406, "AUTH_KEY_DUPLICATED", ended("key_duplicated")],
  [401, "SESSION_PASSWORD_NEEDED", ended("never")],
  [500, "INTERNAL", unavailable],
  [-503, "Timeout", unavailable],
  // A number alone is no wait.
  [303, "FILE_MIGRATE_4", { _tag: "PlatformRefused", reason: "FILE_MIGRATE_4" }],
  [400, "EMAIL_UNCONFIRMED_6", { _tag: "PlatformRefused", reason: "EMAIL_UNCONFIRMED_6" }],
  [406, "FRESH_RESET_AUTHORISATION_FORBIDDEN", {
    _tag: "PlatformRefused",
    reason: "FRESH_RESET_AUTHORISATION_FORBIDDEN"
  }]
]

describe("a refusal of the messenger that means the same wherever it comes from", () => {
  it.each(meant)("%i %s", (code, text, failure) => {
    expect(common({ code, text })).toMatchObject(failure)
  })
})
