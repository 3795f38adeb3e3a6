/**
 * The rules of chapter 12 as a ledger of devices in plain numbers: what must follow from each poll.
 *
 * It shares nothing with the sources but the words of the API.
 */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const window = 12 * hour

/** What the ledger has of one device that is not the service's own. */
export interface Entry {
  readonly seen: number
  readonly created: number
  readonly baseline: boolean
  approved: boolean
  deadline: number | null
  /** Why it is to be signed out, and whether a call may have been sent. */
  ending: string | null
  sent: boolean
  queued: boolean
  withheld: string | null
  /** Why it was to be signed out before an admin approved it, while a call may have been sent. */
  spared: string | null
}

/** What a look has seen besides sessions. */
export interface Look {
  readonly twoFa: string | null
  readonly resetAt: number | null
  readonly recovery: string | null
  readonly loginEmail: string | null
  readonly phone: string
  readonly passkeys: ReadonlyArray<string>
}

/** A good poll. */
export interface Poll {
  readonly now: number
  /** The devices that are not the service's own, and when they were signed in. */
  readonly devices: ReadonlyMap<string, number>
  /** When the asking session was signed in, and when the service may sign others out. */
  readonly asking: number
  readonly enforcement: number
  readonly lockdown: boolean
  /** A session of the service was revoked and found so now. */
  readonly revoked: boolean
  readonly look: Look | null
}

/** The reason of a termination, which names no lock. */
const termination = (ending: string): string => ending === "lock" ? "autokill" : ending

export class Model {
  readonly entries = new Map<string, Entry>()
  baselined = false
  state: "active" | "unknown" | "stopped" = "active"
  paused = false
  stopped = false
  resumed = Number.NEGATIVE_INFINITY
  connected: number
  takeoverStopped: number | null = null
  lockedAt: number | null = null
  securityLock = false
  retryAt = 0
  failures = 0
  lastGood: number | null = null
  started: number
  open = false
  revokedAt: number | null = null
  /** When a stranger was last listed that has ended since. */
  strangerAt = Number.NEGATIVE_INFINITY
  #looked: Look | null = null
  #outside: Array<number> = []

  constructor(at: number) {
    this.connected = at
    this.started = at
  }

  /** The service changed its own account: what it left behind is what the next look compares with. */
  leaves(look: Partial<Look>): void {
    if (this.#looked !== null) this.#looked = { ...this.#looked, ...look }
  }

  strangers(): ReadonlyArray<Entry> {
    return [...this.entries.values()].filter(({ approved, baseline }) => !approved && !baseline)
  }

  /** A stranger was listed within a day. */
  #strangerLately(now: number): boolean {
    return this.strangerAt >= now - day ||
      this.strangers().some(({ seen }) => seen >= now - day || this.lastGood !== null && this.lastGood >= now - day)
  }

  status(now: number, enforcement: number): string {
    if (this.paused) return "paused"
    if (this.stopped) return "protection_stopped"
    if (this.state === "unknown") return "status_unknown"
    const { takeoverStopped } = this
    if (takeoverStopped !== null && takeoverStopped > this.resumed && now < takeoverStopped + 48 * hour) {
      return "hijack_blocked"
    }
    if (this.strangers().some(({ deadline }) => deadline !== null)) return "new_sign_in"
    return now < enforcement && this.connected > this.resumed ? "recently_connected" : "protected"
  }

  #changed(look: Look): boolean {
    const before = this.#looked
    this.#looked = look
    return before !== null && (
      before.twoFa !== look.twoFa || before.recovery !== look.recovery || before.loginEmail !== look.loginEmail ||
      before.phone !== look.phone || look.resetAt !== null && before.resetAt !== look.resetAt ||
      look.passkeys.some((id) => !before.passkeys.includes(id))
    )
  }

  #stop(now: number): void {
    this.takeoverStopped = now
    this.lockedAt = now
    this.open = false
  }

  /** Devices that have gone, with who ended each: the service, somebody else, or nobody knows. */
  #followed(poll: Poll, good: boolean) {
    const approved = [...this.entries.values()].some((entry) => entry.approved)
    const gone = [...this.entries].filter(([id]) => !poll.devices.has(id))
    for (const [id] of gone) this.entries.delete(id)
    if (gone.some(([, one]) => !one.approved && !one.baseline)) this.strangerAt = this.lastGood ?? poll.now
    const hijacked = gone.some(([, { ending, spared, withheld }]) => [ending, spared, withheld].includes("hijacked"))
    const marked = [...this.entries.values()].some((one) => [one.ending, one.withheld].includes("hijacked"))
    return {
      hijacked,
      /** The takeover goes on: it is forgotten where its sessions were approved. */
      since: this.open && poll.lockdown && (hijacked || marked || !approved),
      ended: gone.map(([id, { ending, sent, spared, withheld }]) =>
        [id, sent ? termination(ending ?? spared ?? withheld ?? "") : good ? "external" : "unknown"] as const
      )
    }
  }

  #onSight(now: number): boolean {
    return this.securityLock || this.lockedAt !== null && now < this.lockedAt + 48 * hour
  }

  /** The end of the time in which a session may be reviewed if nothing is locked. */
  #reviewed({ created, seen }: Entry): number {
    return Math.min(Math.max(seen, this.resumed) + window, created + 23 * hour)
  }

  #deadline(entry: Entry, { enforcement, now }: Poll, since: boolean): number {
    return Math.max(enforcement, now, since || this.#onSight(now) ? 0 : this.#reviewed(entry))
  }

  /** Follows a good poll; answers who ended what, which strangers are new, and what is signed out now in its order. */
  poll(poll: Poll) {
    const { now } = poll
    const watched = this.state === "active" && this.failures === 0 && this.lastGood !== null &&
      this.lastGood >= this.started
    const stranger = this.#strangerLately(now)
    const { ended, hijacked, since } = this.#followed(poll, watched)
    const added: Array<string> = []
    for (const [id, created] of poll.devices) {
      if (this.entries.has(id)) continue
      const baseline = !this.baselined && created <= poll.asking
      if (!baseline) added.push(id)
      this.entries.set(id, {
        seen: now,
        created,
        baseline,
        approved: false,
        deadline: null,
        ending: null,
        sent: false,
        queued: false,
        withheld: null,
        spared: null
      })
    }
    for (const entry of this.entries.values()) {
      if (entry.spared !== null) {
        entry.spared = null
        entry.sent = false
      }
      if (entry.withheld !== null) {
        entry.ending = entry.withheld
        entry.withheld = null
        entry.queued = true
      }
      if (!entry.approved && !entry.baseline && entry.deadline === null) {
        entry.deadline = this.#deadline(entry, poll, since)
      }
    }
    const acting = this.#judge(poll, ended.filter(([, by]) => by === "external").length, stranger)
    if (since && !acting) { for (const entry of this.strangers()) entry.ending ??= "hijacked" }
    const left = [...this.entries.values()].some(({ ending }) => ending === "hijacked")
    const over = this.open && hijacked || (acting || since) && !left
    this.open = (this.open || acting) && left && !over
    if (over) this.#stop(now)
    this.baselined = true
    this.state = "active"
    this.failures = 0
    this.lastGood = now
    return { ended, added, endings: this.#due(poll) }
  }

  /** Whether it is a takeover that is answered. */
  #judge(poll: Poll, ended: number, before: boolean): boolean {
    const { now } = poll
    const strangers = this.strangers().length > 0
    const changed = poll.look !== null && this.#changed(poll.look)
    this.#outside = this.#outside.filter((moment) => moment >= now - 10 * minute)
    const together = ended > 0 && this.lastGood !== null && this.lastGood >= now - 10 * minute &&
      this.#outside.length + ended >= 2
    this.#outside.push(...Array.from({ length: ended }, () => now))
    const revoked = poll.revoked || this.revokedAt !== null && this.revokedAt >= now - day
    this.revokedAt = null
    const takeover = (changed || together) && strangers || revoked && (strangers || before)
    if (!takeover || !poll.lockdown) return false
    for (const entry of this.entries.values()) if (!entry.sent) entry.ending = "hijacked"
    return true
  }

  #due({ enforcement, now }: Poll): ReadonlyArray<readonly [string, string]> {
    for (const entry of this.strangers()) {
      if (entry.ending !== null || entry.deadline === null || entry.deadline > now) continue
      entry.ending = this.#onSight(now) && entry.deadline < this.#reviewed(entry) ? "lock" : "autokill"
    }
    const may = now >= enforcement && this.retryAt <= now
    const ending = [...this.entries].flatMap(([id, entry]) => entry.ending === null ? [] : [{ id, entry }])
    if (!may) {
      for (const { entry } of ending) entry.queued = true
      return []
    }
    const known = ({ approved, baseline }: Entry) => approved || baseline ? 1 : 0
    return ending
      .toSorted((one, other) => known(one.entry) - known(other.entry) || other.entry.created - one.entry.created)
      .map(({ entry, id }) => [id, entry.ending ?? ""] as const)
  }

  approve(id: string): void {
    const entry = this.entries.get(id)
    if (entry === undefined) return
    if (entry.sent) entry.spared = entry.ending ?? entry.withheld ?? entry.spared
    Object.assign(entry, { approved: true, deadline: null, ending: null, queued: false, withheld: null })
  }

  reject(id: string): void {
    const entry = this.entries.get(id)
    if (entry === undefined || entry.ending !== null) return
    entry.ending = "rejected"
    entry.queued = true
  }

  pause(): void {
    this.paused = true
    this.state = "stopped"
    for (const entry of this.entries.values()) {
      entry.deadline = null
      if (!entry.queued) continue
      entry.withheld = entry.ending
      entry.ending = null
      entry.queued = false
    }
  }

  resume(now: number): void {
    Object.assign(this, { paused: false, stopped: false, state: "active", resumed: now, started: now, failures: 0 })
  }

  /** What came of one sign-out. */
  tried(
    id: string,
    reason: string,
    outcome: "done" | "gone" | "gone before" | "unavailable" | "flood",
    now: number
  ): void {
    const entry = this.entries.get(id)
    if (entry === undefined) return
    if (outcome === "gone before") this.#outside.push(now)
    if (outcome === "done" || outcome === "gone" || outcome === "gone before") {
      if (!entry.approved && !entry.baseline) this.strangerAt = now
      this.entries.delete(id)
      const left = [...this.entries.values()].some((one) => [one.ending, one.withheld].includes("hijacked"))
      if (reason === "hijacked" && this.open && (outcome !== "gone before" || !left)) this.#stop(now)
      return
    }
    entry.queued = true
    if (outcome === "flood") entry.sent = false
  }

  /** A poll that brought no list. */
  failed(now: number, quiet: boolean): void {
    if (!quiet) this.failures += 1
    const silent = now - Math.max(this.lastGood ?? 0, this.started) >= 10 * minute
    if (this.failures >= 3 && !quiet || silent) this.state = "unknown"
  }

  /** Sessions of the service were revoked, and there is no list to judge it by. */
  revoked(now: number, lockdown: boolean): void {
    const seen = this.#strangerLately(now)
    if (!seen) this.revokedAt = now
    if (!seen || !lockdown) return
    this.open = true
    for (const entry of this.entries.values()) {
      if (!entry.sent) entry.ending = "hijacked"
      if (entry.ending !== null) entry.queued = true
    }
  }
}
