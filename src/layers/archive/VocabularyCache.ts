/** Blocks whose sealed vocabularies were read before; one never changes. The oldest go first. */
import type { ListPosition, SearchBlock } from "../../ports/archive/SearchStore.ts"

const mostBytes = 64 * 1024 * 1024
const mostKept = 10_000
/** As many as a request may name. */
const mostNamed = 1000

export class VocabularyCache {
  private readonly known = new Map<string, SearchBlock>()
  private size = 0

  get(name: string): SearchBlock | undefined {
    return this.known.get(name)
  }

  set(name: string, block: SearchBlock): void {
    if (this.known.has(name)) return
    this.known.set(name, block)
    this.size += block.sealed.length
    for (const [oldest, { sealed: { length } }] of this.known) {
      if (this.size <= mostBytes && this.known.size <= mostKept) return
      this.known.delete(oldest)
      this.size -= length
    }
  }

  /** Those that a list comes to first, after the place. */
  names(after: ListPosition | null): ReadonlyArray<string> {
    return [...this.known]
      .filter(([, { blockId, lastAt }]) =>
        after === null || lastAt < after.lastAt || lastAt === after.lastAt && blockId < after.number
      )
      .sort(([, one], [, other]) => other.lastAt - one.lastAt)
      .slice(0, mostNamed)
      .map(([name]) => name)
  }
}
