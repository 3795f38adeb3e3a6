import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import * as crypto from "node:crypto"
import { type MessengerUserId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import * as MemoryKeys from "../../../../src/layers/memory/MessengerKeys.ts"
import type { SecurityChange, SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { MessengerKeys } from "../../../../src/ports/messenger/MessengerKeys.ts"
import { type LiveSession, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../../src/ports/messenger/Ownership.ts"
import { sha1 } from "../../../support/dataCentre/Cipher.ts"
import type { Fault } from "../../../support/dataCentre/Faults.ts"
import * as Wire from "../../../support/dataCentre/index.ts"

/** Whose session each key of the data centre is, by its id. */
const refs = new Map<string, SessionRef>()

const keys = Layer.effect(
  MessengerKeys,
  Effect.map(MessengerKeys, (kept) =>
    MessengerKeys.of({
      ...kept,
      save: (ref, name, value, version) => {
        if (name.startsWith("key:")) {
          refs.set(sha1(Redacted.value(value)).subarray(-8).toString("hex"), ref)
        }
        return kept.save(ref, name, value, version)
      }
    }))
).pipe(Layer.provide(MemoryKeys.layer))

const wire = Layer.provideMerge(Layer.provide(Wire.layerOf(1), Ownership.layerAlone), keys)

const [first, second] = [Redacted.make("horse staple"), Redacted.make("battery horse")]

/** What a scenario has: a person, sessions of the service whose requests are counted, and one that looks on. */
interface Stage {
  readonly world: SimulatedPlatform["Service"]
  readonly messenger: MessengerSession["Service"]
  readonly userId: MessengerUserId
  readonly phone: string
  /** A reference of a session whose requests count. */
  readonly ours: () => SessionRef
  /** Opens a session that is two days old, and whose requests count. */
  readonly open: Effect.Effect<LiveSession, unknown, Scope.Scope>
  readonly onlooker: LiveSession
}

/** The service tries again what the messenger did not answer. */
const insisted = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
  Effect.retry(call, { times: 3, while: ({ _tag }) => _tag === "PlatformUnavailable" })

const old = { created_at: new Date(Date.now() - 2 * 86_400_000) }

let people = 0

/** Plays a scenario whose nth request meets with the fault; answers the names of what was asked. */
const played = Effect.fnUntraced(
  function*(
    { security = {}, play }: Scenario,
    nth: number,
    does: Fault["does"]
  ) {
    const { centre, world } = yield* Wire.Loopback
    const messenger = yield* MessengerSession
    const phone = `49155513${20_000 + people++}`
    const userId = yield* world.createAccount({ phone, first_name: "Ada", security })
    const onlooker = yield* messenger.open(yield* world.connect(userId, old))
    const ours = new Set<SessionRef>()
    const asked: Array<string> = []
    const counted = (ref: SessionRef) => {
      ours.add(ref)
      return ref
    }
    const fault: Fault = {
      which: ({ id }, { _ }) => {
        const ref = refs.get(id)
        return ref !== undefined && ours.has(ref) && asked.push(_) === nth
      },
      does,
      times: 1
    }
    centre.faults.push(fault)
    const check = yield* play({
      world,
      messenger,
      userId,
      phone,
      ours: () => counted(SessionRef.make(crypto.randomUUID())),
      open: Effect.flatMap(world.connect(userId, old), (ref) => messenger.open(counted(ref))),
      onlooker
    })
    ours.clear()
    yield* check()
    return asked
  },
  Effect.scoped
)

interface Scenario {
  readonly security?: SecurityChange
  /** Answers what holds afterwards, whose requests do not count. */
  readonly play: (stage: Stage) => Effect.Effect<() => Effect.Effect<void, unknown, Scope.Scope>, unknown, Scope.Scope>
}

const codeOf = ({ phone, world }: Stage) =>
  Effect.map(world.codes, (all) => all.findLast((one) => one.phone === phone)!.code)

/** The account has so many sessions beside the onlooker's. */
const others = ({ onlooker }: Stage, count: number) =>
  Effect.map(onlooker.authorizations, (all) => assert.lengthOf(all, count + 1))

const security = ({ onlooker }: Stage) => onlooker.security({ twoFaPasswords: [], passkeyIds: [] })

const scenarios: Readonly<Record<string, Scenario>> = {
  "a look sees what there is": {
    play: Effect.fnUntraced(function*(stage) {
      const live = yield* stage.open
      assert.strictEqual((yield* live.profile).first_name, "Ada")
      assert.lengthOf(yield* live.authorizations, 2)
      const seen = yield* live.security({ twoFaPasswords: [], passkeyIds: [] })
      assert.deepInclude(seen, { two_fa_present: false, passkey_ids: [] })
      return () => others(stage, 1)
    })
  },
  "a login signs in one session": {
    play: Effect.fnUntraced(function*(stage) {
      const { messenger, ours, phone, userId } = stage
      const ref = ours()
      const { state } = yield* insisted(messenger.begin(ref, `+${phone}`))
      const step = yield* insisted(messenger.submitCode(state, yield* codeOf(stage)))
      assert.deepInclude(step, { _tag: "Connected", userId })
      return () =>
        Effect.gen(function*() {
          assert.strictEqual((yield* (yield* messenger.open(ref)).profile).user_id, userId)
          yield* others(stage, 1)
        })
    })
  },
  "a login with a password signs in one session": {
    security: { two_fa_password: first },
    play: Effect.fnUntraced(function*(stage) {
      const { messenger, ours, phone, userId } = stage
      const { state } = yield* insisted(messenger.begin(ours(), `+${phone}`))
      assert.strictEqual((yield* insisted(messenger.submitCode(state, yield* codeOf(stage))))._tag, "PasswordStep")
      assert.strictEqual((yield* insisted(messenger.submitPassword(state, first))).userId, userId)
      return () => others(stage, 1)
    })
  },
  "a login that is cancelled leaves no session": {
    play: Effect.fnUntraced(function*(stage) {
      const { messenger, ours, phone } = stage
      const { state } = yield* insisted(messenger.begin(ours(), `+${phone}`))
      yield* insisted(messenger.submitCode(state, yield* codeOf(stage)))
      yield* insisted(messenger.cancel(state))
      return () => others(stage, 0)
    })
  },
  "a sign-out ends that session, and says so": {
    play: Effect.fnUntraced(function*(stage) {
      const { onlooker, userId, world } = stage
      const [thief, phone] = [yield* world.logIn(userId, {}), yield* world.logIn(userId, {})]
      yield* (yield* stage.open).signOut(thief)
      return () =>
        Effect.gen(function*() {
          const left = new Set<string>((yield* onlooker.authorizations).map(({ id }) => id))
          assert.deepStrictEqual([left.size, left.has(thief), left.has(phone)], [3, false, true])
        })
    })
  },
  "a first 2FA password is set": {
    play: Effect.fnUntraced(function*({ onlooker, open }) {
      yield* (yield* open).setPassword({ current: null, next: first })
      return () => Effect.map(onlooker.checkPassword(first), (held) => assert.isTrue(held))
    })
  },
  "a 2FA password is replaced": {
    security: { two_fa_password: first },
    play: Effect.fnUntraced(function*({ onlooker, open }) {
      yield* (yield* open).setPassword({ current: first, next: second })
      return () => Effect.map(onlooker.checkPassword(second), (held) => assert.isTrue(held))
    })
  },
  "a 2FA password is removed": {
    security: { two_fa_password: first },
    play: Effect.fnUntraced(function*(stage) {
      yield* (yield* stage.open).removePassword(first)
      return () => Effect.map(security(stage), ({ two_fa_present }) => assert.isFalse(two_fa_present))
    })
  },
  "a login address is replaced, or it is not known": {
    security: { login_email: "old@example.org" },
    play: Effect.fnUntraced(function*(stage) {
      const { open, userId, world } = stage
      const live = yield* open
      const { pattern } = yield* live.startLoginEmail("new@example.com")
      const code = (yield* world.emailCode(userId, "login"))!
      const confirmed = yield* Effect.result(live.confirmLoginEmail(code))
      if (confirmed._tag === "Failure") assert.strictEqual(confirmed.failure._tag, "PlatformUnavailable")
      return () => Effect.map(security(stage), (seen) => assert.strictEqual(seen.login_email_pattern, pattern))
    })
  },
  "a passkey is added once": {
    play: Effect.fnUntraced(function*(stage) {
      const { privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" })
      const key = Redacted.make(privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"))
      const id = crypto.randomBytes(32).toString("base64url")
      assert.deepStrictEqual(yield* (yield* stage.open).addPasskey({ id, key }), { id })
      return () => Effect.map(security(stage), ({ passkey_ids }) => assert.deepStrictEqual(passkey_ids, [id]))
    })
  },
  "a paired session is signed in once, or it is not known": {
    play: Effect.fnUntraced(function*(stage) {
      const live = yield* stage.open
      const ref = stage.ours()
      const paired = yield* Effect.result(live.pair(ref, null))
      if (paired._tag === "Failure") assert.strictEqual(paired.failure._tag, "PlatformUnavailable")
      return () =>
        Effect.gen(function*() {
          const listed = (yield* live.authorizations).map(({ id }) => id)
          if (paired._tag === "Success") assert.include(listed, paired.success.seenAs)
          // Whoever does not know looks whether it is signed in.
          const found = yield* stage.messenger.open(ref)
          assert.strictEqual((yield* found.profile).user_id, stage.userId)
          yield* others(stage, 2)
        })
    })
  },
  "a log-out leaves no session, and says so": {
    play: Effect.fnUntraced(function*(stage) {
      yield* (yield* stage.open).logOut
      return () => others(stage, 0)
    })
  }
}

// The library has timers of its own, so that all of it is in real time, which is waited for side by side.
layer(wire, { excludeTestServices: true })(
  "with its connection dropped at any request, before it is done and after,",
  (it) => {
    for (const [name, scenario] of Object.entries(scenarios)) {
      it.effect(name, () =>
        Effect.gen(function*() {
          const asked = yield* played(scenario, Infinity, "drop before")
          // The look tells how a session is opened, with which others begin.
          const runs = asked.flatMap((request, at) =>
            request === "updates.getState" && !name.startsWith("a look")
              ? []
              : (["drop before", "drop after"] as const).map((does) => ({ nth: at + 1, does }))
          )
          yield* Effect.forEach(
            runs,
            ({ does, nth }) =>
              Effect.mapError(
                played(scenario, nth, does),
                (cause) => new Error(`${does} ${nth}, ${asked[nth - 1]}`, { cause })
              ),
            { concurrency: "unbounded" }
          )
        }), { concurrent: true, timeout: 60_000 })
    }

    it.effect("a handshake is begun anew", () =>
      Effect.gen(function*() {
        const { centre, world } = yield* Wire.Loopback
        const messenger = yield* MessengerSession
        // The library waits five seconds for the answer to a step, so that three logins lose one each.
        yield* Effect.forEach(["mt_req_pq_multi", "mt_req_DH_params", "mt_set_client_DH_params"], (request) =>
          Effect.gen(function*() {
            const phone = `49155513${20_000 + people++}`
            yield* world.createAccount({ phone, first_name: "Ada" })
            centre.faults.push({ request, does: "drop before", times: 1 })
            yield* messenger.begin(SessionRef.make(crypto.randomUUID()), `+${phone}`)
          }), { concurrency: "unbounded" })
        assert.isFalse(centre.faults.some(({ request }) =>
          request !== undefined
        ))
      }), 60_000)
  }
)
