/**
 * The opened archive keys of a process: few, for minutes, and zeroed when they end.
 *
 * An entry belongs to one credential, to one password or token, and to the public key and the wrap that were current when
 * it was opened, also where it holds the seed of a replaced key: after a change of the password, in whatever process, no
 * request finds it any more, nor after another public key was put in the place of the organization's.
 */
import { Deferred, Effect, Layer, Redacted, Scope, Stream } from "effect"
import * as crypto from "node:crypto"
import { eraseEpochKey, openEpoch } from "../../archive/EpochKeys.ts"
import { eraseSeed, type OpenedSeed, openFirst } from "../../archive/KeyWraps.ts"
import { openStored, storedUnlockRef, storeSeed } from "../../archive/StoredUnlocks.ts"
import { journalWrongPassword } from "../../archive/WrongPasswords.ts"
import { sameBytes } from "../../domain/archive/Bytes.ts"
import type { EpochKey } from "../../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../../domain/archive/Unreadable.ts"
import {
  ArchivePasswordInvalid,
  ArchivePasswordRequired,
  BridgeRequired,
  ServiceUnavailable
} from "../../domain/Failure.ts"
import {
  archiveEpochsKept,
  archiveSeedKept,
  archiveSeedsKept,
  archiveUnlocksAtOnce,
  archiveUnlocksWaiting,
  maxPasswordLength
} from "../../domain/Limits.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { ArchiveAttempts } from "../../ports/archive/ArchiveAttempts.ts"
import type { ArchiveCrypto, PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"
import { type ArchiveKey, ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { ArchiveUnlock, type Unlocked, type UnlockFailure } from "../../ports/archive/ArchiveUnlock.ts"
import type { ArchivedAccount } from "../../ports/archive/Epochs.ts"
import { Db } from "../../ports/Db.ts"
import type { Journal } from "../../ports/journal/Journal.ts"
import { secretKey } from "../crypto/Gcm.ts"

/**
 * Seconds that a full queue takes of passwords that open the current key. A former or wrong one is derived for up to four
 * keys, so that a queue of those takes as much longer.
 */
const retryAfter = 2

interface KeptEpoch {
  readonly sealedKey: Uint8Array
  readonly key: EpochKey
}

const epochNameOf = ({ accountId }: ArchivedAccount, epochId: bigint): string => `${accountId} ${epochId}`

/** An opened key pair. It is erased once it is dropped and nobody uses it. */
interface Entry extends OpenedSeed {
  readonly credential: Caller["Service"]["credential"]
  readonly epochs: Map<string, KeptEpoch>
  users: number
  dropped: boolean
}

export const layer = Layer.effect(
  ArchiveUnlock,
  Effect.gen(function*() {
    const attempts = yield* ArchiveAttempts
    const keys = yield* ArchiveKeys
    const db = yield* Db
    const primitives = yield* Effect.context<ArchiveCrypto | ArchiveKeys | PasswordDerivation | Db | Journal>()
    const lifetime = yield* Effect.scope

    const cacheKey = secretKey(crypto.randomBytes(32))
    const entries = new Map<string, Entry>()
    const opening = new Map<string, Deferred.Deferred<Entry, UnlockFailure>>()
    let deriving = 0
    let epochsKept = 0

    const nameOf = (
      { credential }: Caller["Service"],
      key: ArchiveKey,
      way: "password" | "stored",
      secret: Redacted.Redacted
    ): string =>
      crypto.createHmac("sha256", cacheKey).update(JSON.stringify([
        key.organizationId,
        key.keyId,
        key.wrapId,
        Buffer.from(key.publicKey).toString("base64"),
        credential.kind,
        credential.id,
        way,
        Redacted.value(secret)
      ])).digest("base64url")

    const eraseUnused = (entry: Entry) =>
      Effect.suspend(() => {
        if (!entry.dropped || entry.users > 0) return Effect.void
        epochsKept -= entry.epochs.size
        const epochs = [...entry.epochs.values()]
        entry.epochs.clear()
        const erased = Effect.forEach(epochs, ({ key }) => eraseEpochKey(key), { discard: true })
        return Effect.andThen(erased, eraseSeed(entry.seed))
      })

    const drop = (name: string, entry: Entry) =>
      Effect.suspend(() => {
        if (entries.get(name) !== entry) return Effect.void
        entries.delete(name)
        entry.dropped = true
        return eraseUnused(entry)
      })

    const keep = Effect.fnUntraced(function*(name: string, { credential }: Caller["Service"], opened: OpenedSeed) {
      const entry: Entry = { ...opened, credential, epochs: new Map(), users: 0, dropped: false }
      entries.set(name, entry)
      const [oldest] = entries
      if (entries.size > archiveSeedsKept && oldest !== undefined) yield* drop(...oldest)
      yield* Effect.forkIn(Effect.delay(drop(name, entry), archiveSeedKept), lifetime)
      return entry
    })

    /** Once no more passwords may be tried with a credential, an entry would still tell the right one. */
    const dropAllOf = ({ credential: { id, kind } }: Caller["Service"]) =>
      Effect.forEach(
        [...entries].filter(([, { credential }]) => credential.id === id && credential.kind === kind),
        ([name, entry]) => drop(name, entry),
        { discard: true }
      )

    /** Refuses a derivation immediately where too many wait for their turn. */
    const inTurn = <A, E, R>(derive: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> => {
        if (deriving >= archiveUnlocksAtOnce + archiveUnlocksWaiting) {
          return Effect.fail(new ServiceUnavailable({ retry_after: retryAfter }))
        }
        deriving += 1
        return Effect.ensuring(
          derive,
          Effect.sync(() => {
            deriving -= 1
          })
        )
      })

    /** The key pairs with their wraps, unless the current one was changed since the request read its facts. */
    const wrappedAs = ({ organizationId, publicKey, wrapId }: ArchiveKey) =>
      Effect.flatMap(db.read(organizationId, keys.wrapped(organizationId)), (wrapped) => {
        const current = wrapped[0]?.key
        return current !== undefined && current.wrapId === wrapId && sameBytes(current.publicKey, publicKey)
          ? Effect.succeed(wrapped)
          // The password may be right, and the next request knows.
          : Effect.fail(new ServiceUnavailable({ retry_after: 1 }))
      })

    /** The seed that the password opens, that of the current key pair or of one before; every attempt is counted first. */
    const unwrap = Effect.fnUntraced(function*(
      caller: Caller["Service"],
      key: ArchiveKey,
      password: Redacted.Redacted
    ) {
      const wrapped = yield* wrappedAs(key)
      yield* Effect.tapErrorTag(attempts.count(caller), "too_many_attempts", () => dropAllOf(caller))
      const derived = inTurn(
        openFirst(wrapped, password).pipe(
          Effect.provide(primitives),
          // A wrap that was changed opens for nobody.
          Effect.catchTag("ArchiveUnreadable", Effect.die)
        )
      )
      return yield* derived.pipe(
        Effect.tapErrorTag("service_unavailable", () => Effect.ignore(attempts.takeBack(caller))),
        Effect.catchTag(
          "WrongArchivePassword",
          () => Effect.andThen(Effect.provide(journalWrongPassword(caller), primitives), new ArchivePasswordInvalid({}))
        ),
        // A former password lifts no limit of guessing the current one.
        Effect.tap((opened) => opened.key.keyId === key.keyId ? attempts.opened(caller) : attempts.takeBack(caller))
      )
    })

    /**
     * Opens in a fiber of its own, which those share that ask with the same secret at the same time: none of them counts
     * twice, and the end of one does not end it for the others.
     */
    const open = (name: string, caller: Caller["Service"], find: Effect.Effect<OpenedSeed, UnlockFailure>) =>
      Effect.suspend((): Effect.Effect<Entry, UnlockFailure> => {
        const shared = opening.get(name)
        if (shared !== undefined) return Deferred.await(shared)
        const result = Deferred.makeUnsafe<Entry, UnlockFailure>()
        opening.set(name, result)
        const work = Effect.flatMap(find, (opened) => keep(name, caller, opened)).pipe(
          Effect.onExit((exit) => {
            opening.delete(name)
            return Deferred.done(result, exit)
          })
        )
        return Effect.andThen(Effect.forkIn(work, lifetime, { startImmediately: true }), Deferred.await(result))
      })

    /** The seed by the password of the request, or else by what its token keeps. */
    const seedFor = (caller: Caller["Service"], key: ArchiveKey) => {
      const { extras, limit, storedUnlock } = caller
      const password = extras?.archivePassword
      if (password !== undefined) {
        // Nothing so long was ever a password: it is not worth a derivation.
        const text = Redacted.value(password)
        return text === "" || [...text].length > maxPasswordLength
          ? Effect.fail(new ArchivePasswordInvalid({}))
          : Effect.succeed({ name: nameOf(caller, key, "password", password), find: unwrap(caller, key, password) })
      }
      if (storedUnlock === undefined || limit === null) return Effect.fail(new ArchivePasswordRequired({}))
      const { sealed, token } = storedUnlock
      const find = Effect.flatMap(
        wrappedAs(key),
        (wrapped) => Effect.provide(openStored(wrapped, limit.connectionId, token, sealed), primitives)
      ).pipe(Effect.catchTag("ArchiveUnreadable", () => Effect.fail(new ArchivePasswordRequired({}))))
      return Effect.succeed({ name: nameOf(caller, key, "stored", token), find })
    }

    const leave = (entry: Entry) =>
      Effect.suspend(() => {
        entry.users -= 1
        return eraseUnused(entry)
      })

    const used = (find: Effect.Effect<Entry, UnlockFailure>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(find), (entry) => {
          // So many were opened meanwhile that it had to go.
          if (entry.dropped) return Effect.fail(new ServiceUnavailable({ retry_after: 1 }))
          entry.users += 1
          return Effect.as(Effect.addFinalizer(() => leave(entry)), entry)
        })
      )

    const epochOf = (entry: Entry, scope: Scope.Scope): Unlocked["epochKey"] =>
      Effect.fnUntraced(function*(ref, sealedKey) {
        if (ref.organizationId !== entry.key.organizationId || ref.keyId !== entry.key.keyId) {
          return yield* new ArchiveUnreadable({ part: "epoch" })
        }
        const name = epochNameOf(ref, ref.epochId)
        const find = () => {
          const kept = entry.epochs.get(name)
          // Another sealed form of the same epoch is another key.
          return kept !== undefined && sameBytes(kept.sealedKey, sealedKey) ? kept.key : undefined
        }
        const known = find()
        if (known !== undefined) return known
        const opened = yield* Effect.provide(openEpoch(ref, sealedKey, entry.seed), primitives)
        const meanwhile = find()
        if (meanwhile !== undefined) return yield* Effect.as(eraseEpochKey(opened), meanwhile)
        if (epochsKept < archiveEpochsKept && !entry.epochs.has(name)) {
          epochsKept += 1
          entry.epochs.set(name, { sealedKey, key: opened })
        } else {
          yield* Scope.addFinalizer(scope, eraseEpochKey(opened))
        }
        return opened
      })

    /** Keeps the entry in use until the work ends, which begins in the process's own scope. */
    const workWith = (entry: Entry): Unlocked["afterwards"] => (work) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          entry.users += 1
          return Effect.asVoid(Effect.forkIn(Effect.ensuring(restore(work), leave(entry)), lifetime))
        })
      )

    /** Holds the entry in use from the first byte that is asked for until the last. */
    const whileRead = (entry: Entry): Unlocked["during"] => (gone, bytes) =>
      Stream.scoped(Stream.unwrap(Effect.uninterruptible(Effect.gen(function*() {
        if (entry.dropped && entry.users === 0) return Stream.fail(gone)
        entry.users += 1
        yield* Effect.addFinalizer(() => leave(entry))
        return bytes({ epochKey: epochOf(entry, yield* Effect.scope) })
      }))))

    yield* Effect.addFinalizer(() =>
      Effect.forEach([...entries], ([name, entry]) => drop(name, entry), { discard: true })
    )

    return ArchiveUnlock.of({
      open: Effect.fnUntraced(function*(caller, key) {
        if (caller.limit?.local === true) return yield* new BridgeRequired({})
        const { find, name } = yield* seedFor(caller, key)
        const scope = yield* Effect.scope
        const entry = yield* used(Effect.suspend(() => {
          const known = entries.get(name)
          return known === undefined ? open(name, caller, find) : Effect.succeed(known)
        }))
        return {
          key,
          isReplaced: entry.key.keyId !== key.keyId,
          epochKey: epochOf(entry, scope),
          keptEpoch: (account, epochId) =>
            account.organizationId === key.organizationId
              ? entry.epochs.get(epochNameOf(account, epochId))?.key
              : undefined,
          storedUnder: (secret, connectionId) =>
            Effect.provide(storeSeed(storedUnlockRef(entry.key, connectionId), secret, entry.seed), primitives),
          afterwards: workWith(entry),
          during: whileRead(entry)
        }
      })
    })
  })
)
