/** The service's logins to accounts of the simulated platform. */
import { DateTime, Effect, Random, Redacted } from "effect"
import { isPossible } from "../../../domain/logins/PhoneNumber.ts"
import {
  AuthorizationId,
  MessengerEvent,
  type MessengerUserId,
  serviceDevice,
  SessionRef
} from "../../../domain/messenger/Messenger.ts"
import { after } from "../../../domain/Moments.ts"
import {
  type Connected,
  LoginRefused,
  type LoginVerbs,
  type Paired,
  PairingRefused,
  PasswordNeeded,
  type PasswordStep,
  type SealedLoginState
} from "../../../ports/messenger/MessengerLogin.ts"
import { type NoSession, PasswordInvalid, PlatformBusy } from "../../../ports/messenger/MessengerSession.ts"
import { codeLength, codeLifetime, codeWait, entriesAtMost } from "./PlatformRules.ts"
import { isPassword, platformId } from "./SimulatedAccounts.ts"
import type { Calls } from "./SimulatedCalls.ts"
import type { Notify, SimulatedChanges } from "./SimulatedChanges.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedLogin, SimulatedStore } from "./SimulatedStore.ts"

type Channel = SimulatedLogin["channel"]

/** An account and the calling session of the service. */
export type Authorized = Effect.Effect<readonly [SimulatedAccount, SimulatedAuthorization], NoSession>

export interface SimulatedLogins {
  readonly verbs: LoginVerbs
  /** Signs another session in, approved by the calling one. */
  pair(
    asking: Authorized,
    sessionRef: SessionRef,
    password: Redacted.Redacted | null
  ): Effect.Effect<Paired, NoSession | PairingRefused | PasswordInvalid | PasswordNeeded>
}

const stateOf = (sessionRef: SessionRef): SealedLoginState => Redacted.make(sessionRef)
const refOf = (state: SealedLoginState): SessionRef => SessionRef.make(Redacted.value(state))

const refused = (reason: LoginRefused["reason"]) => Effect.fail(new LoginRefused({ reason }))

const connected = (authorization: SimulatedAuthorization): Connected => ({
  _tag: "Connected",
  userId: authorization.user_id,
  createdAt: authorization.signed_in_at
})

export const make = (store: SimulatedStore["Service"], changes: SimulatedChanges, calls: Calls): SimulatedLogins => {
  /** The ways that codes are sent to the account, in order. */
  const channels = Effect.fnUntraced(function*(account: SimulatedAccount) {
    const devices = (yield* store.authorizations(account.user_id)).filter(({ password_pending }) => !password_pending)
    const first: ReadonlyArray<Channel> = [
      ...(account.login_email_pattern === null ? [] : ["email" as const]),
      ...(devices.length === 0 ? [] : ["app" as const])
    ]
    return [...first, "sms", "call"] as const
  })

  const newCode = (channel: Channel) => {
    const length = codeLength(channel)
    return Effect.map(
      Random.nextIntBetween(0, 10 ** length),
      (number) => String(number).padStart(length, "0")
    )
  }

  const send = Effect.fnUntraced(function*(
    notify: Notify,
    login: Pick<SimulatedLogin, "codes_left" | "passwords_left" | "phone" | "session_ref" | "user_id">,
    channel: Channel
  ) {
    const now = yield* DateTime.nowAsDate
    const code = yield* newCode(channel)
    const sent: SimulatedLogin = {
      ...login,
      channel,
      code,
      sent_at: now,
      resend_at: after(now, codeWait),
      expires_at: after(now, codeLifetime)
    }
    yield* store.saveLogin(sent)
    yield* notify(login.user_id, MessengerEvent.make({ _tag: "CodeSent" }))
    return {
      state: stateOf(login.session_ref),
      channel,
      codeLength: code.length,
      resendAt: sent.resend_at
    }
  })

  /** A session of the service that signs in now; its holder is asked to confirm it. */
  const signIn = Effect.fnUntraced(function*(
    userId: MessengerUserId,
    sessionRef: SessionRef,
    pending: boolean
  ) {
    const now = yield* DateTime.nowAsDate
    const authorization: SimulatedAuthorization = {
      ...serviceDevice,
      app_version: null,
      ip: null,
      country: null,
      id: AuthorizationId.make(platformId("authorization", yield* store.nextNumber)),
      user_id: userId,
      session_ref: sessionRef,
      shown_as: AuthorizationId.make("0"),
      created_at: now,
      last_active_at: now,
      signed_in_at: now,
      password_pending: pending,
      unconfirmed: true,
      place: null
    }
    yield* store.saveAuthorization(authorization)
    return authorization
  })

  const announce = (notify: Notify, authorization: SimulatedAuthorization) =>
    notify(
      authorization.user_id,
      MessengerEvent.make({ _tag: "NewAuthorization", id: authorization.id }),
      authorization
    )

  /** The login with its account, unless its code has run out. */
  const underWay = Effect.fnUntraced(function*(sessionRef: SessionRef) {
    const login = yield* store.login(sessionRef)
    const account = login === null ? null : yield* changes.account(login.user_id)
    const now = yield* DateTime.nowAsDate
    return login === null || account === null || login.expires_at <= now ? null : { account, login, now }
  })

  const userOf = (state: SealedLoginState) =>
    Effect.map(
      Effect.all([store.login(refOf(state)), store.authorizationOf(refOf(state))]),
      ([login, authorization]) => login?.user_id ?? authorization?.user_id ?? null
    )

  /** A change that is kept whatever it answers: a wrong entry counts. */
  const step = <A, E>(change: (notify: Notify) => Effect.Effect<Effect.Effect<A, E>>): Effect.Effect<A, E> =>
    Effect.flatten(changes.make((notify) => change(notify)))

  const enterCode = (sessionRef: SessionRef, code: Redacted.Redacted) =>
    step<Connected | PasswordStep, LoginRefused>(Effect.fnUntraced(function*(notify) {
      const found = yield* underWay(sessionRef)
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      if (found === null) return refused("code_expired")
      const { account, login, now } = found
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      if (login.codes_left === 0) return refused("attempts_exhausted")
      if (Redacted.value(code) !== login.code) {
        yield* store.saveLogin({ ...login, codes_left: login.codes_left - 1 })
        // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
        return refused(login.codes_left === 1 ? "attempts_exhausted" : "code_invalid")
      }
      const waits = account.two_fa_digest !== null
      const authorization = (yield* store.authorizationOf(sessionRef)) ??
        (yield* signIn(account.user_id, sessionRef, waits))
      if (waits) {
        yield* store.saveLogin({ ...login, expires_at: after(now, codeLifetime) })
        // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
        return Effect.succeed({ _tag: "PasswordStep" as const, hint: account.two_fa_hint, state: stateOf(sessionRef) })
      }
      yield* store.endLogin(sessionRef)
      yield* announce(notify, authorization)
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      return Effect.succeed(connected(authorization))
    }))

  const enterPassword = (sessionRef: SessionRef, password: Redacted.Redacted) =>
    step<Connected, LoginRefused | PasswordInvalid>(Effect.fnUntraced(function*(notify) {
      const found = yield* underWay(sessionRef)
      const authorization = yield* store.authorizationOf(sessionRef)
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      if (found === null || authorization === null) return refused("code_expired")
      const { account, login } = found
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      if (login.passwords_left === 0) return refused("attempts_exhausted")
      if (account.two_fa_digest !== null && !isPassword(account, password)) {
        yield* store.saveLogin({ ...login, passwords_left: login.passwords_left - 1 })
        return login.passwords_left === 1 ? refused("attempts_exhausted") : Effect.fail(new PasswordInvalid())
      }
      const signedIn = { ...authorization, password_pending: false }
      yield* store.saveAuthorization(signedIn)
      yield* store.endLogin(sessionRef)
      yield* announce(notify, signedIn)
      // @effect-diagnostics-next-line returnEffectInGen:off -- what it makes is an effect
      return Effect.succeed(connected(signedIn))
    }))

  const verbs: LoginVerbs = {
    begin: Effect.fn("MessengerSession.begin")((sessionRef, phone) => {
      const digits = phone.slice(1)
      return calls.login(
        Effect.map(store.accountOfPhone(digits), (account) => account?.user_id ?? null),
        "begin",
        changes.make(Effect.fnUntraced(function*(notify) {
          if (!isPossible(phone)) return yield* refused("phone_invalid")
          const account = yield* store.accountOfPhone(digits)
          if (account === null || account.ended === "deleted") return yield* refused("phone_not_registered")
          if (account.ended === "banned") return yield* refused("phone_banned")
          const [first] = yield* channels(account)
          const login = { session_ref: sessionRef, user_id: account.user_id, phone: digits }
          return yield* send(notify, { ...login, codes_left: entriesAtMost, passwords_left: entriesAtMost }, first)
        }))
      )
    }),
    resend: Effect.fn("MessengerSession.resend")((state) =>
      calls.login(
        userOf(state),
        "resend",
        changes.make(Effect.fnUntraced(function*(notify) {
          const found = yield* underWay(refOf(state))
          if (found === null) return yield* refused("code_expired")
          const { account, login, now } = found
          const wait = login.resend_at.getTime() - now.getTime()
          if (wait > 0) return yield* new PlatformBusy({ retryAfterSeconds: Math.ceil(wait / 1000) })
          const all = yield* channels(account)
          return yield* send(notify, login, all[all.indexOf(login.channel) + 1] ?? "call")
        }))
      )
    ),
    submitCode: Effect.fn("MessengerSession.submitCode")((state, code) =>
      calls.login(userOf(state), "submit_code", enterCode(refOf(state), code))
    ),
    submitPassword: Effect.fn("MessengerSession.submitPassword")((state, password) =>
      calls.login(userOf(state), "submit_password", enterPassword(refOf(state), password))
    ),
    cancel: Effect.fn("MessengerSession.cancel")((state) =>
      calls.login(
        userOf(state),
        "cancel",
        changes.make((_, end) =>
          Effect.gen(function*() {
            yield* store.endLogin(refOf(state))
            const authorization = yield* store.authorizationOf(refOf(state))
            if (authorization !== null) yield* end([authorization], "logged_out", authorization)
          })
        )
      )
    ),
    resolve: Effect.fn("MessengerSession.resolve")((state) =>
      calls.login(
        userOf(state),
        "resolve",
        Effect.map(store.authorizationOf(refOf(state)), (authorization) =>
          authorization === null || authorization.password_pending ? null : connected(authorization))
      )
    )
  }

  return {
    verbs,
    pair: (asking, sessionRef, password) =>
      changes.make(Effect.fnUntraced(function*(notify) {
        const [account] = yield* asking
        if (account.frozen) return yield* new PairingRefused()
        if (account.two_fa_digest !== null) {
          if (password === null) return yield* new PasswordNeeded()
          if (!isPassword(account, password)) return yield* new PasswordInvalid()
        }
        const authorization = yield* signIn(account.user_id, sessionRef, false)
        yield* announce(notify, authorization)
        return { seenAs: authorization.id, createdAt: authorization.signed_in_at }
      }))
  }
}
