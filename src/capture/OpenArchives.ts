/** The archives that this process writes: one writer for each account, while there is something to write. */
import { Clock, Context, Data, Duration, Effect, Exit, Layer, Ref, Scope, Semaphore } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import { messagesPerPage } from "../domain/archive/PageRules.ts"
import type { FrameTooLarge } from "../domain/archive/Unreadable.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys, type PublicKeyUnproven } from "../ports/archive/ArchiveKeys.ts"
import {
  type AccountArchive,
  ArchiveWriter,
  type NoSuchAccount,
  type SealingKey,
  type WriterReplaced
} from "../ports/archive/ArchiveWriter.ts"
import type { ArchivedAccount } from "../ports/archive/Epochs.ts"
import { Db } from "../ports/Db.ts"
import { CaptureStopped } from "./CaptureStop.ts"

/**
 * A writer that nothing uses for so long gives its account up. One that is taken again has another epoch, whose titles
 * and last messages are sealed anew, so that it is kept from one night to the next.
 */
const idleTime = Duration.hours(30)

/** One that has not sealed a page's worth since is tended so often: its days end, and another writer may have the account. */
const restTime = Duration.minutes(10)

interface Open {
  readonly archive: AccountArchive
  readonly scope: Scope.Closeable
  readonly key: SealingKey
  usedAt: number
  tendedAt: number
  /** The frames that it had sealed by then. */
  tendedFrames: number
}

interface Place {
  /** Calls with their steps follow each other: what is pushed waits until the page that is asked for is stored. */
  readonly calls: Semaphore.Semaphore
  /** Uses of the writer follow each other. */
  readonly turn: Semaphore.Semaphore
  open: Open | null
  waiting: number
}

/** The account's name in maps. */
export const keyOf = ({ accountId, organizationId }: ArchivedAccount): string => `${organizationId}/${accountId}`

/** The writer seals to a key that is not the organization's any more. */
export class KeyReplaced extends Data.TaggedError("KeyReplaced")<{}> {}

export type WritingFailure =
  | CaptureStopped
  | FrameTooLarge
  | NoSuchAccount
  | PublicKeyUnproven
  | ServiceUnavailable
  | WriterReplaced

export class OpenArchives extends Context.Service<OpenArchives, {
  /**
   * Runs a call to the messenger with the steps that store its answer: no other answer or push of the account is stored
   * between them. A deletion that overtook a page would be lost otherwise.
   */
  exclusively<A, E, R>(account: ArchivedAccount, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /**
   * Runs a step with the account's writer, one after the other; one that fails because the key was replaced is run again
   * with another writer. `isCurrent` tells, inside the step's transaction, that the key was not replaced.
   */
  step<A, E, R>(
    account: ArchivedAccount,
    work: (
      archive: AccountArchive,
      isCurrent: Effect.Effect<boolean, PublicKeyUnproven>
    ) => Effect.Effect<A, E | KeyReplaced, R>
  ): Effect.Effect<A, E | WritingFailure, R>
  /** The account's writer, for what takes longer than a step: another writer ends it. */
  writer(account: ArchivedAccount): Effect.Effect<AccountArchive, WritingFailure>
  /** Closes the account's writer, so that what is left of the day is in pages. */
  close(account: ArchivedAccount): Effect.Effect<void>
  /** Closes full and ended days of the writers in use, and gives up those that are not. */
  readonly tend: Effect.Effect<void>
}>()("org-security-console/capture/OpenArchives") {
  static readonly layer = Layer.effect(
    OpenArchives,
    Effect.gen(function*() {
      const db = yield* Db
      const keys = yield* ArchiveKeys
      const writers = yield* ArchiveWriter
      const crypto = yield* ArchiveCrypto
      const around = yield* Effect.scope
      const writer = hex(yield* crypto.random(16))
      const places = yield* Ref.make(new Map<string, Place>())

      const placeOf = (account: ArchivedAccount) =>
        Ref.modify(places, (all) => {
          const key = keyOf(account)
          const known = all.get(key) ?? {
            calls: Semaphore.makeUnsafe(1),
            turn: Semaphore.makeUnsafe(1),
            open: null,
            waiting: 0
          }
          all.set(key, known)
          return [known, all] as const
        })

      const drop = (place: Place) =>
        Effect.suspend(() => {
          const { open } = place
          place.open = null
          return open === null ? Effect.void : Scope.close(open.scope, Exit.void)
        })

      const isCurrent = ({ organizationId }: ArchivedAccount, { key }: Open) =>
        Effect.map(keys.sealing(organizationId), (found) => found?.keyId === key.keyId)

      const current = Effect.fnUntraced(function*(account: ArchivedAccount, place: Place) {
        const at = yield* Clock.currentTimeMillis
        if (place.open !== null) {
          yield* place.open.archive.renew(place.open.key)
          place.open.usedAt = at
          return place.open
        }
        const key = yield* db.read(account.organizationId, keys.sealing(account.organizationId))
        if (key === null) return yield* new CaptureStopped({ reason: "no_key" })
        const scope = yield* Scope.fork(around)
        const archive = yield* Scope.provide(writers.own(account, key, writer), scope).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        const open: Open = { archive, scope, key, usedAt: at, tendedAt: at, tendedFrames: 0 }
        place.open = open
        return open
      })

      const forget = (key: string, place: Place) =>
        Ref.update(places, (all) => {
          if (place.open === null && place.waiting === 0) all.delete(key)
          return all
        })

      /** The account's place, which stays while it is used. */
      const using = <A, E, R>(account: ArchivedAccount, work: (place: Place) => Effect.Effect<A, E, R>) =>
        Effect.flatMap(placeOf(account), (place) =>
          Effect.acquireUseRelease(
            Effect.sync(() => void (place.waiting += 1)),
            () => work(place),
            () => Effect.sync(() => void (place.waiting -= 1))
          ))

      return OpenArchives.of({
        exclusively: (account, work) => using(account, ({ calls }) => calls.withPermit(work)),

        step: <A, E, R>(
          account: ArchivedAccount,
          work: (
            archive: AccountArchive,
            isCurrent: Effect.Effect<boolean, PublicKeyUnproven>
          ) => Effect.Effect<A, E | KeyReplaced, R>
        ) =>
          using(account, (place) => {
            const attempt: Effect.Effect<A, E | WritingFailure, R> = current(account, place).pipe(
              Effect.flatMap((open) => work(open.archive, isCurrent(account, open))),
              Effect.tapCause(() => drop(place)),
              Effect.catchIf((failure) => failure instanceof KeyReplaced, () => Effect.suspend(() => attempt))
            )
            return place.turn.withPermit(attempt)
          }),

        writer: (account) =>
          using(account, (place) =>
            place.turn.withPermit(Effect.gen(function*() {
              const { open } = place
              const isKept = open === null || (yield* db.read(account.organizationId, isCurrent(account, open)))
              if (!isKept) yield* drop(place)
              return (yield* current(account, place)).archive
            }))),

        close: (account) => Effect.flatMap(placeOf(account), (place) => place.turn.withPermit(drop(place))),

        tend: Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          for (const [key, place] of yield* Ref.get(places)) {
            yield* place.turn.withPermit(Effect.suspend(() => {
              const { open } = place
              if (open === null) return Effect.void
              if (now - open.usedAt > Duration.toMillis(idleTime)) return drop(place)
              const frames = open.archive.frames()
              const hasNoPage = frames - open.tendedFrames < messagesPerPage
              if (hasNoPage && now - open.tendedAt < Duration.toMillis(restTime)) return Effect.void
              open.tendedAt = now
              open.tendedFrames = frames
              return Effect.catch(open.archive.close("due"), () => drop(place))
            }))
            yield* forget(key, place)
          }
        })
      })
    })
  )
}
