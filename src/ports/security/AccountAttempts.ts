/** The number of times that something may be tried with an account in an hour. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable, TooManyAttempts } from "../../domain/Failure.ts"
import type { SecretsOf } from "./Secrets.ts"

/** The kinds of attempts that are counted. */
export type AttemptKind = "email_change" | "holder_password"

export class Attempts extends Context.Service<Attempts, {
  /** Counts one more, in a transaction of its own; fails where there were `limit` of them within an hour. */
  count(of: SecretsOf, what: AttemptKind, limit: number): Effect.Effect<void, TooManyAttempts | ServiceUnavailable>
  /** Takes the latest one back, because it was none that counts. */
  takeBack(of: SecretsOf, what: AttemptKind): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/security/AccountAttempts/Attempts") {}
