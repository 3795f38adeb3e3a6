/** Passkeys that the service makes for accounts. */
import { Context, type Effect } from "effect"
import type { PreparedPasskey } from "../messenger/MessengerSecurity.ts"

export class Passkeys extends Context.Service<Passkeys, {
  /** A new ES256 key with a random credential id. */
  readonly make: Effect.Effect<PreparedPasskey>
}>()("org-security-console/ports/security/AccountPasskeys/Passkeys") {}
