/** SHA-256 of what is too large to be held at once. */
import { Context, type Effect } from "effect"

export interface RunningDigest {
  readonly update: (bytes: Uint8Array) => void
  /** The digest of all bytes; nothing follows it. */
  readonly digest: () => Uint8Array
}

export class ContentDigest extends Context.Service<ContentDigest, {
  readonly start: Effect.Effect<RunningDigest>
}>()("org-security-console/ports/archive/ContentDigest") {}
