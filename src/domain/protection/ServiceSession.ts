import type { SessionRef } from "../messenger/Messenger.ts"

/** One of the service's own sessions on the platform. */
export interface ServiceSession {
  readonly id: string
  readonly slot: "main" | "paired" | "pairing" | "retired"
  readonly session_ref: SessionRef
  /** The id under which the main session sees it; null for the main one itself, and where it is not known. */
  readonly seen_as: string | null
  /** The platform's own time of its sign-in. */
  readonly created_at: Date
}
