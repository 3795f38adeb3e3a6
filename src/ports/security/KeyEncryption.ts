/** The keys that seal the data keys of accounts. */
import { Context, type Effect, type Redacted } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"

/** The identity of a data key: one that is sealed for an account does not open for another. */
export type KeyContext = ReadonlyArray<string>

/**
 * Seals data keys of 32 bytes, each of which seals the secrets of one account.
 *
 * By default keys are sealed under the peppers. A host that keeps its keys elsewhere provides this service with the
 * others: what it answers is stored and handed back as it is. It is asked outside any transaction, each time that the
 * secrets of an account are used: one that is slow remembers keys for a while.
 */
export class KeyEncryption extends Context.Service<KeyEncryption, {
  seal(key: Redacted.Redacted<Uint8Array>, context: KeyContext): Effect.Effect<string, ServiceUnavailable>
  /** Dies where the key was sealed for something else or cannot be opened any more. */
  open(sealed: string, context: KeyContext): Effect.Effect<Redacted.Redacted<Uint8Array>, ServiceUnavailable>
  /** True if it is sealed as new ones are; one that is not is sealed again by `secrets rewrap`. */
  isCurrent(sealed: string): boolean
}>()("org-security-console/ports/security/KeyEncryption") {}
