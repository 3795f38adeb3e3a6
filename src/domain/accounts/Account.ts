/** A protected account (specification, section 2.3). */
import { Schema } from "effect"
import { type ArchiveFacts, ArchiveSummary, archiveSummary } from "../archive/ArchiveSummary.ts"
import { ContentNotice, described, Kind, OptionalTimestamp, Uuid } from "../JsonShapes.ts"
import { type OrganizationFacts, paidPlan, seatCounts, seats, Tier } from "../organization/Organization.ts"
import { type Caller, seesDevices } from "../people/Access.ts"
import { Session, session, type SessionFacts, Termination } from "../sessions/Session.ts"
import { AccountStatus, deriveStatus, MonitoringState, type StatusFacts } from "./ProtectionStatus.ts"

export const AccountId = Uuid.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

/** The account that an operation is about, as a member of its path. */
export const TargetAccount = AccountId.annotateKey({ description: "From list_protected_accounts." })

export const DepartmentId = Uuid.pipe(Schema.brand("DepartmentId"))
export type DepartmentId = typeof DepartmentId.Type

const fields = {
  object: Kind("account"),
  id: described(AccountId, "The account's id: a UUID."),
  name: described(Schema.String, "The messenger name, else the username, else the phone number."),
  phone_number: described(Schema.String, "The phone number as the messenger shows it."),
  role_label: described(
    Schema.NullOr(Schema.String),
    "The organization's own label of the account, up to 60 characters."
  ),
  department_id: described(
    Schema.NullOr(DepartmentId),
    "The department that the account is in: a UUID."
  ),
  status: described(AccountStatus, "The protection status now."),
  licence_tier: described(
    Schema.NullOr(Tier),
    "The tier of the account's licence: `protect`, `archive` or `governance`; null in a trial or without a paid plan."
  ),
  joined_at: described(OptionalTimestamp, "When the account was connected."),
  offboarded_at: described(OptionalTimestamp, "When the account was offboarded and its seat freed; null until then."),
  archive: described(ArchiveSummary, "What is archived of the account, and whether new messages are.")
}

export const Account = Schema.Struct(fields).annotate({ identifier: "account" })
export type Account = typeof Account.Type

/** The answer to the change of one account's fields: the list's item, and the notice. */
export const ChangedAccount = Schema.Struct({ content_notice: ContentNotice, ...fields }).annotate({
  identifier: "changed_account"
})

/** The single read: everything of the list's item, and what only some roles see is left out for the others. */
export const AccountDetail = Schema.Struct({
  content_notice: ContentNotice,
  ...fields,
  messenger_user_id: described(Schema.String, "The messenger's own id of the user."),
  licence: described(
    Schema.NullOr(Schema.Struct({
      uses_licence: described(Schema.Boolean, "Whether the account holds a seat: while it is protected or paused."),
      ...seatCounts
    })),
    "The seat that the account holds, and the organization's seats."
  ),
  archive_consent_at: described(OptionalTimestamp, "When the account's holder agreed to archiving."),
  monitoring: described(
    Schema.optionalKey(Schema.Struct({
      state: described(MonitoringState, "`active`, `unknown` while reading the account fails, or `stopped`."),
      last_polled_at: described(OptionalTimestamp, "When the account's sessions were last read."),
      last_poll_error: described(Schema.NullOr(Schema.String), "Why the last reading failed; null where it did not."),
      enrolled_at: described(OptionalTimestamp, "When monitoring began."),
      enforcement_active_at: described(
        OptionalTimestamp,
        "From when the messenger lets the service sign other sessions out, 24 hours after connecting."
      ),
      recovery: described(
        Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
        "The account's ways of recovery, where they can be read."
      )
    })),
    "How the account is monitored; for owner, superadmin and admin alone."
  ),
  sessions: described(
    Schema.optionalKey(Schema.Array(Session)),
    "Where the account is signed in; for owner, superadmin and admin alone."
  ),
  terminations: described(
    Schema.optionalKey(Schema.Array(Termination)),
    "The 20 latest sessions that ended; for owner, superadmin and admin alone."
  ),
  tamper: described(
    Schema.optionalKey(Schema.Struct({
      locked_at: described(
        OptionalTimestamp,
        "When sessions were signed out after a takeover attempt; null where none were."
      ),
      reason: described(Schema.NullOr(Schema.String), "Why they were signed out.")
    })),
    "What was done after a takeover attempt; for owner, superadmin and admin alone."
  ),
  security_lock: described(
    Schema.optionalKey(Schema.Struct({
      enabled: described(Schema.Boolean, "Whether the account's security settings are locked against changes.")
    })),
    "The lock on the account's security settings; for owner, superadmin and admin alone."
  )
}).annotate({ identifier: "account_detail" })
export type AccountDetail = typeof AccountDetail.Type

/** The answer of an operation that acts on one account (section 2.7); `status` is there where the action changed it. */
export const AccountAction = Schema.Struct({
  object: Kind("account_action"),
  account_id: described(AccountId, "The account that was acted on: a UUID."),
  action: described(Schema.String, "What was done, such as `paused`."),
  status: described(
    Schema.optionalKey(AccountStatus),
    "The account's protection status now, where the action changed it."
  )
}).annotate({ identifier: "account_action" })

/** The stored facts of an account that a list shows, or derives what it shows from. */
export interface ListedFacts extends StatusFacts, ArchiveFacts {
  readonly id: AccountId
  readonly phone_number: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly username: string | null
  readonly role_label: string | null
  readonly department_id: DepartmentId | null
  readonly joined_at: Date | null
}

/** The stored facts of an account; everything that it shows is derived from them, its organization and the time. */
export interface AccountFacts extends ListedFacts {
  readonly messenger_user_id: string
  readonly enrolled_at: Date | null
  readonly recovery: { readonly [key: string]: unknown } | null
  readonly archive_consent_at: Date | null
  readonly locked_at: Date | null
  readonly lock_reason: string | null
  readonly security_lock: boolean
  readonly paired_state: "none" | "active" | "lost"
  readonly paired_since: Date | null
  readonly paired_error: string | null
}

/** The results of the latest polls of an account. */
export interface LatestPoll {
  readonly last_polled_at: Date | null
  readonly last_poll_error: string | null
}

/** For an account that has not been polled. */
export const unwatched: LatestPoll = { last_polled_at: null, last_poll_error: null }

/** The names that the messenger knows a person by. */
export interface MessengerNames {
  readonly first_name: string | null
  readonly last_name: string | null
  readonly username: string | null
}

/** The messenger name, else the username, else the phone number. */
export const accountName = (facts: MessengerNames & { readonly phone_number: string }): string => {
  const name = [facts.first_name, facts.last_name].filter((part) => part !== null && part !== "").join(" ")
  if (name !== "") return name
  return facts.username !== null && facts.username !== "" ? facts.username : facts.phone_number
}

/** The order of the list: the name without regard to case and compatibility forms, compared by code point. */
export const nameKey = (facts: MessengerNames & { readonly phone_number: string }): string =>
  accountName(facts).normalize("NFKC").toLowerCase()

/** The account as the list shows it to the caller at `now`. */
export const account = (
  facts: ListedFacts,
  organization: OrganizationFacts,
  caller: Caller["Service"],
  now: Date
): Account => ({
  object: "account",
  id: facts.id,
  name: accountName(facts),
  phone_number: facts.phone_number,
  role_label: facts.role_label,
  department_id: facts.department_id,
  status: deriveStatus(facts, now),
  licence_tier: paidPlan(organization) === null ? null : facts.licence_tier,
  joined_at: facts.joined_at,
  offboarded_at: facts.offboarded_at,
  archive: archiveSummary(facts, organization, now, caller.readsArchive)
})

/** The single read; the device fields are absent for roles that do not protect accounts. */
export const accountDetail = (
  facts: AccountFacts,
  organization: OrganizationFacts,
  monitor: LatestPoll,
  sessions: ReadonlyArray<SessionFacts>,
  terminations: ReadonlyArray<Termination>,
  caller: Caller["Service"],
  now: Date
): Omit<AccountDetail, "content_notice"> => ({
  ...account(facts, organization, caller, now),
  messenger_user_id: facts.messenger_user_id,
  licence: { uses_licence: facts.offboarded_at === null, ...seats(organization) },
  archive_consent_at: facts.archive_consent_at,
  ...(seesDevices(caller.role)
    ? {
      monitoring: {
        state: facts.monitoring_state,
        last_polled_at: monitor.last_polled_at,
        last_poll_error: monitor.last_poll_error,
        enrolled_at: facts.enrolled_at,
        enforcement_active_at: facts.enforcement_active_at,
        recovery: facts.recovery
      },
      sessions: sessions.map((row) => session(row, facts.enforcement_active_at, now)),
      terminations,
      tamper: { locked_at: facts.locked_at, reason: facts.lock_reason },
      security_lock: { enabled: facts.security_lock }
    }
    : {})
})
