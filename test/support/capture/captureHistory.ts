/** A history of capture: people write, processes die, and the laws of the archive are held at every commit. */
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber } from "effect"
import { isAway } from "../../../src/capture/Away.ts"
import { runCapture } from "../../../src/capture/CaptureRun.ts"
import { DueBoxes } from "../../../src/capture/DueBoxes.ts"
import { glance } from "../../../src/capture/Glances.ts"
import { allBoxes, catchUpSome, takePushes } from "../../../src/capture/LiveCapture.ts"
import type { RuleInEffect } from "../../../src/domain/archive/ArchiveRule.ts"
import { type CapturedChat, isSaved } from "../../../src/domain/archive/CapturedChat.ts"
import { rangeAt } from "../../../src/domain/archive/CoveredRanges.ts"
import { select } from "../../../src/domain/archive/RuleSelection.ts"
import { ServiceUnavailable } from "../../../src/domain/Failure.ts"
import { Db } from "../../../src/ports/Db.ts"
import type { Push } from "../../../src/ports/messenger/MessengerArchive.ts"
import { PlatformBusy, PlatformRefused, PlatformUnavailable } from "../../../src/ports/messenger/MessengerSession.ts"
import { type Archived, type CaptureGround, Killed } from "./captureGround.ts"
import { type Drawn, drawnOf } from "./drawnNumbers.ts"
import { memoryGround, rule, unpaced } from "./memoryCapture.ts"
import { type ModelChat, Platform } from "./modelPlatform.ts"

const beginning = Date.UTC(2026, 2, 2, 12)
const day = 86_400_000

/** A law that does not hold, with the number of the sequence that shows it. */
export interface Breach {
  readonly sequence: number
  readonly law: string
}

/** A revision is archived again only after another one of its second, or where it came late before. */
const hasRevisionTwice = (revisions: Archived["revisions"]): boolean =>
  [...Map.groupBy(revisions, ({ editedAt }) => editedAt).values()].some((twins) =>
    twins.some(({ mark }, at) => {
      const before = twins[at - 1]
      return before !== undefined && before.mark === mark && !before.late
    })
  )

/** A call fails of one of them now and then. */
const failures = [
  new PlatformBusy({ retryAfterSeconds: 400 }),
  new PlatformRefused({ reason: "PERSISTENT_TIMESTAMP_OUTDATED" }),
  new PlatformUnavailable()
]

/** A run, or a glance, ends where a call fails. */
const whereAnswered = (work: Effect.Effect<void, any>): Effect.Effect<void, any> =>
  Effect.catchIf(work, isAway, () => Effect.void)

class History {
  readonly drawn: Drawn
  readonly platform: Platform
  readonly ground: CaptureGround
  readonly breaches: Array<Breach> = []
  readonly sequence: number
  private services: Context.Context<any> | null = null
  private rules: ReadonlyArray<RuleInEffect>
  private quiet = false
  private inHand: Array<Push> = []
  private due = new DueBoxes()
  private waiting: Array<Fiber.Fiber<unknown, unknown>> = []
  private commits = 0
  private deaths = 0
  /** The number of messages of each chat that were archived at the last commit. */
  private sizes: ReadonlyMap<bigint, number> = new Map()

  /** Without it 30 to 90. */
  private readonly steps: number | undefined

  constructor(sequence: number, ground: CaptureGround, steps: number | undefined) {
    this.sequence = sequence
    this.steps = steps
    this.ground = ground
    this.drawn = drawnOf(sequence)
    this.platform = new Platform(this.drawn, beginning)
    this.rules = [rule(null, "archive", this.drawn.chance(0.8))]
  }

  get played(): Played {
    const { breaches, commits, deaths } = this
    return { breaches, commits, deaths }
  }

  private breach(law: string): void {
    this.breaches.push({ sequence: this.sequence, law })
  }

  private get newProcess() {
    const commits = {
      dies: () => {
        if (this.quiet || !this.drawn.chance(0.03)) return null
        this.deaths += 1
        if (this.drawn.chance(0.5)) return "after" as const
        this.inHand = []
        return "before" as const
      },
      committed: this.holds
    }
    return Effect.map(
      this.ground.newProcess(commits, (law) => this.breach(law)),
      (services) => void (this.services = this.unsteady(services))
    )
  }

  /** The database does not answer now and then. */
  private unsteady(services: Context.Context<any>): Context.Context<any> {
    const db = Context.get(services, Db)
    const reached = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> =>
        !this.quiet && this.drawn.chance(0.003) ? Effect.fail(new ServiceUnavailable({})) : work
      )
    return Context.add(services, Db, {
      ...db,
      transaction: (organization, work) => reached(db.transaction(organization, work)),
      read: (organization, work) => reached(db.read(organization, work))
    })
  }

  /** Runs work of the present process. */
  private by<A>(work: Effect.Effect<A, any, any>): Effect.Effect<A, any> {
    return Effect.suspend(() =>
      this.services === null ? Effect.die(new Error("No process")) : Effect.provideContext(work, this.services)
    )
  }

  private readonly nanos = (): bigint => BigInt(this.platform.now) * 1_000_000n

  private readonly clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => this.platform.now,
    currentTimeMillis: Effect.sync(() => this.platform.now),
    currentTimeNanosUnsafe: this.nanos,
    currentTimeNanos: Effect.sync(this.nanos),
    monotonicTimeNanosUnsafe: this.nanos,
    monotonicTimeNanos: Effect.sync(this.nanos),
    // Short pauses pass, and no deadline does.
    sleep: (pause) => Duration.toMillis(pause) <= 1000 ? Effect.yieldNow : Effect.never
  }

  /** The laws that hold after each commit. */
  private readonly holds: Effect.Effect<void> = Effect.gen({ self: this }, function*() {
    this.commits += 1
    const chats = yield* this.ground.chats
    const archived = yield* this.ground.ids
    for (const chat of chats.values()) {
      const there = this.platform.chats.get(chat.chatId)
      const ids = archived.get(chat.chatId)
      if (!isSaved(chat) && (ids?.size ?? 0) > (this.sizes.get(chat.chatId) ?? 0)) {
        this.breach(`A3: something of ${chat.chatId} is archived while it is not selected`)
      }
      if (there === undefined || chat.progress.covered.length === 0) continue
      for (const { id } of this.platform.visible(there)) {
        if (rangeAt(chat.progress.covered, id) !== null && ids?.has(id) !== true) {
          this.breach(`A5: ${chat.chatId}/${id} is covered and not archived`)
        }
      }
    }
    this.sizes = new Map([...archived].map(([chatId, { size }]) => [chatId, size]))
    const inHand = this.inHand
    this.inHand = []
    for (const push of inHand) {
      if (push._tag === "Behind" || push.change._tag === "Deleted" || push.change._tag === "Other") continue
      const { chatId, record } = push.change.message
      const chat = chats.get(chatId)
      if (chat === undefined || !isSaved(chat) || !chat.live) continue
      if (!(yield* this.ground.texts(chatId, record.id)).includes(record.text)) {
        this.breach(`A7: "${record.text}" was in hand and is not archived`)
      }
    }
  })

  private deed(): void {
    const { drawn, platform } = this
    const chat = drawn.oneOf([...platform.chats.values()])
    if (chat === null) return
    if (drawn.chance(0.6)) platform.now += drawn.between(100, 4000)
    const draw = drawn.next()
    const writes = chat.migratedTo === null && !(chat.left && chat.box === null)
    if (draw < 0.55) {
      if (writes) { for (let n = drawn.chance(0.1) ? 9 : 1; n > 0; n--) platform.send(chat, this.expiry()) }
    } else if (draw < 0.75) platform.edit(chat)
    else if (draw < 0.9) platform.remove(chat, drawn.chance(0.03))
    else if (draw < 0.92) this.membership(chat)
    else if (draw < 0.925) platform.migrate()
    else if (draw < 0.95) this.changeRules(chat)
    else if (draw < 0.96) platform.now += drawn.between(1, 9) * 3_600_000
    else if (draw < 0.965 && chat.box !== null) chat.visibleFrom = 1n
    else if (draw < 0.98) chat.isSick = !this.quiet && !chat.isSick
  }

  /** Some messages disappear after minutes or hours. */
  private expiry(): number | null {
    return this.drawn.chance(0.05) ? this.drawn.between(60, 20_000) : null
  }

  private membership(chat: ModelChat): void {
    if (chat.box === null) return
    if (chat.left) this.platform.join(chat, this.drawn.chance(0.5))
    else this.platform.leave(chat)
  }

  private changeRules({ chatId }: ModelChat): void {
    if (this.quiet) return
    const last = this.changes.at(-1) ?? this.rules
    const others = last.filter((rule) => rule.chatId !== chatId)
    const effect = this.drawn.oneOf(["archive", "skip", "review"] as const) ?? "archive"
    const changed = this.drawn.chance(0.3) ? others : [...others, rule(chatId, effect, this.drawn.chance(0.7))]
    this.changes.push(changed)
  }

  /** Changes of rules that wait for a moment without a transaction. */
  private changes: Array<ReadonlyArray<RuleInEffect>> = []

  private readonly applyChanges = Effect.suspend(() => {
    const changes = this.changes
    this.changes = []
    return Effect.forEach(
      changes,
      (rules) => Effect.andThen(this.ground.setRules(rules), Effect.sync(() => void (this.rules = rules))),
      { discard: true }
    )
  })

  /** Something happens while a call is under way, and pushes are taken meanwhile. */
  private readonly meanwhile = Effect.suspend(() => {
    if (this.quiet || !this.drawn.chance(0.4)) return Effect.void
    for (let count = this.drawn.between(1, 3); count > 0; count--) this.deed()
    const takes = !this.drawn.chance(0.5) ? Effect.void : Effect.flatMap(Effect.forkDetach(this.taking), (fiber) => {
      this.waiting.push(fiber)
      return Effect.repeat(Effect.yieldNow, { times: 20 })
    })
    return Effect.andThen(this.applyChanges, takes)
  })

  /** The push, noted as in hand by the transaction that reads its change. */
  private noted(push: Push): Push {
    if (push._tag === "Behind") return push
    const { change, ...rest } = push
    const note = () => void this.inHand.push(push)
    return {
      ...rest,
      get change() {
        note()
        return change
      }
    }
  }

  private get taking(): Effect.Effect<void, any> {
    return Effect.suspend(() => {
      const pending = this.platform.pending ?? []
      const batch = pending.splice(0, this.drawn.between(1, 6)).map((push) => this.noted(push))
      if (batch.length === 0) return Effect.void
      const { due } = this
      const taking = Effect.retry(takePushes(this.ground.account, batch), { times: 9, while: isAway })
      const taken = this.by(Effect.map(taking, (behind) => due.add(behind)))
      return this.drawn.chance(0.2) ? taken : Effect.andThen(taken, this.catchingUp)
    })
  }

  /** Nothing of it fails where a call does. */
  private get catchingUp(): Effect.Effect<void, any> {
    return Effect.suspend(() => this.by(catchUpSome(this.ground.account, this.platform.feed, this.due)))
  }

  private get act(): Effect.Effect<void, any> {
    const { feed, reader } = this.platform
    const { account } = this.ground
    const draw = this.drawn.next()
    const run = { ...account, fence: 1, failures: 0, askedAt: null }
    const connections = { feed, reader, ...unpaced }
    if (this.platform.pending === null) {
      this.platform.pending = []
      const { due } = this
      return Effect.andThen(
        this.by(Effect.map(Effect.retry(allBoxes(account), { while: isAway }), (boxes) => due.add(boxes))),
        this.catchingUp
      )
    }
    if (draw < 0.7) return this.taking
    if (draw < 0.8) {
      const { due } = this
      const glanced = this.by(Effect.map(glance(account, feed, new Set()), ({ behind }) => due.add(behind)))
      return Effect.andThen(whereAnswered(glanced), this.catchingUp)
    }
    if (draw < 0.84) this.platform.pending = null
    return draw < 0.84 ? Effect.void : whereAnswered(this.by(runCapture(run, connections)))
  }

  /** The process dies: what it had in hand and on its way is lost, and another one begins. */
  private readonly restart = Effect.suspend(() => {
    const waiting = this.waiting
    this.waiting = []
    this.platform.pending = null
    this.inHand = []
    this.due = new DueBoxes()
    return Effect.andThen(Fiber.interruptAll(waiting), this.newProcess)
  })

  private readonly attempt = (work: Effect.Effect<void, any>) =>
    Effect.gen({ self: this }, function*() {
      const exit = yield* Effect.exit(work)
      const others: Array<Exit.Exit<unknown, unknown>> = []
      if (Exit.isSuccess(exit)) {
        for (const fiber of this.waiting.splice(0)) others.push(yield* Fiber.await(fiber))
      }
      const failed = [exit, ...others].find(Exit.isFailure)
      if (failed === undefined) return
      const defect = Cause.squash(failed.cause)
      if (!(defect instanceof Killed)) this.breach(`failed: ${Cause.pretty(failed.cause)}`)
      yield* this.restart
    })

  readonly play = Effect.gen({ self: this }, function*() {
    this.platform.during = this.meanwhile
    this.platform.fails = () => this.quiet || !this.drawn.chance(0.005) ? null : this.drawn.oneOf(failures)
    yield* this.ground.setRules(this.rules)
    yield* this.newProcess
    for (let steps = this.steps ?? this.drawn.between(30, 90); steps > 0 && this.breaches.length === 0; steps--) {
      for (let count = this.drawn.between(0, 5); count > 0; count--) this.deed()
      yield* this.applyChanges
      yield* this.attempt(this.act)
    }
    if (this.breaches.length > 0) return
    this.quiet = true
    for (const chat of this.platform.chats.values()) chat.isSick = false
    yield* this.applyChanges
    yield* this.restart
    // Floors are asked again after a week.
    for (let nights = 3; nights > 0; nights--) {
      yield* this.attempt(this.act)
      this.platform.now += 8 * day
      const run = { ...this.ground.account, fence: 1, failures: 0, askedAt: null }
      const connections = { feed: this.platform.feed, reader: this.platform.reader, ...unpaced }
      yield* this.attempt(this.by(runCapture(run, connections)))
    }
    this.isWhole(yield* this.ground.chats, yield* this.ground.archived)
    if ((yield* this.ground.miscounted) > 0) this.breach("A6: counters are wrong")
  })

  /** The effect that the rules have on the chat. */
  private effectOn(chat: CapturedChat, chats: ReadonlyMap<bigint, CapturedChat>) {
    const before = [...chats.values()].find(({ migratedTo }) => migratedTo === chat.chatId)
    const predecessor = before === undefined ? null : select(this.rules, { ...before, predecessor: null })
    return select(this.rules, { ...chat, predecessor }).effect
  }

  /** The laws that hold after quiet nights. */
  private isWhole(
    chats: ReadonlyMap<bigint, CapturedChat>,
    all: ReadonlyMap<bigint, ReadonlyMap<bigint, Archived>>
  ): void {
    for (const there of this.platform.chats.values()) {
      const chat = chats.get(there.chatId)
      const archived = all.get(there.chatId) ?? new Map<bigint, Archived>()
      for (const [id, { revisions }] of archived) {
        if (hasRevisionTwice(revisions)) this.breach(`A1: ${there.chatId}/${id} has a revision twice`)
      }
      if (there.left && there.box !== null) continue
      if (chat === undefined) {
        this.breach(`A2: ${there.chatId} was never seen`)
        continue
      }
      if (this.effectOn(chat, chats) !== chat.effect) this.breach(`A8: ${there.chatId} is judged wrongly`)
      if (!isSaved(chat)) continue
      const visible = new Map(this.platform.visible(there).map((message) => [message.id, message]))
      for (const { id, text } of visible.values()) {
        const found = archived.get(id)
        if (found === undefined) this.breach(`A2: ${there.chatId}/${id} is missing`)
        else if (found.newest !== text) {
          this.breach(`A2: ${there.chatId}/${id} is "${found.newest}" and not "${text}"`)
        } else if (found.deleted) this.breach(`A2: ${there.chatId}/${id} is marked, and is there`)
      }
      for (const [id, { deleted }] of archived) {
        if (!deleted && !visible.has(id) && id >= there.visibleFrom) {
          this.breach(`A2: ${there.chatId}/${id} is gone and not marked`)
        }
      }
    }
  }

  readonly run = Effect.suspend(() => Effect.provideService(this.play, Clock.Clock, this.clock))
}

/** A history that was played: what it broke, its commits, and how often a process died at one. */
export interface Played {
  readonly breaches: ReadonlyArray<Breach>
  readonly commits: number
  readonly deaths: number
}

/** Plays the sequence, of so many steps where they are given. */
export const playCapture = (
  sequence: number,
  ground: CaptureGround = memoryGround(),
  steps?: number
): Effect.Effect<Played> => {
  const history = new History(sequence, ground, steps)
  return Effect.map(history.run, () => history.played)
}
