/** What clients were told, what the database holds afterwards, and what the two say of each other. */

export type Kind = "label" | "key" | "about"

/**
 * What a client knows of one write: answered 2xx, refused with 4xx, or neither, when it may or may not have happened.
 */
export type Outcome = "acknowledged" | "refused" | "unknown"

/** One request that changes something, under a text that no other request carries. */
export interface Attempt {
  readonly kind: Kind
  readonly account: string
  readonly text: string
  readonly outcome: Outcome
  /** 0 where the connection was cut. */
  readonly status: number
  readonly request: string | null
  readonly milliseconds: number
}

export interface Event {
  readonly sequence: number
  readonly action: string
  readonly outcome: "done" | "pending" | "failed" | "refused"
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string | null
  readonly account_id: string | null
  readonly target_id: string | null
  readonly closes: number | null
}

/** What the database holds when the fault is over and the sweep has been. */
export interface Kept {
  readonly events: ReadonlyArray<Event>
  readonly labels: ReadonlyMap<string, string | null>
  /** What the simulated messenger has as the bio of each account with a session. */
  readonly abouts: ReadonlyMap<string, string | null>
  /** The labels of the API keys by id, but for those that the clients work with. */
  readonly keys: ReadonlyMap<string, string>
  readonly leftPending: number
  /** Journals that `journal verify` calls broken. */
  readonly broken: number
}

/** Every count after the first two has to be 0. */
export interface Verdict {
  readonly acknowledged: number
  readonly unknown: number
  readonly lost: number
  readonly duplicated: number
  readonly halfDone: number
  readonly orphans: number
}

/** The values that a field may have after its writes, which came one after the other. */
const possible = (attempts: ReadonlyArray<Attempt>): ReadonlySet<string | null> =>
  attempts.reduce<ReadonlySet<string | null>>(
    (values, { outcome, text }) =>
      outcome === "acknowledged" ? new Set([text]) : outcome === "unknown" ? new Set([...values, text]) : values,
    new Set([null])
  )

const countBy = <A>(values: ReadonlyArray<A>, key: (value: A) => unknown): ReadonlyMap<unknown, number> => {
  const counts = new Map<unknown, number>()
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1)
  return counts
}

const repeated = (counts: ReadonlyMap<unknown, number>): number => [...counts.values()].filter((n) => n > 1).length

const difference = (left: Iterable<unknown>, right: ReadonlySet<unknown>): number =>
  [...left].filter((value) => !right.has(value)).length

/** Accounts whose value is none that their clients can explain. */
const unexplained = (attempts: ReadonlyArray<Attempt>, values: ReadonlyMap<string, string | null>): number =>
  [...values].filter(([account, value]) =>
    !possible(attempts.filter((attempt) => attempt.account === account)).has(value)
  ).length

/** Compares what was told with what is there. */
export const judge = (attempts: ReadonlyArray<Attempt>, kept: Kept): Verdict => {
  const of = (kind: Kind) => attempts.filter((attempt) => attempt.kind === kind)
  const acknowledged = attempts.filter(({ outcome }) => outcome === "acknowledged")
  const done = kept.events.filter(({ outcome }) => outcome === "done")
  const labelled = done.filter(({ action }) => action === "account.role_label_set")
  const made = done.filter(({ action }) => action === "api_key.created")
  const texts = new Set(labelled.map(({ details }) => details["role_label"]))
  const madeLabels = new Set(made.map(({ details }) => details["label"]))
  const rowLabels = new Set(kept.keys.values())
  const requests = new Set(done.map(({ request_id }) => request_id))
  const isThere = ({ kind, request, text }: Attempt): boolean =>
    kind === "label"
      ? texts.has(text)
      : kind === "key"
      ? madeLabels.has(text) && rowLabels.has(text)
      : requests.has(request)

  const intents = kept.events.filter(({ outcome }) => outcome === "pending").map(({ sequence }) => sequence)
  const closes = kept.events.flatMap(({ closes }) => closes ?? [])
  const last = new Map(labelled.map(({ account_id, details }) => [account_id, details["role_label"]]))
  const unjournaled = [...kept.labels].filter(([account, label]) => (last.get(account) ?? null) !== label)
  return {
    acknowledged: acknowledged.length,
    unknown: attempts.filter(({ outcome }) => outcome === "unknown").length,
    lost: acknowledged.filter((attempt) => !isThere(attempt)).length +
      unexplained(of("label"), kept.labels) + unexplained(of("about"), kept.abouts),
    duplicated: repeated(countBy(labelled, ({ details }) => details["role_label"])) +
      repeated(countBy(made, ({ details }) => details["label"])) +
      repeated(countBy([...kept.keys.values()], (label) => label)) +
      repeated(countBy(done.filter(({ request_id }) => request_id !== null), ({ request_id }) => request_id)) +
      repeated(countBy(closes, (sequence) => sequence)),
    halfDone: unjournaled.length +
      difference(kept.keys.keys(), new Set(made.map(({ target_id }) => target_id))) +
      difference(made.map(({ target_id }) => target_id), new Set(kept.keys.keys())) +
      difference(intents, new Set(closes)) + difference(closes, new Set(intents)),
    orphans: kept.events.filter(({ sequence }, index) => sequence !== index + 1).length + kept.broken + kept.leftPending
  }
}

/** Whether a verdict is what it must be. */
export const isWhole = ({ duplicated, halfDone, lost, orphans }: Verdict): boolean =>
  lost + duplicated + halfDone + orphans === 0
