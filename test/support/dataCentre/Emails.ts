/** The addresses of an account: that for codes, and that by which its 2FA password is recovered. */
import { Redacted } from "effect"
import type { Clients, Handlers } from "./Clients.ts"

export const handlers = ({ ask, live }: Clients): Handlers => ({
  "account.confirmPasswordEmail": async (key, { code }) => {
    await ask((await live(key)).confirmRecoveryEmail(Redacted.make(String(code))))
    return true
  },
  "account.cancelPasswordEmail": async (key) => {
    await ask((await live(key)).cancelRecoveryEmail)
    return true
  },
  "account.sendVerifyEmailCode": async (key, { email }) => {
    const { codeLength, pattern } = await ask((await live(key)).startLoginEmail(email))
    return { _: "account.sentEmailCode", emailPattern: pattern, length: codeLength }
  },
  "account.verifyEmail": async (key, { verification }) => {
    await ask((await live(key)).confirmLoginEmail(Redacted.make(String(verification.code))))
    return { _: "account.emailVerified", email: "" }
  }
})
