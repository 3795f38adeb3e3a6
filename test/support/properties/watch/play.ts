/** Plays a round: many accounts of one organization at once, whose engine dies again and again. */
import { Clock, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { AuthorizationId } from "../../../../src/domain/messenger/Messenger.ts"
import { closeAbandonedIntents } from "../../../../src/jobs/journal/close_abandoned_intents.ts"
import { expireTakeoverLocks } from "../../../../src/jobs/protection/expire_takeover_locks.ts"
import { noticeSilence } from "../../../../src/jobs/protection/notice_silence.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { LoginEndings } from "../../../../src/protection/LoginEndings.ts"
import { Engine } from "../../../../src/protection/PollLoop.ts"
import { tried } from "../../drawn.ts"
import { established, fresh, makeWatched, start } from "../../protection/watched.ts"
import { advance, forgetOthers } from "../../protection/watching.ts"
import * as World from "../../world.ts"
import { done, meanwhile } from "./deeds.ts"
import { type Round, statuses, whenOver, whenSeen, whenSent } from "./judge.ts"
import type { Device, Ledger } from "./ledger.ts"
import { type Plan, plans } from "./plan.ts"
import { Fate } from "./stage.ts"

const day = 86_400_000

/** An account with devices that were there before the service. */
const made = Effect.fnUntraced(
  function*(organization: World.Organization, { devices: before, during, fresh: young }: Plan["accounts"][number]) {
    const platform = yield* SimulatedPlatform
    const { account, phone, sessionRef, userId } = yield* makeWatched(organization, young ? fresh : established)
    const devices = new Map<string, Device>()
    for (let count = 0; count < before; count++) {
      const signedInAt = start - (10 + count) * day
      const id = yield* platform.logIn(userId, { device_model: `Tablet ${count}`, created_at: new Date(signedInAt) })
      devices.set(id, { id, signedInAt, before: true, ended: false, seen: false })
    }
    const ledger: Ledger = {
      account,
      userId,
      phone,
      sessionRef,
      devices,
      sent: new Set(),
      asked: new Set(),
      during: [...during],
      theirs: false,
      offboarded: false,
      disturbedAt: 0,
      watchedSince: null,
      heldAt: 0
    }
    return ledger
  }
)

/** Whoever waits for an account that a dead process holds waits on the clock: time goes on where nothing else does. */
const moving = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  for (let waited = 0; fiber.pollUnsafe() === undefined; waited++) {
    yield* TestClock.withLive(Effect.sleep("2 millis"))
    if (waited > 1000 && waited % 50 === 0) yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

/** A run that dies is followed by another one, as of a process that was started again. */
const again = (tick: Engine["Service"]["tick"]): Engine["Service"]["tick"] =>
  Effect.catchDefect(moving(tick), () => again(tick))

/** Plays the round of this plan; answers what was done, how many sign-outs were sent, and what does not hold. */
export const play = Effect.fnUntraced(function*(plan: Plan) {
  const fate = yield* Fate
  const platform = yield* SimulatedPlatform
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.setTime(start)
  yield* platform.clearScripts
  yield* forgetOthers
  const organization = yield* World.makeOrganization({ notification_recipients: "owner_superadmins" })
  const ledgers = yield* Effect.forEach(plan.accounts, (account) => made(organization, account))
  const round: Round = { organization, ledgers, findings: [] }
  const ofUser = new Map(ledgers.map((ledger) => [String(ledger.userId), ledger]))
  const ledgerOf = (ref: string) =>
    Effect.map(
      Effect.orDie(sql<{ user_id: string }>`select user_id from simulated_authorization where session_ref = ${ref}`),
      ([row]) => row === undefined ? undefined : ofUser.get(row.user_id)
    )
  const services = yield* Effect.context<
    | Effect.Services<ReturnType<typeof whenSent>>
    | Effect.Services<ReturnType<typeof meanwhile>>
  >()
  let sent = 0
  let asked = 0
  const broken = new Set<string>()
  fate.before = (ref, id) =>
    Effect.gen(function*() {
      const ledger = yield* ledgerOf(ref)
      if (ledger === undefined) return
      sent += 1
      yield* whenSent(round, ledger, ref, AuthorizationId.make(id))
      yield* meanwhile(organization, ledger, ledger.during.shift() ?? null, id)
    }).pipe(Effect.provideContext(services), Effect.orDie)
  fate.failed = (ref) => void broken.add(ref)
  const deaths = [...plan.deaths]
  fate.died = () => {
    const next = deaths.shift()
    fate.left = next?.after ?? null
    fate.done = next?.done ?? true
  }
  const { closeUnwatched } = yield* Engine
  const { end } = yield* LoginEndings
  const jobs = Effect.all([
    closeAbandonedIntents.run,
    noticeSilence.run,
    expireTakeoverLocks.run,
    // These die with the engine.
    Effect.exit(closeUnwatched),
    Effect.exit(end)
  ])
  const seen = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    for (const ref of broken) {
      const ledger = yield* ledgerOf(ref)
      if (ledger !== undefined) ledger.disturbedAt = now
    }
    broken.clear()
    yield* Effect.orDie(jobs)
    yield* Effect.orDie(whenSeen(round))
  })
  yield* advance("1 minute", seen)
  for (const [moment, gap] of plan.gaps.entries()) {
    for (const [place, ledger] of ledgers.entries()) {
      const deed = plan.accounts[place]?.deeds[moment]
      if (deed === undefined || ledger.offboarded) continue
      asked += 1
      yield* Effect.exit(moving(done(organization, ledger, deed)))
    }
    fate.died()
    yield* advance(gap * 60_000, seen, again)
    fate.left = null
    if (moment % 4 === 3) yield* statuses(round)
  }
  yield* platform.clearScripts
  for (const { userId } of ledgers) yield* platform.setUnreachable(userId, false)
  yield* advance("6 minutes", seen, again)
  yield* advance("6 minutes", seen, again)
  yield* statuses(round)
  yield* whenOver(round)
  fate.before = null
  // What is left to be done is no matter of the next round.
  yield* World.query(
    organization.id,
    (all) => all`delete from account_task where organization_id = ${organization.id} returning kind`
  )
  return { sent, asked, findings: round.findings }
})

/** The plan of a number, of so many accounts. */
export const planOf = (number: number, accounts: number): Plan => {
  const [plan] = fc.sample(plans(accounts), { ...tried(1), seed: number })
  if (plan === undefined) throw new Error("no plan")
  return plan
}
