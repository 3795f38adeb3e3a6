/** A queue from which what is highest is taken first. */

export interface NewestFirst<A> {
  /** The highest rank in the queue, or -Infinity. */
  readonly highest: () => number
  readonly peek: () => A | undefined
  readonly push: (rank: number, value: A) => void
  readonly take: () => A | undefined
}

export const makeNewestFirst = <A>(): NewestFirst<A> => {
  const heap: Array<{ readonly rank: number; readonly value: A }> = []
  const rankAt = (at: number): number => heap[at]?.rank ?? -Infinity
  const swap = (one: number, other: number): void => {
    const [first, second] = [heap[one], heap[other]]
    if (first === undefined || second === undefined) return
    heap[one] = second
    heap[other] = first
  }
  const rise = (from: number): void => {
    for (let at = from; at > 0;) {
      const above = at - 1 >> 1
      if (rankAt(above) >= rankAt(at)) return
      swap(at, above)
      at = above
    }
  }
  const sink = (): void => {
    for (let at = 0;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const below = rankAt(right) > rankAt(left) ? right : left
      if (rankAt(below) <= rankAt(at)) return
      swap(at, below)
      at = below
    }
  }
  return {
    highest: () => rankAt(0),
    peek: () => heap[0]?.value,
    push: (rank, value) => {
      heap.push({ rank, value })
      rise(heap.length - 1)
    },
    take: () => {
      swap(0, heap.length - 1)
      const taken = heap.pop()
      sink()
      return taken?.value
    }
  }
}
