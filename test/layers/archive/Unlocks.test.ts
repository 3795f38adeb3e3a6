import { describe, expect, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { newEpoch } from "../../../src/archive/EpochKeys.ts"
import { makeKeyPair, wrapSeed } from "../../../src/archive/KeyWraps.ts"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { ArchiveKeyId, type EpochRef } from "../../../src/domain/archive/Epoch.ts"
import { wrapIdOf } from "../../../src/domain/archive/KeyWrap.ts"
import { TooManyAttempts } from "../../../src/domain/Failure.ts"
import { type Caller, OrganizationId } from "../../../src/domain/people/Access.ts"
import * as NodeCrypto from "../../../src/layers/archive/NodeCrypto.ts"
import * as Unlocks from "../../../src/layers/archive/Unlocks.ts"
import { ArchiveAttempts } from "../../../src/ports/archive/ArchiveAttempts.ts"
import { PasswordDerivation } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { type ArchiveKey, ArchiveKeys, type WrappedKey } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveUnlock } from "../../../src/ports/archive/ArchiveUnlock.ts"
import { Db } from "../../../src/ports/Db.ts"
import { Journal } from "../../../src/ports/journal/Journal.ts"

const organizationId = OrganizationId.make("harbour")
const password = "harbour lantern archive"

const callerWith = (text: string, id = "one"): Caller["Service"] => ({
  organizationId,
  organizationClosed: false,
  adminId: "admin",
  adminName: null,
  role: "owner",
  readsArchive: true,
  scopes: [],
  limit: null,
  credential: { kind: "api_key", id, label: "" },
  via: "rest",
  ip: null,
  requestId: null,
  extras: { archivePassword: Redacted.make(text) }
})

/** A process whose derivations are counted, and wait for `gate`. */
const make = Effect.gen(function*() {
  const counts = { attempts: 0, derived: 0, failed: 0, opened: 0 }
  const most = { attempts: Infinity }
  const gate = { open: Effect.void as Effect.Effect<void> }
  const derivation = Layer.succeed(PasswordDerivation, {
    cost: { memory_kib: 1024, passes: 1, lanes: 1 },
    derive: (given, { salt }) =>
      Effect.andThen(
        gate.open,
        Effect.sync(() => {
          counts.derived += 1
          const bytes = new Uint8Array(64)
          bytes.set(Buffer.from(`${Redacted.value(given)}${salt}`).subarray(0, 64))
          return Redacted.make(bytes)
        })
      )
  })
  const attempts = Layer.succeed(ArchiveAttempts, {
    count: () =>
      Effect.suspend(() => {
        if (counts.attempts >= most.attempts) return Effect.fail(new TooManyAttempts({ retry_after: 3600 }))
        counts.attempts += 1
        return Effect.void
      }),
    takeBack: () => Effect.sync(() => void (counts.attempts -= 1)),
    opened: () =>
      Effect.sync(() => {
        counts.attempts -= 1
        counts.opened += 1
      })
  })
  const journal = Layer.mock(Journal, { append: () => Effect.sync(() => void (counts.failed += 1)) })
  const stored: Array<WrappedKey> = []
  const keys = Layer.succeed(
    ArchiveKeys,
    ArchiveKeys.of({
      current: () => Effect.die("unused"),
      sealing: () => Effect.succeed(null),
      isRetired: () => Effect.die("unused"),
      lock: () => Effect.die("unused"),
      add: () => Effect.die("unused"),
      dropAll: () => Effect.die("unused"),
      rewrap: () => Effect.die("unused"),
      wrap: () => Effect.die("unused"),
      wrapped: () => Effect.sync(() => [...stored])
    })
  )
  const db = Layer.succeed(
    Db,
    Db.of({ read: (_, effect) => effect, transaction: (_, effect) => effect, check: Effect.void })
  )
  const primitives = Layer.merge(NodeCrypto.layer, derivation)
  const context = yield* Layer.build(
    Unlocks.layer.pipe(Layer.provideMerge(primitives), Layer.provide(Layer.mergeAll(attempts, keys, db, journal)))
  )
  const unlock = Context.get(context, ArchiveUnlock)
  const { keyId, publicKey, seed } = yield* Effect.provide(makeKeyPair, context)
  const ref = { organizationId, keyId, publicKey, kind: "password" as const }
  /** Sets the password; the key as later requests read it. */
  const setPassword = Effect.fnUntraced(function*(text: string) {
    const wrap = yield* Effect.provide(wrapSeed(ref, Redacted.make(text), seed), context)
    const key: ArchiveKey = {
      organizationId,
      keyId,
      publicKey,
      suite: 1,
      madeAt: new Date(0),
      passwordSetAt: new Date(0),
      wrapId: wrapIdOf(wrap)
    }
    stored[0] = { key, wrap: { ...wrap, madeAt: new Date(0) } }
    return key
  })
  const key = yield* setPassword(password)
  const dropWrap = Effect.sync(() => void stored.pop())
  /** Puts another public key in the place of the organization's; the key as later requests read it. */
  const putPublicKey = (publicKey: Uint8Array) =>
    Effect.sync(() => {
      const [first] = stored
      if (first === undefined) throw new Error("There is no key")
      const { wrap } = first
      const put: ArchiveKey = { ...first.key, publicKey }
      stored[0] = { key: put, wrap }
      return put
    })
  const epoch: EpochRef = {
    organizationId,
    accountId: AccountId.make("019bc0e2-1280-7691-9060-dc1c794fba00"),
    epochId: 1n,
    keyId
  }
  const sealed = yield* Effect.provide(newEpoch(epoch, publicKey), context)
  counts.derived = 0
  return { counts, dropWrap, epoch, gate, key, most, putPublicKey, sealed, setPassword, unlock }
})

describe("opened archive keys", () => {
  it.effect("are derived once for requests of one credential and password, until five minutes have passed", () =>
    Effect.gen(function*() {
      const { counts, key, unlock } = yield* make
      const open = (text: string, id?: string) => Effect.scoped(unlock.open(callerWith(text, id), key))
      yield* Effect.all(Array.from({ length: 30 }, () => open(password)), { concurrency: "unbounded" })
      expect(counts).toEqual({ attempts: 0, derived: 1, failed: 0, opened: 1 })
      yield* TestClock.adjust("299 seconds")
      yield* open(password)
      expect(counts.derived).toBe(1)
      yield* TestClock.adjust("1 seconds")
      yield* open(password)
      expect(counts.derived).toBe(2)
      yield* open(password, "another")
      expect(counts.derived).toBe(3)
    }))

  it.effect("are not found any more once the password is another one", () =>
    Effect.gen(function*() {
      const { counts, key, setPassword, unlock } = yield* make
      yield* Effect.scoped(unlock.open(callerWith(password), key))
      const changed = yield* setPassword("meadow copper violin")
      counts.derived = 0
      const refused = yield* Effect.flip(Effect.scoped(unlock.open(callerWith(password), changed)))
      expect([refused._tag, counts.derived]).toEqual(["archive_password_invalid", 1])
    }))

  it.effect("are not opened to seal anything to a public key that is not theirs, by password, by what is kept, or by a token", () =>
    Effect.gen(function*() {
      const { key, putPublicKey, unlock } = yield* make
      const { publicKey } = yield* Effect.provide(makeKeyPair, NodeCrypto.layer)
      const [token, connectionId] = [Redacted.make("a token of 256 bits"), "connection"]
      const sealed = yield* Effect.scoped(
        Effect.flatMap(unlock.open(callerWith(password), key), ({ storedUnder }) => storedUnder(token, connectionId))
      )
      const connected: Caller["Service"] = {
        ...callerWith(password),
        extras: {},
        limit: { connectionId, scopeType: "all" },
        storedUnlock: { sealed, token }
      }
      const open = (caller: Caller["Service"], read: ArchiveKey) =>
        Effect.result(Effect.scoped(unlock.open(caller, read)))
      const tags = Effect.fnUntraced(function*(read: ArchiveKey) {
        const results = [yield* open(callerWith(password), read), yield* open(connected, read)]
        return results.map((result) => Result.isSuccess(result) ? "open" : result.failure._tag)
      })
      expect(yield* tags(key)).toEqual(["open", "open"])
      const put = yield* putPublicKey(publicKey)
      expect(yield* tags(put)).toEqual(["archive_password_invalid", "archive_password_required"])
      yield* putPublicKey(key.publicKey)
      expect(yield* tags(put)).toEqual(["service_unavailable", "service_unavailable"])
      expect(yield* tags(key)).toEqual(["open", "open"])
    }))

  it.effect("a password that is changed between a request's facts and its derivation opens nothing, counts nothing, and is asked for again", () =>
    Effect.gen(function*() {
      const { counts, dropWrap, key, setPassword, unlock } = yield* make
      const next = "meadow copper violin"
      const changed = yield* setPassword(next)
      counts.derived = 0
      const open = (text: string, read = key) => Effect.scoped(unlock.open(callerWith(text), read))
      for (const text of [password, next]) {
        expect(yield* Effect.flip(open(text))).toMatchObject({ _tag: "service_unavailable", retry_after: 1 })
      }
      expect(counts).toEqual({ attempts: 0, derived: 0, failed: 0, opened: 0 })
      expect((yield* open(next, changed)).key.wrapId).toBe(changed.wrapId)
      yield* dropWrap
      expect((yield* Effect.flip(open(password)))._tag).toBe("service_unavailable")
    }))

  it.effect("what the former password opened while it was changed serves its own request, and no later one", () =>
    Effect.gen(function*() {
      const { counts, epoch, gate, key, sealed, setPassword, unlock } = yield* make
      const began = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      gate.open = Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(end))
      const opening = yield* Effect.forkChild(
        Effect.scoped(Effect.flatMap(
          unlock.open(callerWith(password), key),
          (archive) => Effect.map(archive.epochKey(epoch, sealed.sealedKey), ({ key }) => Redacted.value(key).slice())
        )),
        { startImmediately: true }
      )
      yield* Deferred.await(began)
      gate.open = Effect.void
      const changed = yield* setPassword("meadow copper violin")
      yield* Deferred.succeed(end, undefined)
      expect(yield* Fiber.join(opening)).toEqual(Redacted.value(sealed.key.key))
      counts.derived = 0
      const late = yield* Effect.flip(Effect.scoped(unlock.open(callerWith(password), changed)))
      expect([late._tag, counts.derived]).toEqual(["archive_password_invalid", 1])
    }))

  it.effect("a wrong password is counted before its derivation and stays counted", () =>
    Effect.gen(function*() {
      const { counts, gate, key, unlock } = yield* make
      const began = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      gate.open = Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(end))
      const opening = yield* Effect.forkChild(
        Effect.flip(Effect.scoped(unlock.open(callerWith("another"), key))),
        { startImmediately: true }
      )
      yield* Deferred.await(began)
      expect(counts).toEqual({ attempts: 1, derived: 0, failed: 0, opened: 0 })
      yield* Deferred.succeed(end, undefined)
      expect((yield* Fiber.join(opening))._tag).toBe("archive_password_invalid")
      expect(counts).toEqual({ attempts: 1, derived: 1, failed: 1, opened: 0 })
    }))

  it.effect("once a credential has had as many wrong passwords as it may, its right one is refused as well", () =>
    Effect.gen(function*() {
      const { counts, key, most, unlock } = yield* make
      const open = (text: string, id?: string) => Effect.exit(Effect.scoped(unlock.open(callerWith(text, id), key)))
      const answers = (text: string, id?: string) =>
        Effect.map(open(text, id), (exit) => Exit.isSuccess(exit) ? "opened" : Cause.squash(exit.cause))
      expect(yield* answers(password)).toBe("opened")
      expect(yield* answers(password, "another")).toBe("opened")
      most.attempts = 2
      for (const wrong of ["one", "two"]) {
        expect(yield* answers(wrong)).toMatchObject({ _tag: "archive_password_invalid" })
      }
      expect(yield* answers(password)).toBe("opened")
      expect(yield* answers("three")).toMatchObject({ _tag: "too_many_attempts" })
      expect(yield* answers(password)).toMatchObject({ _tag: "too_many_attempts" })
      expect(yield* answers(password, "another")).toBe("opened")
      expect(counts).toEqual({ attempts: 2, derived: 4, failed: 2, opened: 2 })
    }))

  it.effect("eighteen passwords are derived or wait; the next is refused, and not counted", () =>
    Effect.gen(function*() {
      const { counts, gate, key, unlock } = yield* make
      const end = yield* Deferred.make<void>()
      gate.open = Deferred.await(end)
      const open = (place: number) => Effect.exit(Effect.scoped(unlock.open(callerWith(password, `${place}`), key)))
      const fibers = yield* Effect.forEach(
        Array.from({ length: 18 }, (_, place) => place),
        (place) => Effect.forkChild(open(place), { startImmediately: true })
      )
      expect(counts.attempts).toBe(18)
      const refused = yield* Effect.flip(Effect.scoped(unlock.open(callerWith(password, "late"), key)))
      expect([refused._tag, counts.attempts]).toEqual(["service_unavailable", 18])
      yield* Deferred.succeed(end, undefined)
      expect((yield* Fiber.joinAll(fibers)).every(Exit.isSuccess)).toBe(true)
      expect(counts.attempts).toBe(0)
    }))

  it.effect("open epochs of their own key pair alone, and are zeroed when nobody uses them any more", () =>
    Effect.gen(function*() {
      const { epoch, key, sealed, unlock } = yield* make
      const scope = yield* Scope.make()
      const archive = yield* Scope.provide(unlock.open(callerWith(password), key), scope)
      const opened = yield* archive.epochKey(epoch, sealed.sealedKey)
      expect(Redacted.value(opened.key)).toEqual(Redacted.value(sealed.key.key))
      expect(yield* archive.epochKey(epoch, sealed.sealedKey)).toBe(opened)
      const foreign = ArchiveKeyId.make("019bc0e2-1280-4691-9060-dc1c794fba01")
      for (const other of [{ ...epoch, keyId: foreign }, { ...epoch, epochId: 2n }]) {
        expect((yield* Effect.flip(archive.epochKey(other, sealed.sealedKey))).part).toBe("epoch")
      }
      const other = yield* Effect.provide(newEpoch(epoch, key.publicKey), NodeCrypto.layer)
      expect(Redacted.value((yield* archive.epochKey(epoch, other.sealedKey)).key)).toEqual(
        Redacted.value(other.key.key)
      )
      const elsewhere = { ...epoch, organizationId: OrganizationId.make("elsewhere") }
      expect(
        [epoch, { ...epoch, accountId: AccountId.make("019bc0e2-1280-7691-9060-dc1c794fba01") }, elsewhere].map((
          account
        ) => archive.keptEpoch?.(account, 1n))
      )
        .toEqual([opened, undefined, undefined])
      expect(archive.keptEpoch?.(epoch, 2n)).toBeUndefined()
      const next = yield* Effect.scoped(
        Effect.map(unlock.open(callerWith(password), key), ({ keptEpoch }) => keptEpoch?.(epoch, 1n))
      )
      expect(next).toBe(opened)
      yield* TestClock.adjust("5 minutes")
      expect(Redacted.value(opened.key)).toEqual(Redacted.value(sealed.key.key))
      yield* Scope.close(scope, Exit.void)
      expect(Redacted.value(opened.key)).toEqual(new Uint8Array(32))
    }))

  it.effect("work that was begun within a request has the keys until it ends, and no longer", () =>
    Effect.gen(function*() {
      const { epoch, key, sealed, unlock } = yield* make
      const end = yield* Deferred.make<void>()
      const read: Array<Uint8Array> = []
      const opened = yield* Effect.scoped(Effect.gen(function*() {
        const archive = yield* unlock.open(callerWith(password), key)
        const opened = yield* archive.epochKey(epoch, sealed.sealedKey)
        const look = Effect.sync(() => {
          read.push(Redacted.value(opened.key).slice())
        })
        yield* archive.afterwards(Effect.andThen(Deferred.await(end), look))
        return opened
      }))
      yield* TestClock.adjust("6 minutes")
      yield* Deferred.succeed(end, undefined)
      yield* TestClock.adjust("1 seconds")
      expect(read).toEqual([Redacted.value(sealed.key.key)])
      expect(Redacted.value(opened.key)).toEqual(new Uint8Array(32))
    }))
})
