/** The service's sessions on the simulated platform. */
import { DateTime, Effect } from "effect"
import { MessengerEvent, type MessengerUserId, type Profile, type SessionRef } from "../../domain/Messenger.ts"
import { unreadSecurity } from "../../domain/MessengerProfile.ts"
import {
  type Common,
  MessengerSession,
  NoSession,
  PasswordInvalid,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable,
  SignOutLocked,
  UnknownAuthorization
} from "../../ports/MessengerSession.ts"
import * as LiveSessions from "./LiveSessions.ts"
import { applyPatch, unlockedAt } from "./PlatformRules.ts"
import type { Pushes } from "./Pushes.ts"
import { isPassword, listedTo, profileOf, securityOf, withPassword } from "./SimulatedAccounts.ts"
import type { Changes, Tell } from "./SimulatedChanges.ts"
import { Answer, type PlatformOperation } from "./SimulatedPlatform.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

const profileChanged = MessengerEvent.make({ _tag: "ProfileChanged" })

/** The service at one place: a key that is used at another one meanwhile dies. */
export const make = (
  store: SimulatedStore["Service"],
  changes: Changes,
  pushes: Pushes,
  place: string
): MessengerSession["Service"] => {
  const authorized = Effect.fnUntraced(function*(
    sessionRef: SessionRef
  ): Effect.fn.Return<readonly [SimulatedAccount, SimulatedAuthorization], NoSession> {
    const authorization = yield* store.authorizationOf(sessionRef)
    const account = authorization === null ? null : yield* changes.account(authorization.user_id)
    if (authorization === null || account === null) {
      return yield* new NoSession({ reason: (yield* store.ended(sessionRef)) ?? "never" })
    }
    return [account, authorization]
  })

  /** The script is used up at once, so that a call which waits leaves the next one to the next script. */
  const nextAnswer = Effect.fnUntraced(function*(userId: MessengerUserId | null, operation: PlatformOperation) {
    if ((yield* store.nextScript(userId, operation)) === null) return null
    return yield* store.exclusively(Effect.gen(function*() {
      const script = yield* store.nextScript(userId, operation)
      if (script === null) return null
      yield* store.useScript(script)
      return script.answer
    }))
  })

  /** Ends the session whose key is used at another place as well. */
  const duplicated = Effect.fnUntraced(function*(authorization: SimulatedAuthorization) {
    yield* changes.make((_, end) => end([authorization], "key_duplicated"))
    return yield* new NoSession({ reason: "key_duplicated" })
  })

  const answered = Effect.fnUntraced(function*<A, E>(
    sessionRef: SessionRef,
    operation: PlatformOperation,
    work: Effect.Effect<A, E | NoSession>,
    unreadable: Effect.Effect<A, E | NoSession> = work
  ): Effect.fn.Return<A, E | Common> {
    yield* store.outsideTransaction
    const known = yield* store.authorizationOf(sessionRef)
    const userId = known?.user_id ?? null
    const answer = yield* nextAnswer(userId, operation)
    yield* store.addCall({ operation, user_id: userId, at: yield* DateTime.nowAsDate })
    if (known !== null && operation !== "open" && known.place !== place) return yield* duplicated(known)
    if (answer === null) return yield* work
    return yield* Answer.match(answer, {
      Busy: ({ seconds }): Effect.Effect<A, E | Common> =>
        Effect.fail(new PlatformBusy({ retryAfterSeconds: seconds })),
      Unavailable: () => Effect.fail(new PlatformUnavailable()),
      Refused: ({ reason }) => Effect.fail(new PlatformRefused({ reason })),
      Slow: ({ milliseconds }) => Effect.delay(work, milliseconds),
      Silent: () => Effect.never,
      Lost: () => Effect.flatMap(Effect.exit(work), () => Effect.fail(new PlatformUnavailable())),
      SecurityUnreadable: () => unreadable
    })
  })

  const call = <A, E>(...asked: Parameters<typeof answered<A, E>>) => store.reached(answered(...asked))

  const change = <E>(
    sessionRef: SessionRef,
    next: (account: SimulatedAccount) => Effect.Effect<SimulatedAccount, E>,
    event?: MessengerEvent
  ): Effect.Effect<Profile, E | NoSession> =>
    changes.make(Effect.fnUntraced(function*(tell: Tell) {
      const [account, own] = yield* authorized(sessionRef)
      const changed = yield* next(account)
      yield* store.saveAccount(changed)
      if (event !== undefined) yield* tell(account.user_id, event, own)
      return profileOf(changed)
    }))

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

  const connection = (sessionRef: SessionRef): LiveSessions.Connection => ({
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
        changes.make((tell) =>
          Effect.gen(function*() {
            const [, own] = yield* authorized(sessionRef)
            const found = yield* find(own, id)
            if (!found.unconfirmed) return
            yield* store.saveAuthorization({ ...found, unconfirmed: false })
            yield* tell(own.user_id, MessengerEvent.make({ _tag: "AuthorizationResolved", id: found.id }), own)
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
    open: (sessionRef) => Effect.andThen(store.outsideTransaction, sessions.open(sessionRef))
  })
}
