/** Plays what happens to an account, step by step, and holds each step against the model and the invariants. */
import { assert } from "@effect/vitest"
import type { WatchedSession } from "../../../src/domain/protection/Facts.ts"
import { hour } from "../stored.ts"
import { ownDevice } from "./platform.ts"
import { type StepCase, World } from "./world.ts"

const minute = hour / 60

/** What may happen; numbers pick a device or a session among those that there are. */
export type Act =
  | { readonly kind: "wait"; readonly minutes: number; readonly step: StepCase }
  | { readonly kind: "sign in"; readonly disguised: boolean }
  | { readonly kind: "end"; readonly pick: number }
  | { readonly kind: "attempt" }
  | { readonly kind: "change"; readonly what: "2fa" | "reset" | "recovery" | "login email" | "phone" | "passkey" }
  | { readonly kind: "approve" | "reject"; readonly pick: number }
  | { readonly kind: "revoke"; readonly slot: "main" | "paired" }
  | { readonly kind: "away" | "back" | "flood" | "code" }
  | { readonly kind: "pause" | "resume" | "relogin" | "pair" | "set 2fa" }
  | { readonly kind: "lockdown" | "security lock"; readonly on: boolean }
  | { readonly kind: "release" }

const picked = <A>(among: ReadonlyArray<A>, pick: number): A | undefined => among[pick % Math.max(among.length, 1)]

const strangers = (world: World) => {
  const own = new Set(world.facts.own.map(({ id }) => id))
  return [...world.platform.devices.values()].filter(({ id }) => !own.has(id))
}

const changes = {
  "2fa": ({ platform }) => {
    platform.twoFa = platform.mark()
  },
  reset: ({ now, platform }) => {
    platform.resetAt = now
  },
  recovery: ({ platform }) => {
    platform.recovery = platform.recovery === null ? "r*****y@example.org" : null
  },
  "login email": ({ platform }) => {
    platform.loginEmail = `${platform.mark()}@example.org`
  },
  phone: ({ now, platform }) => {
    platform.phone = String(now)
  },
  passkey: ({ platform }) => {
    platform.passkeys.push(platform.mark())
  }
} as const satisfies Record<string, (world: World) => void>

/** What the world does of itself. */
const happen = (world: World, act: Exclude<Act, { readonly kind: "wait" }>): void => {
  const { model, platform } = world
  switch (act.kind) {
    case "sign in":
      platform.signIn(world.now, act.disguised ? ownDevice : undefined)
      return
    case "end": {
      const device = picked(strangers(world), act.pick)
      if (device !== undefined) platform.end(device.id)
      return
    }
    case "attempt":
      platform.signIn(world.now, undefined, true)
      return
    case "change":
      return changes[act.what](world)
    case "approve":
    case "reject": {
      const row = picked(world.facts.sessions.filter(({ service }) => !service), act.pick)
      if (row === undefined || world.account.paused_at !== null) return
      return act.kind === "approve" ? world.approve(row) : world.reject(row)
    }
    case "revoke": {
      const own = world.facts.own.find(({ slot }) => slot === act.slot)
      if (own !== undefined) platform.end(own.id)
      return
    }
    case "away":
      platform.reachable = false
      return
    case "back":
      platform.reachable = true
      platform.floodSeconds = 0
      return
    case "flood":
      platform.floodSeconds = 30
      return
    case "code":
      platform.codes += 1
      return
    case "pause":
      return world.pause()
    case "resume":
      world.resume()
      return stepped(world, {})
    case "relogin":
      return world.relogin()
    case "pair":
      return world.pair()
    case "set 2fa":
      return world.setTwoFa()
    case "lockdown":
      world.facts = { ...world.facts, lockdown: act.on }
      return
    case "security lock":
      world.change({ security_lock: act.on })
      model.securityLock = act.on
      return
    case "release":
      world.change({ locked_at: null })
      model.lockedAt = null
  }
}

const reals = (world: World, reader: string, sessions: ReadonlyArray<{ readonly id: string }>) =>
  sessions.map(({ id }) => world.platform.real(id, reader)).toSorted()

/** An admin has approved what a call may have been sent for: the next list shows whether it was. */
const sparedSince = ({ approved_at, ending_at, ending_intent }: WatchedSession): boolean =>
  ending_intent !== null && approved_at !== null && ending_at !== null && approved_at >= ending_at

/** The rows of strangers are the entries of the ledger. */
const sameRows = (world: World): void => {
  const reader = world.reader
  const rows = world.facts.sessions.filter(({ service }) => !service).map((row) => ({
    id: world.platform.real(row.id, reader),
    seen: row.seen_at.getTime(),
    baseline: row.baseline,
    approved: row.approved_at !== null,
    deadline: row.review_deadline?.getTime() ?? null,
    ending: sparedSince(row) ? null : row.ending_reason,
    queued: row.queued_at !== null,
    sent: row.ending_intent !== null
  }))
  const entries = [...world.model.entries].map((
    [id, { approved, baseline, deadline, ending, queued, seen, sent }]
  ) => ({
    id,
    seen,
    baseline,
    approved,
    deadline,
    ending,
    queued,
    sent
  }))
  const byId = (one: { readonly id: string }, other: { readonly id: string }) => one.id < other.id ? -1 : 1
  const [stored, expected] = [rows.toSorted(byId), entries.toSorted(byId)]
  if (JSON.stringify(stored) !== JSON.stringify(expected)) assert.deepStrictEqual(stored, expected)
}

/** One step, with what the model says must come of it. */
const stepped = (world: World, step: StepCase): void => {
  const { model, platform } = world
  const watched = world.account.paused_at === null && world.account.stopped_at === null
  const ownBefore = new Set(world.facts.own.map(({ id }) => id))
  const acting = world.facts.own.filter(({ slot }) => slot === "main" || slot === "paired")
  const lost = acting.filter(({ id }) => !platform.devices.has(id))
  const readerBefore = world.reader
  const seen = world.terminations.length
  const decision = world.step(step)
  if (!watched) {
    assert.deepStrictEqual([decision.endings, decision.events, decision.upserts], [[], [], []])
    return
  }
  const away = !platform.reachable || platform.floodSeconds > 0
  const alive = acting.length - lost.length
  const mainLost = lost.some(({ slot }) => slot === "main")
  if (acting.length > 0 && (away || mainLost && alive > 0 && step.pairedSilent === true)) {
    model.failed(world.now, platform.reachable && platform.floodSeconds > 0)
    if (!away) model.revoked(world.now, world.facts.lockdown)
    assert.deepStrictEqual(decision.endings, [])
    assert.strictEqual(world.status(), model.status(world.now, world.enforcement()), "I6: the status is the model's")
    return
  }
  if (alive === 0) {
    if (lost.length > 0) model.revoked(world.now, world.facts.lockdown)
    Object.assign(model, { stopped: true, state: "stopped" })
    assert.deepStrictEqual(decision.endings, [])
    assert.isTrue(decision.freesIdentity)
    assert.strictEqual(world.status(), "protection_stopped")
    return
  }
  const reader = world.reader
  const devices = new Map(
    [...platform.devices.values()].flatMap(({ createdAt, id, waiting }) =>
      ownBefore.has(id) || waiting ? [] : [[id, createdAt] as const]
    )
  )
  const expected = model.poll({
    now: world.now,
    devices,
    asking: world.created(reader),
    enforcement: world.enforcement(),
    lockdown: world.facts.lockdown,
    revoked: lost.length > 0,
    look: step.look === false ? null : {
      twoFa: platform.twoFa,
      resetAt: platform.resetAt,
      recovery: platform.recovery,
      loginEmail: platform.loginEmail,
      phone: platform.phone,
      passkeys: [...platform.passkeys]
    }
  })
  const ended = world.terminations.slice(seen).map(({ actor, real, reason }) => [real, reason ?? actor])
  assert.deepStrictEqual(ended.toSorted(), expected.ended.map(([id, by]) => [id, by]).toSorted())
  const detected = decision.events.filter(({ action }) => action === "session.detected")
  assert.deepStrictEqual(
    reals(world, reader, detected.map(({ session }) => ({ id: session ?? "" }))),
    [
      ...expected.added
    ].toSorted()
  )
  assert.deepStrictEqual(
    decision.endings.map(({ reason, session_id }) => [platform.real(session_id, reader), reason]),
    expected.endings.map(([id, reason]) => [id, reason]),
    `what is signed out, after ${readerBefore}`
  )
  sameRows(world)
  world.act(decision, step)
  sameRows(world)
  assert.strictEqual(world.status(), model.status(world.now, world.enforcement()), "I6: the status is the model's")
  assert.strictEqual(
    world.account.takeover_stopped_at?.getTime() ?? null,
    model.takeoverStopped,
    "a takeover is stopped when the model says so"
  )
  if (step.look !== false) {
    assert.strictEqual(
      world.account.two_fa_managed && world.facts.facets.two_fa_lost !== true,
      platform.twoFa !== null && platform.held === platform.twoFa,
      "I5: the password is managed while it is one that is held"
    )
  }
  if (step.crash === undefined && step.refused === undefined && step.during === undefined) outlived(world)
}

/** I1 and I8: where the service may act, no stranger lives past the deadline or the age of 23 hours. */
const outlived = (world: World): void => {
  const { model, now, platform } = world
  if (now < world.enforcement() || model.retryAt > now) return
  for (const [id, { approved, baseline, created, deadline }] of model.entries) {
    if (approved || baseline || !platform.devices.has(id)) continue
    assert.isAbove(deadline ?? 0, now, `I1: ${id} outlives its deadline`)
    assert.isBelow(now, created + 23 * hour, `I8: ${id} lives past 23 hours`)
  }
}

const waited = (world: World, minutes: number, step: StepCase): void => {
  const end = world.now + minutes * minute
  for (let due = world.dueAt; due !== null && due.getTime() <= end; due = world.dueAt) {
    world.now = Math.max(world.now, due.getTime())
    stepped(world, step)
    assert.isAbove(world.dueAt?.getTime() ?? end + 1, world.now, "what is due lies ahead")
  }
  world.now = end
  stepped(world, step)
}

/** I3: one event for each stranger, and one termination with who ended it in truth. */
const accounted = (world: World): void => {
  const detected = world.events.flatMap(({ action, session }) => action === "session.detected" ? [session ?? ""] : [])
    .map((id) => id.slice(id.indexOf("/") + 1))
  assert.strictEqual(new Set(detected).size, detected.length, "I3: one session.detected for each")
  const ended = world.terminations.map(({ real }) => real)
  assert.strictEqual(new Set(ended).size, ended.length, "I3: one termination for each")
  for (const { actor, real } of world.terminations) {
    assert.isFalse(world.platform.devices.has(real), "I3: nothing is ended that lives")
    if (world.endedByCall.has(real)) assert.strictEqual(actor, "service", `I3: ${real}`)
    else if (!world.begun.has(real)) assert.notStrictEqual(actor, "service", `I3: ${real}`)
  }
}

/** Plays one sequence. */
export const play = (
  setting: { readonly before: number; readonly ownIds: boolean },
  acts: ReadonlyArray<Act>
): World => {
  const world = new World(Date.UTC(2026, 2, 2), setting.before, setting.ownIds)
  stepped(world, {})
  for (const act of acts) {
    world.now += 1
    if (act.kind === "wait") waited(world, act.minutes, act.step)
    else happen(world, act)
  }
  world.now += 1
  world.platform.reachable = true
  world.platform.floodSeconds = 0
  waited(world, 1, {})
  accounted(world)
  return world
}
