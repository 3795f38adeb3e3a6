/** The outside world of the simulated platform, over its state. */
import { DateTime, Effect, Redacted } from "effect"
import {
  AuthorizationId,
  maskEmail,
  MessengerEvent,
  MessengerUserId,
  serviceDevice,
  SessionRef,
  textOrNull
} from "../../../domain/messenger/Messenger.ts"
import { after } from "../../../domain/Moments.ts"
import { SignOutLocked } from "../../../ports/messenger/MessengerSession.ts"
import { applyPatch, resetTime, unlockedAt } from "./PlatformRules.ts"
import { isPassword, platformId, withPassword } from "./SimulatedAccounts.ts"
import type { Notify, SimulatedChanges } from "./SimulatedChanges.ts"
import {
  type Device,
  type HolderChange,
  type SecurityChange,
  type ServiceDevice,
  SimulatedPlatform
} from "./SimulatedPlatform.ts"
import type { Pushes } from "./SimulatedPushes.ts"
import type { SimulatedAccount, SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"

const withSecurity = (account: SimulatedAccount, change: SecurityChange): SimulatedAccount => {
  const pattern = (email: string | null | undefined, before: string | null) =>
    email === undefined ? before : email === null ? null : maskEmail(email)
  const { passkey_id, passkey_ids, two_fa_password } = change
  const secured = two_fa_password === undefined ? account : withPassword(account, two_fa_password)
  return {
    ...secured,
    two_fa_hint: change.two_fa_hint === undefined ? secured.two_fa_hint : change.two_fa_hint,
    login_email_pattern: pattern(change.login_email, secured.login_email_pattern),
    recovery_email_pattern: pattern(change.recovery_email, secured.recovery_email_pattern),
    recovery_pending_pattern: pattern(change.recovery_pending, secured.recovery_pending_pattern),
    passkey_ids: passkey_ids ??
      (passkey_id === undefined ? secured.passkey_ids : passkey_id === null ? [] : [passkey_id])
  }
}

/** Ids begin here: the messenger's own have 52 bits, so that no person of it is taken for a simulated one. */
const firstUserId = 9_000_000_000_000_000

const empty = (user_id: MessengerUserId, premium: boolean): SimulatedAccount => ({
  user_id,
  first_name: null,
  last_name: null,
  username: null,
  about: null,
  phone: null,
  photo_id: null,
  premium,
  two_fa_digest: null,
  two_fa_version: -1,
  two_fa_hint: null,
  login_email_pattern: null,
  recovery_email_pattern: null,
  recovery_pending_pattern: null,
  reset_at: null,
  email_codes: {},
  passkey_ids: [],
  ended: null,
  unreachable: false,
  frozen: false
})

export const make = (
  store: SimulatedStore["Service"],
  changes: SimulatedChanges,
  pushes: Pushes
): SimulatedPlatform["Service"] => {
  const existing = Effect.fnUntraced(function*(userId: MessengerUserId) {
    const account = yield* changes.account(userId)
    return account ?? (yield* Effect.die(new Error(`The simulated platform has no account ${userId}.`)))
  })

  const existingAuthorization = Effect.fnUntraced(function*(userId: MessengerUserId, id: AuthorizationId) {
    yield* existing(userId)
    const found = (yield* store.authorizations(userId)).find((authorization) => authorization.id === id)
    return found ?? (yield* Effect.die(new Error(`The account ${userId} has no authorization ${id}.`)))
  })

  const update = <E>(
    userId: MessengerUserId,
    next: (account: SimulatedAccount) => Effect.Effect<SimulatedAccount, E>,
    event?: MessengerEvent
  ): Effect.Effect<void, E> =>
    changes.make(Effect.fnUntraced(function*(notify: Notify) {
      yield* store.saveAccount(yield* Effect.flatMap(existing(userId), next))
      if (event !== undefined) yield* notify(userId, event)
    }))

  const withProfile = Effect.fnUntraced(function*(account: SimulatedAccount, change: HolderChange) {
    const { phone = account.phone, photo_id = account.photo_id, username = account.username, ...patch } = change
    const patched = yield* Effect.fromResult(applyPatch(account, patch))
    const named = yield* changes.withUsername(patched, username)
    if (phone === null || !/^[0-9]{5,15}$/.test(phone)) {
      return yield* Effect.die(new Error("A phone number consists of 5 to 15 digits."))
    }
    return { ...named, phone, photo_id: photo_id === null ? null : textOrNull(photo_id) }
  })

  const newAuthorization = (id: AuthorizationId) => MessengerEvent.make({ _tag: "NewAuthorization", id })

  const signIn = Effect.fnUntraced(function*(
    userId: MessengerUserId,
    device: ServiceDevice,
    kind: { readonly service: boolean; readonly pending: boolean }
  ) {
    const now = yield* DateTime.nowAsDate
    const number = yield* store.nextNumber
    const id = AuthorizationId.make(platformId("authorization", number))
    const created_at = device.created_at === undefined ? now : device.created_at
    const authorization: SimulatedAuthorization = {
      id,
      user_id: userId,
      session_ref: kind.service ? SessionRef.make(`simulated-${platformId("session", number)}`) : null,
      shown_as: device.shown_as === "id" ? id : AuthorizationId.make("0"),
      device_model: textOrNull(device.device_model ?? ""),
      platform: textOrNull(device.platform ?? ""),
      app_name: textOrNull(device.app_name ?? ""),
      app_version: textOrNull(device.app_version ?? ""),
      ip: textOrNull(device.ip ?? ""),
      country: textOrNull(device.country ?? ""),
      created_at,
      last_active_at: device.last_active_at === undefined ? created_at : device.last_active_at,
      signed_in_at: device.signed_in_at ?? created_at ?? now,
      password_pending: kind.pending,
      unconfirmed: !kind.service && (device.unconfirmed ?? device.created_at === undefined),
      place: null
    }
    yield* changes.make((notify) =>
      Effect.gen(function*() {
        yield* existing(userId)
        if (!kind.service && device.created_at === undefined) {
          yield* notify(userId, MessengerEvent.make({ _tag: "CodeSent" }))
          if (!kind.pending && authorization.unconfirmed) yield* notify(userId, newAuthorization(id))
        }
        yield* store.saveAuthorization(authorization)
      })
    )
    return authorization
  })

  return SimulatedPlatform.of({
    createAccount: Effect.fn("SimulatedPlatform.createAccount")(function*(account) {
      const user_id = MessengerUserId.make(String(firstUserId + (yield* store.nextNumber)))
      const { premium = false, security = {}, ...profile } = account
      yield* store.exclusively(
        Effect.flatMap(
          withProfile(empty(user_id, premium), profile),
          (made) => store.saveAccount(withSecurity(made, security))
        )
      )
      return user_id
    }),
    connect: Effect.fn("SimulatedPlatform.connect")(function*(userId, device = {}) {
      const { session_ref } = yield* signIn(userId, { ...serviceDevice, ...device }, { service: true, pending: false })
      return session_ref ?? (yield* Effect.die(new Error("The service's session has no reference.")))
    }),
    authorizationId: Effect.fnUntraced(function*(sessionRef) {
      const found = yield* store.authorizationOf(sessionRef)
      return found?.id ?? (yield* Effect.die(new Error(`The simulated platform has no session ${sessionRef}.`)))
    }),
    changeProfile: (userId, change) =>
      update(userId, (account) => withProfile(account, change), MessengerEvent.make({ _tag: "ProfileChanged" })),
    setPremium: (userId, premium) =>
      update(
        userId,
        (account) => Effect.succeed({ ...account, premium }),
        MessengerEvent.make({ _tag: "ProfileChanged" })
      ),
    changeSecurity: (userId, change) => update(userId, (account) => Effect.succeed(withSecurity(account, change))),
    askForReset: (userId, wanted) =>
      Effect.flatMap(DateTime.nowAsDate, (now) =>
        update(userId, (account) =>
          Effect.succeed({
            ...account,
            reset_at: wanted && account.two_fa_digest !== null
              ? after(now, resetTime)
              : null
          }))),
    sendCode: (userId) => changes.make((notify) => notify(userId, MessengerEvent.make({ _tag: "CodeSent" }))),
    logIn: (userId, device: Device) =>
      Effect.map(signIn(userId, device, { service: false, pending: false }), ({ id }) => id),
    beginLogIn: (userId, device: Device) =>
      Effect.map(signIn(userId, device, { service: false, pending: true }), ({ id }) => id),
    finishLogIn: (userId, id) =>
      changes.make((notify) =>
        Effect.gen(function*() {
          const found = yield* existingAuthorization(userId, id)
          yield* store.saveAuthorization({ ...found, password_pending: false })
          if (found.unconfirmed) yield* notify(userId, newAuthorization(id))
        })
      ),
    confirm: (userId, id) =>
      changes.make((notify) =>
        Effect.gen(function*() {
          const found = yield* existingAuthorization(userId, id)
          yield* store.saveAuthorization({ ...found, unconfirmed: false })
          yield* notify(userId, MessengerEvent.make({ _tag: "AuthorizationResolved", id }))
        })
      ),
    logOut: (userId, id) =>
      changes.make((_, end) => Effect.flatMap(existingAuthorization(userId, id), (gone) => end([gone], "revoked"))),
    signOut: (userId, actor, id) =>
      changes.make((_, end) =>
        Effect.gen(function*() {
          const acting = yield* existingAuthorization(userId, actor)
          const gone = yield* existingAuthorization(userId, id)
          const until = actor === id ? null : unlockedAt(acting.signed_in_at, yield* DateTime.nowAsDate)
          if (until !== null) return yield* new SignOutLocked({ until })
          yield* end([gone], "revoked")
        })
      ),
    revokeService: (userId, reason = "revoked") =>
      changes.make((_, end) =>
        Effect.gen(function*() {
          const account = yield* existing(userId)
          const all = yield* store.authorizations(userId)
          const whole = reason === "deleted" || reason === "banned"
          if (whole) yield* store.saveAccount({ ...account, ended: reason })
          yield* end(whole ? all : all.filter(({ session_ref }) => session_ref !== null), reason)
        })
      ),
    setUnreachable: (userId, unreachable) =>
      update(
        userId,
        (account) => Effect.succeed({ ...account, unreachable }),
        unreachable ? undefined : MessengerEvent.make({ _tag: "Gap" })
      ),
    setFrozen: (userId, frozen) => update(userId, (account) => Effect.succeed({ ...account, frozen })),
    dropEvents: (userId, times) => Effect.sync(() => pushes.drop(userId, times)),
    offerForSale: (username) => store.offerForSale(username),
    emailCode: (userId, kind) =>
      Effect.map(existing(userId), ({ email_codes }) => {
        const sent = email_codes[kind]
        return sent === undefined ? null : Redacted.make(sent.code)
      }),
    isPassword: (userId, candidate) => Effect.map(existing(userId), (account) => isPassword(account, candidate)),
    codes: Effect.gen(function*() {
      const open = yield* store.logins(yield* DateTime.nowAsDate)
      return open.map(({ channel, code, phone, sent_at }) => ({
        phone,
        code: Redacted.make(code),
        channel,
        sentAt: sent_at
      }))
    }),
    addressCodes: Effect.gen(function*() {
      const now = yield* DateTime.nowAsDate
      return (yield* store.withEmailCodes).flatMap(({ email_codes, phone }) =>
        (["recovery", "login"] as const).flatMap((kind) => {
          const sent = email_codes[kind]
          if (sent === undefined || sent.until <= now.getTime()) return []
          const { code, pattern, until } = sent
          return [{ phone, kind, pattern, code: Redacted.make(code), until: new Date(until) }]
        })
      )
    }),
    connected: store.connected,
    script: (script) =>
      store.addScript({
        user_id: script.userId ?? null,
        operation: script.operation ?? (script.answer._tag === "SecurityUnreadable" ? "security" : null),
        answer: script.answer,
        remaining: script.times ?? 1
      }),
    clearScripts: store.clearScripts,
    calls: store.calls
  })
}
