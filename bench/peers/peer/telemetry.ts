/** What is counted and logged of every request. */

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Series {
  readonly answered: Map<string, number>
  readonly buckets: Array<number>
  sum: number
}

/** Requests by operation and code, and their latency in buckets. */
export class Metrics {
  readonly #series = new Map<string, Series>()

  count(operation: string, code: string, seconds: number): void {
    let series = this.#series.get(operation)
    if (series === undefined) {
      series = { answered: new Map(), buckets: bounds.map(() => 0), sum: 0 }
      this.#series.set(operation, series)
    }
    series.answered.set(code, (series.answered.get(code) ?? 0) + 1)
    series.sum += seconds
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
  }
}

let pending = ""

const flush = () => {
  process.stderr.write(pending)
  pending = ""
}

/** Writes the lines of one turn of the event loop at once. */
export const logStream = {
  write: (line: string): void => {
    if (pending === "") setImmediate(flush)
    pending += line
  }
}
