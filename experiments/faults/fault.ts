/** What every fault is told, and what it reports. */
import type { Attempt, Verdict } from "./ledger.ts"

export interface Sizes {
  readonly rounds: number | undefined
  readonly seconds: number | undefined
  /** The name of the one thing to try, for a fault that tries several in random order. */
  readonly only?: string | undefined
  /** The services that share the rounds at the same time, for a fault that mostly waits. */
  readonly atOnce?: number | undefined
}

export interface Report {
  /** What was done, as a row of the table says it. */
  readonly done: string
  /** Undefined where the fault could not be tried. */
  readonly verdict: Verdict | undefined
  /** What else was measured. */
  readonly seen: string
  /** What was expected and did not come; the run fails. */
  readonly failed: ReadonlyArray<string>
}

export type Fault = (sizes: Sizes) => Promise<Report>

/** What clients were answered, as `200 × 12, 503 × 3`; a cut connection is `cut`. */
export const answers = (attempts: ReadonlyArray<{ readonly status: number }>): string => {
  const counts = new Map<number, number>()
  for (const { status } of attempts) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status === 0 ? "cut" : status} × ${count}`).join(", ")
}

/** What is expected and does not hold, as texts. */
export const unmet = (expected: Readonly<Record<string, boolean>>): ReadonlyArray<string> =>
  Object.entries(expected).filter(([, holds]) => !holds).map(([text]) => text)

/** Clients see success, 503 or a cut connection, whatever fails below the service. */
export const onlyTold = (attempts: ReadonlyArray<Attempt>): Readonly<Record<string, boolean>> => ({
  [`answers are 2xx, 503 or cut: ${answers(attempts)}`]: attempts.every(({ status }) =>
    status === 0 || status === 503 || (status >= 200 && status < 300)
  )
})

/** The slowest and the middle one of some times, in milliseconds. */
export const spread = (times: ReadonlyArray<number>): string => {
  const sorted = [...times].sort((a, b) => a - b)
  return `median ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms, longest ${
    Math.round(sorted.at(-1) ?? 0)
  } ms`
}
