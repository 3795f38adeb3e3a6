/** The console password of the caller's admin, where an operation asks for it again. */
import { Effect, type Redacted } from "effect"
import { PasswordIncorrect } from "../domain/Failure.ts"
import type { Caller } from "../domain/people/Access.ts"
import { ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"

/** Fails with the member's name where the password is wrong. */
export const verify = (caller: Caller["Service"], password: Redacted.Redacted) =>
  Effect.flatMap(ConsolePasswords, (passwords) => passwords.verify(caller, password, caller)).pipe(
    Effect.catchTag("password_incorrect", () => new PasswordIncorrect({ param: "current_password" }))
  )
