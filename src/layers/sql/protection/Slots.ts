/** Conditions on the slot of an account; there is none where all of them are meant, as in a service of one process. */
import { type Slot, slotCount } from "../../../domain/accounts/Slot.ts"

const isEvery = (slots: ReadonlySet<Slot>): boolean => slots.size === slotCount

/** The condition on a column, such as `and monitor.slot`, whose slots are the value of that number. */
export const filter = (slots: ReadonlySet<Slot>, column: string, value: number): string =>
  isEvery(slots) ? "" : `${column} = any($${value}::int[])`

/** The value of the condition. */
export const values = (slots: ReadonlySet<Slot>): ReadonlyArray<ReadonlyArray<number>> =>
  isEvery(slots) ? [] : [[...slots]]
