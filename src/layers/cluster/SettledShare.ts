/** The number of slots that a process has, once it has stayed the same for a while: workers pass slots on in parts. */

/** The number of rounds in which it stays the same. */
const settledAfter = 10

export class SettledShare {
  #reported = 0
  #last = 0
  #rounds = 0

  /** Takes the number of each round; returns it where it has settled and is another one than was returned last. */
  round(slots: number): number | null {
    this.#rounds = slots === this.#last ? this.#rounds + 1 : 0
    this.#last = slots
    if (this.#rounds < settledAfter || slots === this.#reported) return null
    this.#reported = slots
    return slots
  }
}
