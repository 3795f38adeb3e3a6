/** Parts of all accounts, by which several processes share them. */
import { Duration, Schema } from "effect"
import type { AccountId } from "./Account.ts"

/** The number of slots; a power of two, because a slot is the last bits of an account's id. */
export const slotCount = 1024

/**
 * The time that slots are a worker's without renewal, in whole seconds. It is equal in every process: one that took
 * another's slot after a shorter time would use its keys.
 */
export const leaseTime = Duration.seconds(12)

export const Slot = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: slotCount - 1 })).pipe(
  Schema.brand("Slot")
)
export type Slot = typeof Slot.Type

/** Every slot, in order. */
export const everySlot: ReadonlySet<Slot> = new Set(Array.from({ length: slotCount }, (_, slot) => Slot.make(slot)))

/** The slot of an account; the column `monitor.slot` is made by the same rule. */
export const slotOf = (accountId: AccountId): Slot => Slot.make(Number.parseInt(accountId.slice(-3), 16) % slotCount)
