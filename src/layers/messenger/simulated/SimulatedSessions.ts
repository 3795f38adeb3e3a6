/** The service's sessions on the simulated platform. */
import { DateTime, Effect } from "effect"
import { unreadSecurity } from "../../../domain/accounts/MessengerProfile.ts"
import { MessengerEvent, type Profile, type SessionRef } from "../../../domain/messenger/Messenger.ts"
import {
  MessengerSession,
  NoSession,
  PasswordInvalid,
  PlatformUnavailable,
  SignOutLocked,
  UnknownAuthorization
} from "../../../ports/messenger/MessengerSession.ts"
import * as LiveSessions from "../SessionConnections.ts"
import { applyPatch, unlockedAt } from "./PlatformRules.ts"
import { isPassword, listedTo, profileOf, securityOf, withPassword } from "./SimulatedAccounts.ts"
import * as SimulatedCalls from "./SimulatedCalls.ts"
import type { Notify, SimulatedChanges } from "./SimulatedChanges.ts"
import * as SimulatedLogins from "./SimulatedLogins.ts"
import type { Pushes } from "./SimulatedPushes.ts"
import * as SimulatedSecurity from "./SimulatedSecurity.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

const profileChanged = MessengerEvent.make({ _tag: "ProfileChanged" })

/** The service at one place: a key that is used at another one meanwhile dies. */
export const make = (
  store: SimulatedStore["Service"],
  changes: SimulatedChanges,
  pushes: Pushes,
  place: string
): MessengerSession["Service"] => {
  const authorized = Effect.fnUntraced(function*(
    sessionRef: SessionRef
  ): Effect.fn.Return<readonly [SimulatedAccount, SimulatedAuthorization], NoSession> {
    const authorization = yield* store.authorizationOf(sessionRef)
    const account = authorization === null ? null : yield* changes.account(authorization.user_id)
    if (authorization === null || authorization.password_pending || account === null) {
      return yield* new NoSession({ reason: (yield* store.ended(sessionRef)) ?? "never" })
    }
    return [account, authorization]
  })

  const calls = SimulatedCalls.make(store, changes, place)
  const logins = SimulatedLogins.make(store, changes, calls)
  const call = calls.session

  const change = <E>(
    sessionRef: SessionRef,
    next: (account: SimulatedAccount) => Effect.Effect<SimulatedAccount, E>,
    event?: MessengerEvent
  ): Effect.Effect<Profile, E | NoSession> =>
    changes.make(Effect.fnUntraced(function*(notify: Notify) {
      const [account, own] = yield* authorized(sessionRef)
      const changed = yield* next(account)
      yield* store.saveAccount(changed)
      if (event !== undefined) yield* notify(account.user_id, event, own)
      return profileOf(changed)
    }))

  const security = SimulatedSecurity.make(
    calls,
    (ref, next) =>
      changes.make(() =>
        Effect.flatMap(authorized(ref), ([account, own]) => Effect.flatMap(next(account, own), store.saveAccount))
      )
  )

  /** The authorization that the asking session sees under the id. */
  const find = Effect.fnUntraced(function*(own: SimulatedAuthorization, id: string) {
    const all = yield* store.authorizations(own.user_id)
    const found = all.find((one) => (one.id === own.id ? one.shown_as : one.id) === id)
    return found ?? (yield* new UnknownAuthorization())
  })

  const open = (sessionRef: SessionRef) =>
    Effect.gen(function*() {
      const [, own] = yield* authorized(sessionRef)
      if (own.place === place) return
      yield* store.exclusively(
        Effect.flatMap(authorized(sessionRef), ([, own]) => store.saveAuthorization({ ...own, place }))
      )
    })

  const connection = (sessionRef: SessionRef): LiveSessions.PlatformConnection => ({
    profile: call(sessionRef, "profile", Effect.map(authorized(sessionRef), ([account]) => profileOf(account))),
    security: Effect.fn("LiveSession.security")((held) =>
      call(
        sessionRef,
        "security",
        Effect.gen(function*() {
          const [account, own] = yield* authorized(sessionRef)
          return securityOf(account, own, held, yield* DateTime.nowAsDate)
        }),
        Effect.gen(function*() {
          const [, own] = yield* authorized(sessionRef)
          return unreadSecurity(held, unlockedAt(own.signed_in_at, yield* DateTime.nowAsDate))
        })
      )
    ),
    updateProfile: Effect.fn("LiveSession.updateProfile")((patch) =>
      call(
        sessionRef,
        "update_profile",
        change(sessionRef, (account) => Effect.fromResult(applyPatch(account, patch)), profileChanged)
      )
    ),
    setUsername: Effect.fn("LiveSession.setUsername")((username) =>
      call(
        sessionRef,
        "set_username",
        change(sessionRef, (account) => changes.withUsername(account, username), profileChanged)
      )
    ),
    authorizations: call(
      sessionRef,
      "authorizations",
      Effect.gen(function*() {
        const [account, own] = yield* authorized(sessionRef)
        if (account.unreachable) return yield* new PlatformUnavailable()
        const now = yield* DateTime.nowAsDate
        const all = yield* store.authorizations(account.user_id)
        return all.map((authorization) => listedTo(own, account, authorization, now))
      })
    ),
    signOut: Effect.fn("LiveSession.signOut")((id) =>
      call(
        sessionRef,
        "sign_out",
        changes.make((_, end) =>
          Effect.gen(function*() {
            const [account, own] = yield* authorized(sessionRef)
            const found = yield* find(own, id)
            if (found.id === own.id) return yield* end([own], "logged_out", own)
            const until = unlockedAt(own.signed_in_at, yield* DateTime.nowAsDate)
            if (until !== null || account.frozen) return yield* new SignOutLocked({ until })
            yield* end([found], "revoked", own)
          })
        )
      )
    ),
    confirm: Effect.fn("LiveSession.confirm")((id) =>
      call(
        sessionRef,
        "confirm",
        changes.make((notify) =>
          Effect.gen(function*() {
            const [, own] = yield* authorized(sessionRef)
            const found = yield* find(own, id)
            if (!found.unconfirmed) return
            yield* store.saveAuthorization({ ...found, unconfirmed: false })
            yield* notify(own.user_id, MessengerEvent.make({ _tag: "AuthorizationResolved", id: found.id }), own)
          })
        )
      )
    ),
    checkPassword: Effect.fn("LiveSession.checkPassword")((candidate) =>
      call(
        sessionRef,
        "check_password",
        Effect.map(authorized(sessionRef), ([account]) => isPassword(account, candidate))
      )
    ),
    setPassword: Effect.fn("LiveSession.setPassword")(({ current, next }) =>
      call(
        sessionRef,
        "set_password",
        Effect.asVoid(change(sessionRef, (account) =>
          account.two_fa_digest !== null && (current === null || !isPassword(account, current))
            ? Effect.fail(new PasswordInvalid())
            : Effect.succeed(withPassword(account, next))))
      )
    ),
    removePassword: Effect.fn("LiveSession.removePassword")((current) =>
      call(
        sessionRef,
        "remove_password",
        Effect.asVoid(change(sessionRef, (account) =>
          account.two_fa_digest === null
            ? Effect.succeed(account)
            : isPassword(account, current)
            ? Effect.succeed(withPassword(account, null))
            : Effect.fail(new PasswordInvalid())))
      )
    ),
    ...security(sessionRef),
    pair: Effect.fn("LiveSession.pair")((other, password) =>
      call(sessionRef, "pair", logins.pair(authorized(sessionRef), other, password))
    ),
    logOut: call(
      sessionRef,
      "log_out",
      changes.make((_, end) => Effect.flatMap(authorized(sessionRef), ([, own]) => end([own], "logged_out", own)))
    )
  })

  const sessions = LiveSessions.make((sessionRef, push) =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => pushes.listen(sessionRef, push)),
        (stop) => Effect.sync(stop)
      )
      yield* call(sessionRef, "open", open(sessionRef))
      return connection(sessionRef)
    })
  )
  return MessengerSession.of({
    ...logins.verbs,
    open: (sessionRef, slot) => Effect.andThen(store.outsideTransaction, sessions.open(sessionRef, slot)),
    forget: () => Effect.void
  })
}
