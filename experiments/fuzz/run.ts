/**
 * A run: the cases of a seed in batches, judged one by one, and the database compared around those that were refused.
 */
import type * as fc from "fast-check"
import { type Case, isRequest } from "./case.ts"
import { type Answer, Pool, sendRaw } from "./client.ts"
import { difference, digest, isJournal, type Query, watched } from "./digest.ts"
import type { Verdict } from "./envelope.ts"
import { arbitrary, caseOf, shrink } from "./generate.ts"
import { judge } from "./judge.ts"
import { isDestructive } from "./rest.ts"
import type { Stage } from "./stage.ts"
import { bytesOf, describe } from "./wireForm.ts"

/** What the cases are sent to. */
export interface Target {
  readonly port: number
  readonly stage: Stage
  readonly query: Query
}

export interface Options {
  readonly seed: number
  readonly first: number
  readonly count: number
  /** Cases at once. */
  readonly concurrency: number
  /** Cases between two looks at the whole database. */
  readonly batch: number
  /** Keeps every case with its answers, for a person to read. */
  readonly shows?: boolean
  readonly onFinding?: (finding: Finding) => void
  readonly onBatch?: (done: number, findings: number) => void
}

export interface Finding {
  readonly number: number
  readonly fault: string
  /** The smallest case that shows it. */
  readonly text: string
  /** What was answered. */
  readonly answer: string
}

export interface Result {
  readonly findings: ReadonlyArray<Finding>
  /** How many cases showed each fault. */
  readonly faults: ReadonlyMap<string, number>
  readonly surfaces: ReadonlyMap<string, number>
  readonly kinds: ReadonlyMap<string, number>
  readonly statuses: ReadonlyMap<string, number>
  /** Comparisons of the database, and how many refused requests lay between them. */
  readonly comparisons: number
  readonly compared: number
  readonly shown: ReadonlyArray<string>
}

interface Tried extends Verdict {
  readonly number: number
  readonly found: Case
  readonly answers: ReadonlyArray<Answer>
}

/** Refusals that the journal keeps: the messenger's, after an intent, and wrong passwords. */
const journaled: ReadonlySet<string | undefined> = new Set([
  "username_taken",
  "username_invalid",
  "username_purchasable",
  "bio_too_long",
  "messenger_refused",
  "messenger_unavailable",
  "password_incorrect",
  "phone_refused",
  "too_many_attempts"
])

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

/** What a fault is called, whatever the case: so that one hole is told once. */
const signature = ({ surface }: Case, fault: string): string =>
  `${surface}: ${fault.replaceAll(/"[^"]*"|\d+/g, "…").slice(0, 160)}`

const inParallel = async <A, B>(
  all: ReadonlyArray<A>,
  width: number,
  run: (one: A) => Promise<B>
): Promise<Array<B>> => {
  const results: Array<B> = []
  const rest = all.entries()
  await Promise.all(Array.from({ length: width }, async () => {
    for (const [index, one] of rest) results[index] = await run(one)
  }))
  return results
}

const described = (answers: ReadonlyArray<Answer>): string =>
  answers.map(({ body, headers, status }) =>
    [status, ...[...headers].map(([name, value]) => `${name}: ${value}`), "", body.toString().slice(0, 600)].join("\n")
  ).join("\n\n") || "nothing"

/** Sends cases to a service, and knows what they showed. */
export class Run {
  readonly #target: Target
  readonly #options: Options
  readonly #pool: Pool
  readonly #cases: fc.Arbitrary<Case>
  readonly #findings: Array<Finding> = []
  readonly #faults = new Map<string, number>()
  readonly #surfaces = new Map<string, number>()
  readonly #kinds = new Map<string, number>()
  readonly #statuses = new Map<string, number>()
  readonly #shown: Array<string> = []
  #comparisons = 0
  #compared = 0

  constructor(target: Target, options: Options) {
    this.#target = target
    this.#options = options
    this.#pool = new Pool(target.port)
    this.#cases = arbitrary(target.stage)
  }

  async #try(number: number, found: Case): Promise<Tried> {
    const bytes = bytesOf(found, this.#target.stage, number)
    const { answers, closed } = isRequest(found.sent)
      ? {
        answers: [await this.#pool.send(bytes, found.sent.method === "HEAD")].filter((one) => one !== undefined),
        closed: true
      }
      : await sendRaw(this.#target.port, bytes, found.incomplete === true)
    if (this.#options.shows === true) this.#shown.push(describe(found), described(answers))
    const verdicts = answers.map((answer) => judge(found, answer))
    const silent = answers.length === 0 && found.incomplete !== true ? ["is not answered"] : []
    return {
      number,
      found,
      answers,
      accepted: verdicts.some(({ accepted }) => accepted),
      code: verdicts.map(({ code }) => code).find((code) => code !== undefined),
      faults: [...silent, ...(closed ? [] : ["the connection stays open"]), ...verdicts.flatMap(({ faults }) => faults)]
    }
  }

  async #keep(tried: Tried): Promise<void> {
    for (const fault of new Set(tried.faults)) {
      const name = signature(tried.found, fault)
      count(this.#faults, name)
      if ((this.#faults.get(name) ?? 0) > 1) continue
      const fails = async (found: Case) => {
        const { faults } = await this.#try(tried.number, found)
        return faults.some((each) => signature(found, each) === name)
      }
      const smallest = await shrink(this.#cases, this.#options.seed, tried.number, fails)
      const again = smallest === undefined ? tried : await this.#try(tried.number, smallest)
      const finding = {
        number: tried.number,
        fault: name,
        text: `${describe(again.found)}\n${fault}`,
        answer: described(again.answers)
      }
      this.#findings.push(finding)
      this.#options.onFinding?.(finding)
    }
  }

  #send(cases: ReadonlyArray<{ readonly number: number; readonly found: Case }>): Promise<ReadonlyArray<Tried>> {
    return inParallel(cases, this.#options.concurrency, ({ found, number }) => this.#try(number, found))
  }

  /** Sends refused requests between two looks at the database; names the one that left something. */
  async #compare(
    cases: ReadonlyArray<{ readonly number: number; readonly found: Case }>,
    { again = 3, journals = false } = {}
  ): Promise<ReadonlyArray<Tried>> {
    const { query } = this.#target
    const seen = await watched(query)
    const before = await digest(query)
    const tried = await this.#send(cases)
    const changed = difference(before, await digest(query)).filter((name) => !(journals && isJournal(name)))
    this.#comparisons++
    this.#compared += cases.length
    if (changed.length === 0) return tried
    const refused = tried.filter(({ accepted, code }) => !accepted && !journaled.has(code))
    if (refused.length < cases.length) {
      return refused.length === 0
        ? tried
        : [...await this.#compare(refused, { journals }), ...tried.filter((one) => !refused.includes(one))]
    }
    if (cases.length === 1) {
      // What the watch does in its own time is not the request's doing.
      if (again > 0 && await watched(query) !== seen) return this.#compare(cases, { journals, again: again - 1 })
      return tried.map((one) => ({
        ...one,
        faults: [...one.faults, `a refused request changes ${changed.join(", ")}`]
      }))
    }
    const half = Math.ceil(cases.length / 2)
    return [
      ...await this.#compare(cases.slice(0, half), { journals }),
      ...await this.#compare(cases.slice(half), { journals })
    ]
  }

  async #batch(first: number, length: number): Promise<void> {
    const { seed } = this.#options
    const cases = Array.from({ length }, (_, index) => {
      const number = first + index
      return { number, found: caseOf(this.#cases, seed, number) }
    })
    const isStill = ({ found }: { readonly found: Case }) => found.fate === "refused" && found.leavesTraces !== true
    const moving = await this.#send(cases.filter((one) => !isStill(one)))
    // What has to be refused whatever the state is goes alone; what was refused for the state it met goes once more.
    const again = moving.filter(({ accepted, answers, code, found }) =>
      found.leavesTraces !== true && !accepted && !journaled.has(code) && answers.some(({ status }) => status >= 400)
    )
    const still = await this.#compare(cases.filter(isStill))
    // How a destructive operation was refused is in the journal, and nowhere else.
    const repeated = [
      ...await this.#compare(again.filter(({ found }) => !isDestructive(found))),
      ...await this.#compare(again.filter(({ found }) => isDestructive(found)), { journals: true })
    ]
    for (const tried of [...moving, ...still]) {
      count(this.#surfaces, tried.found.surface)
      for (const kind of tried.found.kinds) count(this.#kinds, kind)
      for (
        const status of tried.answers.length === 0
          ? ["no answer"]
          : tried.answers.map((answer) => String(answer.status))
      ) {
        count(this.#statuses, status)
      }
    }
    for (const tried of [...moving, ...still, ...repeated]) await this.#keep(tried)
  }

  /** What is wrong with the answers to cases of the caller's own. */
  async these(cases: ReadonlyArray<Case>): Promise<ReadonlyArray<string>> {
    const tried = await this.#compare(cases.map((found, number) => ({ number, found })))
    return tried.flatMap(({ faults, found }) => faults.map((fault) => `${describe(found)}\n${fault}`))
  }

  /** Sends every case of the run. */
  async all(): Promise<Result> {
    const { batch, count, first, onBatch } = this.#options
    for (let done = 0; done < count; done += batch) {
      await this.#batch(first + done, Math.min(batch, count - done))
      onBatch?.(Math.min(count, done + batch), this.#findings.length)
    }
    this.#pool.close()
    return {
      findings: this.#findings,
      faults: this.#faults,
      surfaces: this.#surfaces,
      kinds: this.#kinds,
      statuses: this.#statuses,
      comparisons: this.#comparisons,
      compared: this.#compared,
      shown: this.#shown
    }
  }
}
