/** The time for which an organization keeps what is archived. */
import { Duration, Schema } from "effect"
import { described, Kind, OptionalTimestamp, Uuid } from "../JsonShapes.ts"
import { after, before } from "../Moments.ts"
import { Tier } from "../organization/Organization.ts"

/** From the counting and announcement of what a retention deletes until it is deleted. */
const retentionNotice = Duration.days(7)

export const RetentionDays = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 30, maximum: 36_500 })))

/** Days of licence tiers whose accounts are kept for longer than all others. */
export const ChosenTierDays = Schema.Struct({
  protect: Schema.optionalKey(RetentionDays),
  archive: Schema.optionalKey(RetentionDays),
  governance: Schema.optionalKey(RetentionDays)
})
export type ChosenTierDays = typeof ChosenTierDays.Type

const ofTier = (tier: Tier) => described(RetentionDays, `Days of accounts with a licence of the tier ${tier}.`)

const TierDays = Schema.Struct({
  protect: ofTier("protect"),
  archive: ofTier("archive"),
  governance: ofTier("governance")
})
type TierDays = typeof TierDays.Type

export const ArchiveRetention = Schema.Struct({
  object: Kind("archive_retention"),
  days: described(
    RetentionDays,
    "What was sent before so many days is deleted, of accounts without a licence; null keeps everything."
  ),
  tier_days: described(
    TierDays,
    "The same for accounts of a licence tier: `protect`, `archive` and `governance`."
  ),
  begins_at: described(OptionalTimestamp, "From when it deletes; null where everything is kept."),
  updated_at: described(OptionalTimestamp, "When it was set; null where everything is kept."),
  updated_by: described(Schema.NullOr(Uuid), "The admin who set it; null where everything is kept.")
}).annotate({ identifier: "archive_retention" })
export type ArchiveRetention = typeof ArchiveRetention.Type

/** The days for which accounts are kept; null keeps everything. */
export interface KeptDays {
  readonly days: number | null
  readonly tierDays: TierDays
}

/** A retention as it is stored. */
export interface StoredRetention extends KeptDays {
  readonly setBy: string
  readonly setAt: Date
  readonly beginsAt: Date
}

export const archiveRetention = (stored: StoredRetention | null): ArchiveRetention => ({
  object: "archive_retention",
  days: stored?.days ?? null,
  tier_days: stored?.tierDays ?? allTiers(null),
  begins_at: stored?.beginsAt ?? null,
  updated_at: stored?.setAt ?? null,
  updated_by: stored?.setBy ?? null
})

const tiers = [null, ...Tier.literals]

const allTiers = (days: number | null): TierDays => ({ protect: days, archive: days, governance: days })

const longer = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other)

/** The days as they are chosen: the longest wins, that of all accounts or that of the tier. */
export const keptDays = (days: number | null, chosen: ChosenTierDays): KeptDays => {
  const ofTier = (tier: Tier) => chosen[tier] === undefined ? days : longer(days, chosen[tier])
  return {
    days,
    tierDays: { protect: ofTier("protect"), archive: ofTier("archive"), governance: ofTier("governance") }
  }
}

/** The days for which accounts of the tier are kept. */
export const daysOf = ({ days, tierDays }: KeptDays, tier: Tier | null): number | null =>
  tier === null ? days : tierDays[tier]

/** True where nothing is deleted. */
export const keepsAll = (kept: KeptDays): boolean => tiers.every((tier) => daysOf(kept, tier) === null)

const longest = (kept: KeptDays | null, tier: Tier | null) => (kept === null ? null : daysOf(kept, tier)) ?? Infinity

/** True where accounts of some tier are kept for less time than before. */
export const isShorter = (kept: KeptDays, than: KeptDays | null): boolean =>
  tiers.some((tier) => longest(kept, tier) < longest(than, tier))

export const isSameKept = (kept: KeptDays, than: KeptDays | null): boolean =>
  tiers.every((tier) => longest(kept, tier) === longest(than, tier))

const worded = (days: number | null): string => days === null ? "for good" : `${days} days`

const tierWords = ({ days, tierDays }: KeptDays): ReadonlyArray<string> =>
  Tier.literals.flatMap((tier) => tierDays[tier] === days ? [] : [`${tier}: ${worded(tierDays[tier])}`])

/** The days in words, as in `365 days; governance: for good`. */
export const keptWords = (kept: KeptDays): string => [worded(kept.days), ...tierWords(kept)].join("; ")

/** The days as the journal has them. */
export const keptDetails = (kept: KeptDays): Readonly<Record<string, string | number>> => {
  const own = tierWords(kept)
  return {
    ...(kept.days === null ? {} : { days: kept.days }),
    ...(own.length === 0 ? {} : { tier_days: own.join("; ") })
  }
}

/** The time from which something that is announced now is deleted. */
export const retentionDeletes = (now: Date): Date => after(now, retentionNotice)

/** The first day in UTC, `YYYY-MM-DD`, that is kept at a time. */
export const firstKeptDay = (days: number, at: Date): string =>
  before(at, Duration.days(days)).toISOString().slice(0, 10)
