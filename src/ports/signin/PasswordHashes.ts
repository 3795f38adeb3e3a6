/** Hashes of console passwords, and the rule for new passwords. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { PasswordOwner } from "../../domain/signin/PasswordRule.ts"

/** Slow hashes; a password is hashed in one form, however a keyboard composes its letters. */
export class PasswordHashes extends Context.Service<PasswordHashes, {
  /** The fault of a new password, in one sentence; null if it has none. */
  faultOf(password: Redacted.Redacted, owner: PasswordOwner): Effect.Effect<string | null>
  hash(password: Redacted.Redacted): Effect.Effect<Redacted.Redacted>
  /** True if the hash is of the password as it was typed, or in the form that is hashed; a too long one is none. */
  verify(hash: Redacted.Redacted, password: Redacted.Redacted): Effect.Effect<boolean, ServiceUnavailable>
  /** True if the hash was made with the parameters of today. */
  isCurrent(hash: Redacted.Redacted): boolean
}>()("org-security-console/ports/signin/PasswordHashes") {}
