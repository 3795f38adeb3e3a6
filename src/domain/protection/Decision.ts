/** The consequences of what was stored and seen, as plain data: the engine writes it and then acts. */
import type { ActionName } from "../journal/JournalEntry.ts"
import type { JournalDetails, JournalOutcome } from "../journal/JournalEvent.ts"
import type { Termination } from "../sessions/Session.ts"
import type { EndingReason, Facets, GuardedAccount, MonitorFacts, StopReason, WatchedSession } from "./Facts.ts"
import type { ServiceSession } from "./ServiceSession.ts"

/** The kind of an outside change, numbered as the specification does. */
export type SignalCode = "T1" | "T2" | "T3" | "T4" | "T5" | "T6" | "T7"

/** A change that did not come from the service. */
export interface Signal {
  readonly code: SignalCode
  /** The changed thing, in one word, such as `two_fa`. */
  readonly what: string
}

/** An event of the journal that the service writes about the account. */
export interface EngineEvent {
  readonly action: ActionName
  readonly actor: "service" | "external"
  /** The platform's id of the session that it is about; null where it is about the account. */
  readonly session: string | null
  readonly details: JournalDetails
  /** `done` by default. */
  readonly outcome?: JournalOutcome
  /** The sequence of the intent that it completes. */
  readonly closes?: number
}

/** A session as a mail names it: third-party text. */
export type MailedSession = Pick<
  WatchedSession,
  "id" | "device_model" | "app_name" | "ip" | "country" | "created_at"
>

/** The facts in a mail, by its kind. */
export type MailText =
  | { readonly kind: "session.detected"; readonly session: MailedSession; readonly deadline: Date | null }
  | { readonly kind: "session.autokilled"; readonly session: MailedSession }
  | { readonly kind: "outside_change.detected"; readonly signals: ReadonlyArray<Signal> }
  | { readonly kind: "login.attempted"; readonly session: MailedSession | null }
  | { readonly kind: "takeover.detected"; readonly signals: ReadonlyArray<Signal>; readonly response: TakeoverResponse }
  | { readonly kind: "takeover.stopped"; readonly ended: number }
  | { readonly kind: "monitoring.lost"; readonly error: string }
  | { readonly kind: "protection.stopped"; readonly reason: StopReason }
  | { readonly kind: "two_fa.lost" }
  | { readonly kind: "paired_session.lost"; readonly error: string }

/** A mail to the organization's recipients. */
export type EngineMail = MailText & {
  /** The event that causes it, by its place in `events`. */
  readonly event: number
}

/** A row of a session as it is from now on. */
export interface SessionUpsert {
  /** Null for a new row, whose id the caller makes. */
  readonly record_id: string | null
  readonly row: Omit<WatchedSession, "record_id">
}

/**
 * A session that is not listed any more: its row goes, and a termination stays, unless it was the service's own or goes
 * on under another id.
 */
export interface EndedSession {
  readonly record_id: string
  readonly session_id: string
  readonly termination: Omit<Termination, "session_id"> | null
}

/** A session to sign out now; they come in the order in which they are signed out. */
export interface SessionEnding {
  readonly session_id: string
  readonly reason: EndingReason
  /** The admin who wants it; null where the service does. */
  readonly by: string | null
  /** The intent under which it was tried before; null where one is to be begun, and written to the row. */
  readonly intent: number | null
  /** The details of the intent, and of the event that closes it. */
  readonly action: ActionName
  readonly details: JournalDetails
}

/**
 * The outcome of one sign-out; `skipped` was not sent in this step, because an admin has decided otherwise or the
 * platform refused one before it.
 */
export interface SignOutAttempt {
  readonly session_id: string
  readonly reason: EndingReason
  readonly intent: number
  /** True if the intent had been tried by an earlier step. */
  readonly again: boolean
  readonly outcome: "done" | "unknown_authorization" | "locked" | "flood" | "unavailable" | "skipped"
  /** The end of the platform's refusal, if it gives a time. */
  readonly retryAt: Date | null
}

/** The response to a takeover: sessions are signed out, that waits for the platform's lock, or it is turned off. */
export type TakeoverResponse = "sign_out" | "queued" | "none"

/** A takeover that is judged to be under way. */
export interface Takeover {
  readonly signals: ReadonlyArray<Signal>
  readonly response: TakeoverResponse
  /** Nothing is left to sign out: the takeover is stopped in the account's facts already. */
  readonly stopped: boolean
}

/** The change of an own session's row; `ended` drops it with its key. */
export interface ServiceSessionChange {
  readonly id: string
  readonly slot: ServiceSession["slot"] | "ended"
  readonly seen_as: string | null
}

/** Columns of the account that change, by their names. */
export type AccountChange =
  & Partial<Omit<GuardedAccount, "id" | "login_open" | "two_fa_managed">>
  & { readonly stop_reason?: StopReason | null }

/** Columns of the monitor that change, by their names. */
export type MonitorChange = Partial<MonitorFacts> & { readonly last_polled_at?: Date }

export interface Decision {
  readonly upserts: ReadonlyArray<SessionUpsert>
  readonly ended: ReadonlyArray<EndedSession>
  readonly endings: ReadonlyArray<SessionEnding>
  readonly signals: ReadonlyArray<Signal>
  readonly takeover: Takeover | null
  readonly account: AccountChange
  readonly monitor: MonitorChange
  readonly own: ReadonlyArray<ServiceSessionChange>
  readonly facets: Facets
  readonly events: ReadonlyArray<EngineEvent>
  readonly mails: ReadonlyArray<EngineMail>
  /** The person is free to be protected by another organization. */
  readonly freesIdentity: boolean
  /**
   * The time when a step is due although no poll is: a deadline, the end of the platform's lock, a retry; null for
   * none.
   */
  readonly dueAt: Date | null
  /** The time of the next reading of security and profile. */
  readonly lookAt: Date
}

/** The changes that follow from the outcomes of sign-outs, written in one transaction after them. */
export type OutcomeChanges = Pick<
  Decision,
  "upserts" | "ended" | "account" | "monitor" | "facets" | "events" | "mails" | "dueAt"
>
