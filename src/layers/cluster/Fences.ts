/**
 * The slots that this process may use, each until a moment before its lease ends in the database.
 *
 * A slot is free, open or closing. Only an acquired lease opens a free one; a renewal only moves the end of an open one;
 * a closing one stays closed until its connections are gone.
 */
import { everySlot, type Slot, slotCount } from "../../domain/accounts/Slot.ts"
import { type Instant, isBefore } from "../Instant.ts"

interface Fence {
  readonly term: number
  until: Instant
}

export class Fences {
  readonly #instant: () => Instant
  readonly #open = new Map<Slot, Fence>()
  readonly #closing = new Set<Slot>()
  readonly #changed = new Set<Slot>()
  #terms = 0

  constructor(instant: () => Instant) {
    this.#instant = instant
  }

  /** The term of the slot; null where its time is over, or it is not open. Without a slot: of all, where all are open. */
  term(slot?: Slot): number | null {
    if (slot === undefined) return this.owned().size === slotCount ? this.#terms : null
    const fence = this.#open.get(slot)
    return fence !== undefined && isBefore(this.#instant(), fence.until) ? fence.term : null
  }

  owned(): ReadonlySet<Slot> {
    const now = this.#instant()
    const open = [...this.#open].filter(([, { until }]) => isBefore(now, until))
    return open.length === slotCount ? everySlot : new Set(open.map(([slot]) => slot))
  }

  /** Begins a term of each slot that is free; returns those whose term has begun. */
  open(slots: Iterable<Slot>, until: Instant): ReadonlySet<Slot> {
    const begun = new Set<Slot>()
    if (!isBefore(this.#instant(), until)) return begun
    for (const slot of slots) {
      if (this.#closing.has(slot)) continue
      begun.add(slot)
      if (this.term(slot) !== null) this.extend([slot], until)
      else this.#open.set(slot, { term: ++this.#terms, until })
      this.#changed.add(slot)
    }
    return begun
  }

  /** Moves the ends of terms that last; one that is over does not begin again. */
  extend(slots: Iterable<Slot>, until: Instant): void {
    for (const slot of slots) {
      const fence = this.#open.get(slot)
      if (fence !== undefined && this.term(slot) !== null && !isBefore(until, fence.until)) fence.until = until
    }
  }

  /** Ends the terms of slots that are to be given away. */
  close(slots: Iterable<Slot>): void {
    for (const slot of slots) {
      if (this.#open.delete(slot)) this.#changed.add(slot)
      this.#closing.add(slot)
    }
  }

  /** Nothing uses the slots any more. */
  free(slots: Iterable<Slot>): void {
    for (const slot of slots) this.#closing.delete(slot)
  }

  /** Drops terms that have run out, and returns their number. */
  lapse(): number {
    const over = [...this.#open.keys()].filter((slot) => this.term(slot) === null)
    for (const slot of over) {
      this.#open.delete(slot)
      this.#changed.add(slot)
    }
    return over.length
  }

  /** The slots whose terms have changed since this was asked last. */
  takeChanges(): ReadonlySet<Slot> {
    const changed = new Set(this.#changed)
    this.#changed.clear()
    return changed
  }
}
