/** Holds: days of accounts of which nothing is deleted. */
import { Schema } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { CalendarDay, described, Kind, Line, OptionalTimestamp, Timestamp, Uuid } from "../JsonShapes.ts"

const maxHoldNameLength = 200

/** Accounts that one hold or one cleanup names at most. */
const maxNamedAccounts = 100

export const HoldName = Line(maxHoldNameLength)

export const NamedAccounts = Schema.Array(AccountId).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(maxNamedAccounts)
)

export const distinctAccounts = (ids: ReadonlyArray<AccountId>): ReadonlyArray<AccountId> => [...new Set(ids)]

/** The object of an event that is about these accounts, with the account that the event concerns where it is one. */
export const objectOf = (id: string, accountIds: ReadonlyArray<string> | null) => ({
  id,
  accountId: accountIds?.length === 1 ? accountIds[0] : null
})

export const ArchiveHold = Schema.Struct({
  object: Kind("archive_hold"),
  id: described(Uuid, "The hold's id: a UUID."),
  name: described(Schema.String, "Its name, such as that of the case."),
  account_ids: described(Schema.NullOr(Schema.Array(Uuid)), "The accounts; null for all, those to come among them."),
  since: described(Schema.NullOr(Schema.String), "The first day in UTC, `YYYY-MM-DD`; null for the beginning."),
  until: described(Schema.NullOr(Schema.String), "The last day in UTC, `YYYY-MM-DD`; null for no end."),
  placed_by: described(Uuid, "The admin who placed it."),
  placed_at: described(Timestamp, "When it was placed."),
  released_at: described(OptionalTimestamp, "When it was released; null while it holds.")
}).annotate({ identifier: "archive_hold" })
export type ArchiveHold = typeof ArchiveHold.Type

export const HoldId = Uuid.pipe(Schema.brand("HoldId"))
export type HoldId = typeof HoldId.Type

/** The hold that an operation is about, as a member of its path. */
export const TargetHold = HoldId.annotateKey({ description: "From list_archive_holds." })

export const HoldDay = CalendarDay

/** A hold as it is stored; days are `YYYY-MM-DD`. */
export interface StoredHold {
  readonly id: HoldId
  readonly name: string
  readonly accountIds: ReadonlyArray<string> | null
  readonly since: string | null
  readonly until: string | null
  readonly placedBy: string
  readonly placedAt: Date
  readonly releasedAt: Date | null
}

/**
 * Records that may be held: of accounts, or of all; up to the day before `before`, or of all days; of single days alone
 * where they are named.
 */
export interface HeldRecords {
  readonly accountIds: ReadonlyArray<AccountId> | null
  readonly before: string | null
  readonly days?: ReadonlyArray<string>
}

export const archiveHold = (hold: StoredHold): ArchiveHold => ({
  object: "archive_hold",
  id: hold.id,
  name: hold.name,
  account_ids: hold.accountIds,
  since: hold.since,
  until: hold.until,
  placed_by: hold.placedBy,
  placed_at: hold.placedAt,
  released_at: hold.releasedAt
})
