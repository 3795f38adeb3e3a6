/** What one step has seen of an account on the platform. */
import type { Authorization, Profile } from "../Messenger.ts"
import type { Facets } from "./Facts.ts"

/** A device as the platform lists it to a session of the service, its texts cleaned. */
export interface SeenAuthorization extends Authorization {
  /** The code was right, and the 2FA password has not been given yet: no session. */
  readonly password_pending: boolean
  /** Nobody on the account's other devices has confirmed it yet. */
  readonly unconfirmed: boolean
}

/** The security settings of an account; a member that could not be read is absent. */
export type SeenSecurity =
  & Pick<Facets, "two_fa" | "recovery" | "login_email" | "passkeys" | "reset_at">
  & {
    /** Whether one of the 2FA passwords that the service holds is the account's; absent where it holds none. */
    readonly two_fa_holds?: boolean
  }

/** Why a session of the service is gone, as `NoSession` says it. */
export type LossReason = "never" | "revoked" | "logged_out" | "deleted" | "banned" | "key_duplicated"

/** A session of the service that could not be opened any more. */
export interface Loss {
  /** Of the own session, by the id of its row. */
  readonly own: string
  readonly reason: LossReason
}

/** The list was read, through one of the service's sessions. */
export interface Seen {
  readonly kind: "seen"
  /** The own session that asked, by the id of its row. */
  readonly through: string
  readonly authorizations: ReadonlyArray<SeenAuthorization>
  /** Absent where no look was due or it failed. */
  readonly security?: SeenSecurity
  readonly profile?: Profile
}

/** What came of asking for the list. */
export type Outcome =
  | Seen
  /** No session of the service was left to ask through. */
  | { readonly kind: "lost" }
  | { readonly kind: "unavailable"; readonly error: string }
  | { readonly kind: "flood"; readonly seconds: number }

/** What one step has seen. */
export interface Observation {
  readonly outcome: Outcome
  /** Own sessions that were found lost on the way. */
  readonly lost: ReadonlyArray<Loss>
  /** Login codes that the platform has sent since the last step, as its events said. */
  readonly codes: number
}
