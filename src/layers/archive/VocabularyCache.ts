/** Sealed vocabularies that were read before; one never changes. The oldest go first. */

const mostBytes = 64 * 1024 * 1024
const mostKept = 10_000
/** As many as a request may name. */
const mostNamed = 1000

interface KnownVocabulary {
  /** The newest message of its pages. */
  readonly lastAt: number
  readonly sealed: Uint8Array
}

export class VocabularyCache {
  private readonly known = new Map<string, KnownVocabulary>()
  private size = 0

  get(name: string): Uint8Array | undefined {
    return this.known.get(name)?.sealed
  }

  set(name: string, lastAt: number, sealed: Uint8Array): void {
    if (this.known.has(name)) return
    this.known.set(name, { lastAt, sealed })
    this.size += sealed.length
    for (const [oldest, { sealed: { length } }] of this.known) {
      if (this.size <= mostBytes && this.known.size <= mostKept) return
      this.known.delete(oldest)
      this.size -= length
    }
  }

  /** Those that a list comes to first, whose blocks have no message after the time. */
  names(until: number): ReadonlyArray<string> {
    return [...this.known]
      .filter(([, { lastAt }]) => lastAt <= until)
      .sort(([, one], [, other]) => other.lastAt - one.lastAt)
      .slice(0, mostNamed)
      .map(([name]) => name)
  }
}
