/** Changes of the simulated platform: one at a time, with what its sessions hear of them. */
import { DateTime, Effect, Exit } from "effect"
import { MessengerEvent, type MessengerUserId, type SessionEnd } from "../../domain/Messenger.ts"
import { UsernameRefused } from "../../ports/MessengerSession.ts"
import { isUsername } from "./PlatformRules.ts"
import type { Batch, Pushes } from "./Pushes.ts"
import { settled } from "./SimulatedAccounts.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

/** Tells the sessions of the service in the account, but for the one that did it. */
export type Tell = (
  userId: MessengerUserId,
  event: MessengerEvent,
  actor?: SimulatedAuthorization
) => Effect.Effect<void>

export interface SimulatedChanges {
  /** Runs the change while no other one runs; what it tells is told once it is kept. */
  make<A, E, R>(change: (tell: Tell, end: End) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /** The account as it is now. */
  account(userId: MessengerUserId): Effect.Effect<SimulatedAccount | null>
  /** The account with the username, unless the platform refuses it. */
  withUsername(account: SimulatedAccount, username: string | null): Effect.Effect<SimulatedAccount, UsernameRefused>
}

/** Ends authorizations of an account, and tells the ended sessions why and the others that they are gone. */
export type End = (
  gone: ReadonlyArray<SimulatedAuthorization>,
  reason: SessionEnd,
  actor?: SimulatedAuthorization
) => Effect.Effect<void>

export const make = (store: SimulatedStore["Service"], pushes: Pushes): SimulatedChanges => {
  const teller = (batch: Batch): Tell =>
    Effect.fnUntraced(function*(userId, event, actor) {
      for (const { id, session_ref } of yield* store.authorizations(userId)) {
        if (session_ref !== null && id !== actor?.id) batch.add(userId, session_ref, event)
      }
    })

  const ender = (batch: Batch, tell: Tell): End =>
    Effect.fnUntraced(function*(gone, reason, actor) {
      yield* store.endAuthorizations(gone, reason)
      for (const { id, session_ref, user_id } of gone) {
        if (session_ref !== null) batch.add(user_id, session_ref, MessengerEvent.make({ _tag: "Lost", reason }))
        yield* tell(user_id, MessengerEvent.make({ _tag: "AuthorizationResolved", id }), actor)
      }
    })

  return {
    make: (change) =>
      Effect.suspend(() => {
        let batch: Batch | undefined
        return store.exclusively(Effect.suspend(() => {
          batch = pushes.begin()
          const tell = teller(batch)
          return change(tell, ender(batch, tell))
        })).pipe(Effect.onExit((exit) => Effect.sync(() => batch?.settle(Exit.isSuccess(exit)))))
      }),
    account: Effect.fnUntraced(function*(userId) {
      const account = yield* store.account(userId)
      return account === null ? null : settled(account, yield* DateTime.nowAsDate)
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
