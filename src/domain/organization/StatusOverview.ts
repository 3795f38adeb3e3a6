/** The state of the organization's protection and of the service, at a glance. */
import { Duration, Schema } from "effect"
import { AccountStatus } from "../accounts/ProtectionStatus.ts"
import { SavingReason } from "../archive/ArchiveSummary.ts"
import { Count, described, Kind, OptionalTimestamp, Timestamp } from "../JsonShapes.ts"
import { mailFailureShown } from "../Limits.ts"
import { isOlder, type PollFacts, type PollFault, pollFault, unpolledSince } from "../protection/PollFacts.ts"
import { type OrganizationFacts, planHasArchive } from "./Organization.ts"

/** The time that accounts that are due may wait for a poll. */
const pollsOverdue = Duration.minutes(10)
/** The time that a mail may wait. */
const mailOverdue = Duration.minutes(15)

const Counts = Schema.Record(Schema.String, Count)

export const StatusOverview = Schema.Struct({
  object: Kind("status"),
  generated_at: described(Timestamp, "The moment that the answer is about."),
  protection: described(
    Schema.Struct({
      state: described(
        Schema.Literals(["ok", "attention", "down"]),
        "`down` where accounts are to be watched and no poll of one has succeeded for 10 minutes; `attention` where an admin has to look at something below."
      ),
      accounts: described(
        Counts,
        "The accounts that the caller can access, counted by their protection status."
      ),
      sessions_to_review: described(Count, "Sessions that wait for a review, whatever their account's status shows."),
      oldest_review_deadline: described(OptionalTimestamp, "When the first of them is signed out; null without one."),
      paused_with_pending: described(Count, "Paused accounts with a session that nobody has approved."),
      unheard: described(
        Schema.Boolean,
        "Whether nobody would be mailed about a takeover: no recipient wants it, or the service sends no mail."
      ),
      last_poll_at: described(
        OptionalTimestamp,
        "When an account was last polled with success: its sessions were read."
      )
    }),
    "The protection of the accounts that the caller can access."
  ),
  saving: described(
    Schema.Struct({
      state: described(
        Schema.Literals(["ok", "attention", "off"]),
        "`off` without an archive in the plan; `attention` where an account that is not offboarded saves nothing, or perhaps nothing."
      ),
      saving: described(Count, "Accounts whose new messages are saved."),
      stopped: described(Count, "Accounts whose new messages are not saved."),
      check: described(Count, "Accounts of which that is not sure."),
      reasons: described(Counts, "Why they are not saved: accounts by reason."),
      chats_to_review: described(Count, "Chats that wait for a decision whether they are archived."),
      failed_files: described(
        Count,
        "Files that were given up: the messenger has them no more, or refused them in three nights."
      ),
      unreadable_messages: described(
        Count,
        "Archived messages that were found not to open: damaged, or sealed under an archive key that was lost."
      ),
      drift: described(
        Count,
        "Messages that counted as archived and were not, or not as they are by now, as the last run of each account found: it archives them then."
      ),
      storage_used_bytes: described(Count, "What the organization's archive takes."),
      storage_limit_bytes: described(Schema.NullOr(Count), "What it may take; null without a limit.")
    }),
    "Whether new messages are saved."
  ),
  journal: described(
    Schema.Struct({
      last_sequence: described(Count, "The sequence of the newest event."),
      last_event_at: described(OptionalTimestamp, "When it happened; null without one."),
      chain_checked_at: described(OptionalTimestamp, "When the chain was last checked; null before the first check."),
      chain_ok: described(Schema.NullOr(Schema.Boolean), "What the check found; null before the first.")
    }),
    "The organization's journal."
  ),
  service: described(
    Schema.Struct({
      state: described(
        Schema.Literals(["ok", "degraded", "down"]),
        "`down` with the protection; `degraded` where accounts are due and none is polled, no poll has succeeded for 3 minutes, the messenger does not answer, mail does not leave, or the journal's chain is broken."
      ),
      message: described(Schema.NullOr(Schema.String), "What is wrong, in a sentence; null while nothing is.")
    }),
    "The service itself."
  )
}).annotate({ identifier: "status" })
export type StatusOverview = typeof StatusOverview.Type

/** Accounts that are saved, or are not for one reason. */
export interface SavingCount {
  readonly state: "saving" | "stopped" | "check"
  readonly reason: typeof SavingReason.Type | null
  readonly accounts: number
}

/** The facts that are counted and found. */
export interface OverviewFacts {
  readonly statuses: ReadonlyArray<{ readonly status: AccountStatus; readonly accounts: number }>
  readonly saving: ReadonlyArray<SavingCount>
  readonly chats_to_review: number
  /** Messages that counted as archived and were not, or not as they are. */
  readonly drift: number
  /** Files that were given up. */
  readonly failed_files: number
  /** Messages in pages that a reader found not to open. */
  readonly unreadable_messages: number
  readonly sessions_to_review: number
  readonly oldest_review_deadline: Date | null
  readonly paused_with_pending: number
  /** The time of the last good poll of any account. */
  readonly last_poll_at: Date | null
  readonly polls: PollFacts
  /** True if the organization has been notified that the messenger is away. */
  readonly messenger_away: boolean
  /** True if there is an admin who would be mailed about a takeover. */
  readonly heard: boolean
  readonly oldest_mail_at: Date | null
  readonly mail_failed_at: Date | null
  readonly last_sequence: number
  readonly last_event_at: Date | null
  readonly chain_checked_at: Date | null
  readonly chain_ok: boolean | null
}

const worrying: ReadonlyArray<AccountStatus> = ["new_sign_in", "hijack_blocked", "status_unknown", "protection_stopped"]

const sum = (counts: ReadonlyArray<{ readonly accounts: number }>): number =>
  counts.reduce((total, { accounts }) => total + accounts, 0)

/** Counts by name, none left out. */
const tally = (names: ReadonlyArray<string>, count: (name: string) => number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name) => [name, count(name)]))

/** No account is known to be all right, for so long that protection is down. */
const isDown = ({ polls }: OverviewFacts, now: Date): boolean =>
  isOlder(polls.known_at ?? unpolledSince(polls), pollsOverdue, now)

const pollTexts: Record<PollFault, string> = {
  unpolled: "Accounts are due, and none is polled.",
  unavailable: "The messenger does not answer.",
  failing: "No account can be polled."
}

const pollText = ({ messenger_away, polls }: OverviewFacts, now: Date): string | null => {
  const fault = pollFault(polls, now) ?? (messenger_away ? "unavailable" : null)
  return fault === null ? null : pollTexts[fault]
}

/** The message of a service of which nothing else is wrong. */
export const brokenChain = "The journal's chain is broken."

const fault = (facts: OverviewFacts, now: Date): string | null => {
  if (facts.chain_ok === false) return brokenChain
  if (isOlder(facts.oldest_mail_at, mailOverdue, now)) return "Mail has not left for more than 15 minutes."
  const failed = facts.mail_failed_at !== null && !isOlder(facts.mail_failed_at, mailFailureShown, now)
  return failed ? "Mail was given up in the last 24 hours." : null
}

/** The overview at `now`. */
export const overview = (facts: OverviewFacts, organization: OrganizationFacts, now: Date): StatusOverview => {
  const of = (name: string) => sum(facts.statuses.filter(({ status }) => status === name))
  const saved = (state: SavingCount["state"]) => facts.saving.filter((each) => each.state === state)
  const down = isDown(facts, now)
  const attention = worrying.some((status) => of(status) > 0) || facts.paused_with_pending > 0 || !facts.heard
  const unsaved = facts.saving.filter(({ reason }) => reason !== null && reason !== "retired")
  const wrong = pollText(facts, now) ?? fault(facts, now)
  return {
    object: "status",
    generated_at: now,
    protection: {
      state: down ? "down" : attention ? "attention" : "ok",
      accounts: tally(AccountStatus.literals, of),
      sessions_to_review: facts.sessions_to_review,
      oldest_review_deadline: facts.oldest_review_deadline,
      paused_with_pending: facts.paused_with_pending,
      unheard: !facts.heard,
      last_poll_at: facts.last_poll_at
    },
    saving: {
      state: !planHasArchive(organization) ? "off" : sum(unsaved) > 0 ? "attention" : "ok",
      saving: sum(saved("saving")),
      stopped: sum(saved("stopped")),
      check: sum(saved("check")),
      reasons: tally(SavingReason.literals, (name) => sum(facts.saving.filter(({ reason }) => reason === name))),
      chats_to_review: facts.chats_to_review,
      failed_files: facts.failed_files,
      unreadable_messages: facts.unreadable_messages,
      drift: facts.drift,
      storage_used_bytes: organization.storage_used_bytes,
      storage_limit_bytes: organization.storage_limit_bytes
    },
    journal: {
      last_sequence: facts.last_sequence,
      last_event_at: facts.last_event_at,
      chain_checked_at: facts.chain_checked_at,
      chain_ok: facts.chain_ok
    },
    service: {
      state: down ? "down" : wrong === null ? "ok" : "degraded",
      message: down && wrong !== null ? `No poll has succeeded for more than 10 minutes. ${wrong}` : wrong
    }
  }
}
