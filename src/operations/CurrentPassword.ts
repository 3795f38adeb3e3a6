/** The console password of the caller's admin, where an operation asks for it again. */
import { Effect, type Redacted } from "effect"
import { PasswordIncorrect, PasswordRequired, TooManyAttempts } from "../domain/Failure.ts"
import type { Caller } from "../domain/people/Access.ts"
import { ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"

const param = "current_password"

/** Further failures of an operation that may need the password. */
export const failures = [PasswordRequired, PasswordIncorrect, TooManyAttempts] as const

/** Fails with the member's name where the password is wrong. */
export const verify = (caller: Caller["Service"], password: Redacted.Redacted) =>
  Effect.flatMap(ConsolePasswords, (passwords) => passwords.verify(caller, password, caller)).pipe(
    Effect.catchTag("password_incorrect", () => new PasswordIncorrect({ param }))
  )

/** The refusal of what gives every account or the archive without the password. */
export const lacking = (): PasswordRequired =>
  new PasswordRequired({
    param,
    message: "What gives access to every account, or to the archive, needs current_password, the console password."
  })

/** Checks the password that came with the request, and fails where there is none and one is needed. */
export const check = (caller: Caller["Service"], password: Redacted.Redacted | undefined, needed: boolean) =>
  password !== undefined ? verify(caller, password) : needed ? Effect.fail(lacking()) : Effect.void
