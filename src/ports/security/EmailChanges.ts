/** Changes of accounts' addresses that wait for their code. */
import { Context, type Effect } from "effect"
import type { EmailChangeFacts, EmailKind } from "../../domain/security/Security.ts"
import type { SecretsOf } from "./Secrets.ts"

/** One open change of each kind for an account; within the caller's transaction. */
export class EmailChanges extends Context.Service<EmailChanges, {
  find(of: SecretsOf, kind: EmailKind): Effect.Effect<EmailChangeFacts | null>
  /** Begins a change; one that was open is replaced. */
  begin(of: SecretsOf, change: EmailChangeFacts): Effect.Effect<void>
  /** Counts an attempt before it is made; returns the number left. */
  attempt(of: SecretsOf, kind: EmailKind): Effect.Effect<void>
  /** Gives an attempt back that was none. */
  giveBack(of: SecretsOf, kind: EmailKind): Effect.Effect<void>
  end(of: SecretsOf, kind: EmailKind): Effect.Effect<void>
}>()("org-security-console/ports/security/EmailChanges") {}
