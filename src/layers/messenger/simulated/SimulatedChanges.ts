/** Changes of the simulated platform: one at a time, with the events that its sessions get. */
import { DateTime, Effect, Exit } from "effect"
import { MessengerEvent, type MessengerUserId, type SessionEnd } from "../../../domain/messenger/Messenger.ts"
import { UsernameRefused } from "../../../ports/messenger/MessengerSession.ts"
import { isUsername } from "./PlatformRules.ts"
import { asOf } from "./SimulatedAccounts.ts"
import type { Batch, Pushes } from "./SimulatedPushes.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

/** Notifies the service's sessions of the account, except the one that made the change. */
export type Notify = (
  userId: MessengerUserId,
  event: MessengerEvent,
  actor?: SimulatedAuthorization
) => Effect.Effect<void>

export interface SimulatedChanges {
  /** Runs the change while no other one runs; its notifications are sent once it is stored. */
  make<A, E, R>(change: (notify: Notify, end: End) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /** The account as it is now. */
  account(userId: MessengerUserId): Effect.Effect<SimulatedAccount | null>
  /** The account with the username, unless the platform refuses it. */
  withUsername(account: SimulatedAccount, username: string | null): Effect.Effect<SimulatedAccount, UsernameRefused>
}

/** Ends authorizations of an account, and notifies them why they ended and the others that they are gone. */
export type End = (
  gone: ReadonlyArray<SimulatedAuthorization>,
  reason: SessionEnd,
  actor?: SimulatedAuthorization
) => Effect.Effect<void>

export const make = (store: SimulatedStore["Service"], pushes: Pushes): SimulatedChanges => {
  const notifier = (batch: Batch): Notify =>
    Effect.fnUntraced(function*(userId, event, actor) {
      for (const { id, session_ref } of yield* store.authorizations(userId)) {
        if (session_ref !== null && id !== actor?.id) batch.add(userId, session_ref, event)
      }
    })

  const ender = (batch: Batch, notify: Notify): End =>
    Effect.fnUntraced(function*(gone, reason, actor) {
      yield* store.endAuthorizations(gone, reason)
      for (const { id, session_ref, user_id } of gone) {
        if (session_ref !== null) batch.add(user_id, session_ref, MessengerEvent.make({ _tag: "Lost", reason }))
        yield* notify(user_id, MessengerEvent.make({ _tag: "AuthorizationResolved", id }), actor)
      }
    })

  return {
    make: (change) =>
      Effect.suspend(() => {
        let batch: Batch | undefined
        return store.exclusively(Effect.suspend(() => {
          batch = pushes.begin()
          const notify = notifier(batch)
          return change(notify, ender(batch, notify))
        })).pipe(Effect.onExit((exit) => Effect.sync(() => batch?.finish(Exit.isSuccess(exit)))))
      }),
    account: Effect.fnUntraced(function*(userId) {
      const account = yield* store.account(userId)
      return account === null ? null : asOf(account, yield* DateTime.nowAsDate)
    }),
    withUsername: Effect.fnUntraced(function*(account, username) {
      if (username === account.username) return account
      if (username !== null) {
        if (!isUsername(username)) return yield* new UsernameRefused({ reason: "malformed" })
        const holder = yield* store.usernameHolder(username)
        if (holder !== null && holder !== account.user_id) return yield* new UsernameRefused({ reason: "taken" })
        if (holder === null && (yield* store.isForSale(username))) {
          return yield* new UsernameRefused({ reason: "purchasable" })
        }
      }
      return { ...account, username }
    })
  }
}
