/** The observations of one step of an account on the platform. */
import type { AccountSecurity, Authorization, Profile, SessionEnd } from "../messenger/Messenger.ts"

/** A session of the service that could not be opened any more. */
export interface Loss {
  /** Of the own session, by the id of its row. */
  readonly own: string
  readonly reason: SessionEnd
}

/** The list was read, through one of the service's sessions. */
export interface SeenList {
  readonly kind: "seen"
  /** The own session that requested the list, by the id of its row. */
  readonly through: string
  /** Its texts are cleaned. */
  readonly authorizations: ReadonlyArray<Authorization>
  /** Absent where no reading was due or it failed. */
  readonly security?: AccountSecurity
  readonly profile?: Profile
}

/** The outcome of asking for the list. */
export type ListResult =
  | SeenList
  /** The service had no session left. */
  | { readonly kind: "lost" }
  | {
    readonly kind: "unavailable"
    readonly error: string
    /** The platform's words about it: third-party text, cleaned; absent where it said nothing. */
    readonly said?: string | null
  }
  | { readonly kind: "flood"; readonly seconds: number }

export interface Observation {
  readonly outcome: ListResult
  /** Own sessions that were found lost on the way. */
  readonly lost: ReadonlyArray<Loss>
  /** Login codes that the platform has sent since the last step, by its events. */
  readonly codes: number
}
