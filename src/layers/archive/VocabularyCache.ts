/** Sealed vocabularies that were read before; one never changes. The oldest go first. */

const mostBytes = 64 * 1024 * 1024
const mostNamed = 1000

export class VocabularyCache {
  private readonly sealed = new Map<string, Uint8Array>()
  private size = 0

  get(name: string): Uint8Array | undefined {
    return this.sealed.get(name)
  }

  set(name: string, sealed: Uint8Array): void {
    if (this.sealed.has(name)) return
    this.sealed.set(name, sealed)
    this.size += sealed.length
    for (const [oldest, { length }] of this.sealed) {
      if (this.size <= mostBytes && this.sealed.size <= mostNamed) return
      this.sealed.delete(oldest)
      this.size -= length
    }
  }

  /** As many as a request may name. */
  names(): ReadonlyArray<string> {
    return [...this.sealed.keys()]
  }
}
