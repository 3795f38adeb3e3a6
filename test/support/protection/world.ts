/** An account's protection in memory: what decisions say is written down and done, as the engine does it. */
import { assert } from "@effect/vitest"
import { Duration, Struct } from "effect"
import { decide } from "../../../src/domain/protection/Decide.ts"
import type { Decision, EngineEvent, OutcomeChanges, SignOutAttempt } from "../../../src/domain/protection/Decision.ts"
import type { DecideOptions, WatchedSession } from "../../../src/domain/protection/Facts.ts"
import type { Loss, Observation } from "../../../src/domain/protection/Observation.ts"
import type { ServiceSession } from "../../../src/domain/protection/ServiceSession.ts"
import { applyOutcomes } from "../../../src/domain/protection/SignOutOutcomes.ts"
import { hour } from "../stored.ts"
import { Kept } from "./kept.ts"
import { ownDevice } from "./platform.ts"

export const options: DecideOptions = { reviewWindow: Duration.hours(12), device: ownDevice }

/** Where a step is cut off, or what happens while it acts. */
export interface StepCase {
  readonly look?: boolean
  readonly crash?: "before" | "after"
  readonly during?: "approve" | "pause" | "end"
  readonly pairedSilent?: boolean
  readonly refused?: "flood" | "unavailable"
}

/** An event of the journal as it was written. */
export interface Written extends EngineEvent {
  readonly at: number
  readonly sequence: number
}

const untouched = {
  queued_at: null,
  ending_reason: null,
  ending_at: null,
  ending_by: null,
  withheld_at: null,
  withheld_reason: null
} as const

export class World extends Kept {
  readonly events: Array<Written> = []
  readonly terminations: Array<{ readonly real: string; readonly actor: string; readonly reason: string | null }> = []
  /** Devices that the service's calls ended, and those for which a call may have been sent. */
  readonly endedByCall = new Set<string>()
  readonly begun = new Set<string>()
  readonly everStranger = new Set<string>()
  dueAt: Date | null = null
  open = new Set<number>()
  #sequence = 0
  #records = 0
  #outside: Array<Date> = []

  observe({ look = true, pairedSilent = false }: StepCase): Observation {
    const { platform } = this
    const codes = platform.codes
    if (!platform.reachable) return { outcome: { kind: "unavailable", error: "unavailable" }, lost: [], codes }
    if (platform.floodSeconds > 0) {
      return { outcome: { kind: "flood", seconds: platform.floodSeconds }, lost: [], codes }
    }
    const lost: Array<Loss> = []
    for (const slot of ["main", "paired"]) {
      const own = this.facts.own.find((one) => one.slot === slot)
      if (own === undefined) continue
      if (!platform.devices.has(own.id)) {
        lost.push({ own: own.id, reason: "revoked" })
        continue
      }
      if (slot === "paired" && pairedSilent) {
        return { outcome: { kind: "unavailable", error: "unavailable" }, lost, codes }
      }
      return {
        outcome: {
          kind: "seen",
          through: own.id,
          authorizations: platform.list(own.id),
          ...(look ? { security: platform.security(), profile: platform.profile() } : {})
        },
        lost,
        codes
      }
    }
    return { outcome: { kind: "lost" }, lost, codes }
  }

  write(events: ReadonlyArray<EngineEvent>): void {
    for (const event of events) {
      if (event.closes !== undefined) assert.isTrue(this.open.delete(event.closes), "I4: an intent is closed once")
      this.events.push({ ...event, at: this.now, sequence: ++this.#sequence })
    }
  }

  apply(decision: Decision | OutcomeChanges): void {
    const now = new Date(this.now)
    const reader = this.reader
    const gone = new Set(decision.ended.map(({ record_id }) => record_id))
    for (const { session_id, termination } of decision.ended) {
      if (termination === null) continue
      this.terminations.push({ ...termination, real: this.platform.real(session_id, reader) })
      if (termination.actor === "external") this.#outside.push(now)
    }
    const kept = new Map(
      this.facts.sessions.filter(({ record_id }) => !gone.has(record_id)).map((row) => [row.record_id, row])
    )
    for (const { record_id, row } of decision.upserts) {
      const id = record_id ?? `r${++this.#records}`
      kept.set(id, { ...row, record_id: id })
    }
    const sessions = [...kept.values()]
    assert.strictEqual(new Set(sessions.map(({ id }) => id)).size, sessions.length, "each session has one row")
    this.facts = {
      ...this.facts,
      account: { ...this.account, ...Struct.omit(decision.account, ["stop_reason"]) },
      monitor: { ...this.facts.monitor, ...Struct.omit(decision.monitor, ["last_polled_at"]) },
      facets: decision.facets,
      sessions
    }
    for (const { id, seen_as, slot } of "own" in decision ? decision.own : []) {
      const own = this.facts.own.filter((one) => slot !== "ended" || one.id !== id)
      this.facts = {
        ...this.facts,
        own: own.map((one) => one.id === id && slot !== "ended" ? { ...one, slot, seen_as } : one)
      }
    }
    this.write(decision.events)
    this.dueAt = decision.dueAt
  }

  approve(row: WatchedSession): void {
    const ending = row.ending_intent === null
      ? untouched
      : { queued_at: null, withheld_at: null, withheld_reason: null }
    const reason = row.ending_reason ?? row.withheld_reason
    const kept = row.ending_intent === null ? {} : { ending_reason: reason, ending_at: row.ending_at }
    this.rows((one) =>
      one.record_id === row.record_id
        ? { ...one, ...ending, ...kept, approved_at: new Date(this.now), review_deadline: null }
        : one
    )
    this.model.approve(this.real(row))
  }

  reject(row: WatchedSession): void {
    if (row.ending_reason !== null) return
    const at = new Date(this.now)
    this.rows((one) =>
      one.record_id === row.record_id ? { ...one, queued_at: at, ending_reason: "rejected", ending_at: at } : one
    )
    this.model.reject(this.real(row))
  }

  pause(): void {
    if (this.account.paused_at !== null) return
    this.change({ paused_at: new Date(this.now), monitoring_state: "stopped" })
    this.rows((row) => {
      const withheld = row.queued_at === null
        ? {}
        : { withheld_at: row.queued_at, withheld_reason: row.ending_reason, queued_at: null, ending_reason: null }
      return { ...row, review_deadline: null, ...withheld }
    })
    this.model.pause()
    this.dueAt = null
  }

  resume(): void {
    if (this.account.paused_at === null) return
    const at = new Date(this.now)
    this.change({ paused_at: null, resumed_at: at, stopped_at: null, monitoring_state: "active" })
    this.facts = {
      ...this.facts,
      monitor: { ...this.facts.monitor, started_at: at, failures: 0, first_failure_at: null, last_poll_error: null }
    }
    this.model.resume(this.now)
  }

  relogin(): void {
    if (this.account.paused_at !== null) return
    const id = this.platform.signIn(this.now, ownDevice)
    const at = new Date(this.now)
    this.facts = {
      ...this.facts,
      own: [
        this.own(id, "main", null),
        ...this.facts.own.flatMap((one): ReadonlyArray<ServiceSession> =>
          !this.platform.devices.has(one.id) ? [] : [{ ...one, slot: one.slot === "main" ? "retired" : one.slot }]
        )
      ],
      monitor: { ...this.facts.monitor, started_at: at, failures: 0, first_failure_at: null, last_poll_error: null }
    }
    this.change({
      stopped_at: null,
      monitoring_state: "active",
      enforcement_active_at: new Date(this.enforcement())
    })
    this.connectedAt = at
    Object.assign(this.model, { stopped: false, state: "active", connected: this.now, started: this.now, failures: 0 })
  }

  pair(): void {
    const [main] = this.facts.own
    if (this.facts.own.some(({ slot }) => slot === "paired") || main === undefined) return
    if (!this.platform.devices.has(main.id) || this.account.stopped_at !== null) return
    const id = this.platform.signIn(this.now, ownDevice)
    this.facts = {
      ...this.facts,
      own: [...this.facts.own, this.own(id, "paired", this.platform.shown(id, main.id))]
    }
    this.change({ paired_state: "active", paired_since: new Date(this.now), paired_error: null })
  }

  /** The service sets a 2FA password, and writes what it leaves behind. */
  setTwoFa(): void {
    this.platform.held = this.platform.twoFa = this.platform.mark()
    const { facets } = this.facts
    const { recovery } = this.platform
    this.change({ two_fa_managed: true })
    this.facts = {
      ...this.facts,
      facets: {
        ...facets,
        two_fa: this.platform.twoFa,
        recovery: { present: recovery !== null, pending: null, pattern: recovery }
      }
    }
    this.model.leaves({ twoFa: this.platform.twoFa, recovery })
  }

  /** A stranger that the service judged a takeover after the approval of. */
  takeoverAfter(row: WatchedSession): boolean {
    return row.ending_reason === "hijacked" && row.approved_at !== null && row.ending_at !== null &&
      row.ending_at > row.approved_at
  }

  /** One step of the engine; answers what was decided. */
  step(step: StepCase = {}): Decision {
    const now = new Date(this.now)
    this.facts = {
      ...this.facts,
      endedOutside: this.#outside.filter((moment) => moment.getTime() >= this.now - hour / 6)
    }
    const observation = this.observe(step)
    const before = this.facts
    const decision = decide(before, observation, now, options)
    this.platform.codes = 0
    this.apply(decision)
    return decision
  }

  /** Sends the sign-outs of a decision, and settles what came of them. */
  act(decision: Decision, step: StepCase): void {
    const attempts: Array<SignOutAttempt> = []
    for (const { action, details, intent, session_id } of decision.endings) {
      const sequence = intent ?? ++this.#sequence
      if (intent === null) this.open.add(sequence)
      assert.isTrue(this.open.has(sequence))
      assert.isString(action)
      assert.isDefined(details["reason"])
      this.rows((row) => row.id === session_id ? { ...row, ending_intent: sequence } : row)
      const entry = this.model.entries.get(this.platform.real(session_id, this.reader))
      if (entry !== undefined) entry.sent = true
    }
    for (const { session_id } of decision.endings) this.begun.add(this.platform.real(session_id, this.reader))
    if (step.crash === "before" || decision.endings.length === 0) return
    if (step.during === "pause") this.pause()
    if (step.during === "approve") {
      const row = this.facts.sessions.find(({ id }) => id === decision.endings[0]?.session_id)
      if (row !== undefined) this.approve(row)
    }
    if (step.during === "end") this.platform.end(this.platform.real(decision.endings[0]?.session_id ?? "", this.reader))
    const by = this.acting().toSorted((one, other) => this.created(one) - this.created(other))[0] ?? ""
    for (const { intent, reason, session_id } of decision.endings) {
      const row = this.facts.sessions.find(({ id }) => id === session_id)
      assert.isDefined(row)
      const attempt = { session_id, reason, intent: row.ending_intent ?? 0, again: intent !== null, retryAt: null }
      const refused = attempts.some(({ outcome }) => outcome === "flood")
      if (refused || this.account.paused_at !== null || row.approved_at !== null && !this.takeoverAfter(row)) {
        attempts.push({ ...attempt, outcome: "skipped" })
        continue
      }
      if (step.refused !== undefined) {
        attempts.push({
          ...attempt,
          outcome: step.refused,
          retryAt: step.refused === "flood" ? new Date(this.now + hour / 4) : null
        })
        continue
      }
      const real = this.platform.real(session_id, this.reader)
      assert.isUndefined(this.facts.own.find(({ id }) => id === real), "I2: an own session is never signed out")
      assert.isTrue(this.now >= this.enforcement(), "I2: nothing is sent before the platform allows it")
      const outcome = this.platform.signOut(by, real, this.now)
      assert.notStrictEqual(outcome, "locked", "I2: the oldest session is old enough")
      if (outcome === "done") this.endedByCall.add(real)
      attempts.push({ ...attempt, outcome })
    }
    if (step.crash === "after") return
    const reals = new Map(attempts.map(({ session_id }) => [session_id, this.platform.real(session_id, this.reader)]))
    this.apply(applyOutcomes(this.facts, attempts, new Date(this.now)))
    for (const attempt of attempts) this.record(reals.get(attempt.session_id) ?? "", attempt)
  }

  record(real: string, { again, outcome, reason }: SignOutAttempt): void {
    if (outcome === "skipped" && again) return
    if (outcome === "skipped") {
      const entry = this.model.entries.get(real)
      if (entry !== undefined) Object.assign(entry, { sent: false, spared: null })
      return
    }
    if (outcome === "locked") return
    if (outcome === "flood") this.model.retryAt = this.now + hour / 4
    this.model.tried(
      real,
      reason,
      outcome === "unknown_authorization" ? (again ? "gone" : "gone before") : outcome,
      this.now
    )
  }
}
