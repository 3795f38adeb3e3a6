/** The rule for who may register applications, from the settings. */
import { Effect, Option, Redacted } from "effect"
import * as crypto from "node:crypto"
import type { RegistrationPolicy } from "../../ports/oauth/OAuthPorts.ts"
import { SettingInvalid } from "../process/Environment.ts"
import * as Settings from "./Settings.ts"

const shortest = 32

const digest = (token: Redacted.Redacted) => crypto.createHash("sha256").update(Redacted.value(token)).digest()

/** The policy of the setting; the initial access token is compared in constant time. */
export const policy = Effect.fnUntraced(function*(mode: "open" | "token" | "off") {
  if (mode !== "token") return { mode } satisfies RegistrationPolicy
  const token = Option.getOrElse(yield* Settings.registrationToken, () => Redacted.make(""))
  if (Redacted.value(token).length < shortest) {
    return yield* new SettingInvalid({
      message:
        `--registration token needs CONSOLE_REGISTRATION_TOKEN, of at least ${shortest} characters: make one with \`openssl rand -hex 32\`.`
    })
  }
  const expected = digest(token)
  return {
    mode,
    admits: (presented) => crypto.timingSafeEqual(digest(presented), expected)
  } satisfies RegistrationPolicy
})
