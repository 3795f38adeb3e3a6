/** The simulated platform: a model of the messaging platform for the demo organization and for tests. */
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import * as DateTime from "effect/DateTime"
import { createHash, scryptSync } from "node:crypto"
import {
  type AccountSecurity,
  type Authorization,
  AuthorizationId,
  type HeldSecrets,
  maskEmail,
  MessengerUserId,
  type Profile,
  SessionRef,
  textOrNull
} from "../../domain/Messenger.ts"
import { unreadSecurity } from "../../domain/MessengerProfile.ts"
import {
  type Common,
  type LiveSession,
  MessengerSession,
  NoSession,
  PasswordInvalid,
  PlatformBusy,
  PlatformRefused,
  PlatformUnavailable,
  SignOutLocked,
  UnknownAuthorization,
  UsernameRefused
} from "../../ports/MessengerSession.ts"
import { applyPatch, isUsername, unlockedAt } from "./PlatformRules.ts"
import {
  Answer,
  type Device,
  type OutsideChange,
  type PlatformOperation,
  type SecurityChange,
  SimulatedPlatform
} from "./SimulatedPlatform.ts"
import { type SimulatedAccount, type SimulatedAuthorization, SimulatedStore } from "./SimulatedStore.ts"
import * as SimulatedStoreSql from "./SimulatedStoreSql.ts"

/** A 64-bit id that looks like the platform's and depends on the number alone. */
const platformId = (kind: string, number: number): string =>
  BigInt.asUintN(63, createHash("sha256").update(`${kind}/${number}`).digest().readBigUInt64BE()).toString()

/** The costs are low because the password guards nothing but a simulation. */
const passwordDigest = (userId: MessengerUserId, password: Redacted.Redacted<string>): string =>
  scryptSync(Redacted.value(password).normalize("NFC"), userId, 32, { N: 1024, r: 8, p: 1 }).toString("hex")

/** What tells one setting of a password from the next. */
const markOf = (digest: string): string => createHash("sha256").update(digest).digest("hex")

const profileOf = (account: SimulatedAccount): Profile => ({
  user_id: account.user_id,
  first_name: account.first_name,
  last_name: account.last_name,
  username: account.username,
  about: account.about,
  phone: account.phone,
  photo_id: account.photo_id,
  premium: account.premium
})

/** The asking session is active now, whatever was recorded of it. */
const authorizationOf = (authorization: SimulatedAuthorization, current: boolean, now: Date): Authorization => ({
  id: authorization.id,
  current,
  device_model: authorization.device_model,
  platform: authorization.platform,
  app_name: authorization.app_name,
  app_version: authorization.app_version,
  ip: authorization.ip,
  country: authorization.country,
  last_active_at: current ? now : authorization.last_active_at,
  created_at: authorization.created_at,
  password_pending: false,
  unconfirmed: false
})

const isPassword = (account: SimulatedAccount, candidate: Redacted.Redacted): boolean =>
  account.two_fa_digest !== null && passwordDigest(account.user_id, candidate) === account.two_fa_digest

const securityOf = (
  account: SimulatedAccount,
  authorization: SimulatedAuthorization,
  held: HeldSecrets,
  now: Date
): AccountSecurity => {
  const place = held.twoFaPasswords.findIndex((candidate) => isPassword(account, candidate))
  return {
    login_email_pattern: account.login_email_pattern,
    recovery_email_pattern: place === -1 ? null : account.recovery_email_pattern,
    recovery_pending_pattern: null,
    has_recovery: account.recovery_email_pattern !== null,
    two_fa_present: account.two_fa_digest !== null,
    two_fa_mark: account.two_fa_digest === null ? null : markOf(account.two_fa_digest),
    two_fa_held: place === -1 ? null : place,
    two_fa_managed: place !== -1,
    reset_at: null,
    passkey_present: account.passkey_id !== null,
    passkey_ids: account.passkey_id === null ? [] : [account.passkey_id],
    passkey_managed: account.passkey_id !== null && held.passkeyIds.includes(account.passkey_id),
    passkey_eligible_at: unlockedAt(authorization.created_at, now)
  }
}

const withUsername = Effect.fnUntraced(function*(
  store: SimulatedStore["Service"],
  account: SimulatedAccount,
  username: string | null
): Effect.fn.Return<SimulatedAccount, UsernameRefused> {
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

const makeSession = (store: SimulatedStore["Service"]): MessengerSession["Service"] => {
  const authorized = Effect.fnUntraced(function*(
    sessionRef: SessionRef
  ): Effect.fn.Return<readonly [SimulatedAccount, SimulatedAuthorization], NoSession> {
    const authorization = yield* store.authorizationOf(sessionRef)
    const account = authorization === null ? null : yield* store.account(authorization.user_id)
    if (authorization === null || account === null) return yield* new NoSession({ reason: "never" })
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

  const answered = Effect.fnUntraced(function*<A, E>(
    sessionRef: SessionRef,
    operation: PlatformOperation,
    work: Effect.Effect<A, E | NoSession>,
    unreadable: Effect.Effect<A, E | NoSession> = work
  ): Effect.fn.Return<A, E | Common> {
    yield* store.outsideTransaction
    const userId = (yield* store.authorizationOf(sessionRef))?.user_id ?? null
    const answer = yield* nextAnswer(userId, operation)
    yield* store.addCall({ operation, user_id: userId, at: yield* DateTime.nowAsDate })
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
    next: (account: SimulatedAccount) => Effect.Effect<SimulatedAccount, E>
  ): Effect.Effect<Profile, E | NoSession> =>
    store.exclusively(Effect.gen(function*() {
      const [account] = yield* authorized(sessionRef)
      const changed = yield* next(account)
      yield* store.saveAccount(changed)
      return profileOf(changed)
    }))

  const live = (sessionRef: SessionRef): LiveSession => ({
    profile: call(sessionRef, "profile", Effect.map(authorized(sessionRef), ([account]) => profileOf(account))),
    security: Effect.fn("LiveSession.security")((held: HeldSecrets) =>
      call(
        sessionRef,
        "security",
        Effect.gen(function*() {
          const [account, authorization] = yield* authorized(sessionRef)
          return securityOf(account, authorization, held, yield* DateTime.nowAsDate)
        }),
        Effect.gen(function*() {
          const [, authorization] = yield* authorized(sessionRef)
          return unreadSecurity(held, unlockedAt(authorization.created_at, yield* DateTime.nowAsDate))
        })
      )
    ),
    updateProfile: Effect.fn("LiveSession.updateProfile")((patch) =>
      call(
        sessionRef,
        "update_profile",
        change(sessionRef, (account) => Effect.fromResult(applyPatch(account, patch)))
      )
    ),
    setUsername: Effect.fn("LiveSession.setUsername")((username) =>
      call(sessionRef, "set_username", change(sessionRef, (account) => withUsername(store, account, username)))
    ),
    authorizations: call(
      sessionRef,
      "authorizations",
      Effect.gen(function*() {
        const [account, own] = yield* authorized(sessionRef)
        const now = yield* DateTime.nowAsDate
        const all = yield* store.authorizations(account.user_id)
        return all.map((authorization) => authorizationOf(authorization, authorization.id === own.id, now))
      })
    ),
    signOut: Effect.fn("LiveSession.signOut")((id) =>
      call(
        sessionRef,
        "sign_out",
        store.exclusively(Effect.gen(function*() {
          const [account, own] = yield* authorized(sessionRef)
          const asked = (yield* store.authorizations(account.user_id)).find((authorization) => authorization.id === id)
          if (asked === undefined) return yield* new UnknownAuthorization()
          const until = asked.id === own.id ? null : unlockedAt(own.created_at, yield* DateTime.nowAsDate)
          if (until !== null) return yield* new SignOutLocked({ until })
          yield* store.removeAuthorizations([asked])
        }))
      )
    ),
    confirm: Effect.fn("LiveSession.confirm")((id) =>
      call(
        sessionRef,
        "confirm",
        Effect.gen(function*() {
          const [account] = yield* authorized(sessionRef)
          const known = yield* store.authorizations(account.user_id)
          if (!known.some((authorization) => authorization.id === id)) return yield* new UnknownAuthorization()
        })
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
            : Effect.succeed({ ...account, two_fa_digest: passwordDigest(account.user_id, next) })))
      )
    ),
    removePassword: Effect.fn("LiveSession.removePassword")((current) =>
      call(
        sessionRef,
        "remove_password",
        Effect.asVoid(change(sessionRef, (account) =>
          account.two_fa_digest !== null && !isPassword(account, current)
            ? Effect.fail(new PasswordInvalid())
            : Effect.succeed({ ...account, two_fa_digest: null, recovery_email_pattern: null })))
      )
    ),
    events: Stream.never,
    logOut: call(
      sessionRef,
      "log_out",
      store.exclusively(Effect.gen(function*() {
        const [, own] = yield* authorized(sessionRef)
        yield* store.removeAuthorizations([own])
      }))
    )
  })

  return MessengerSession.of({
    open: Effect.fn("MessengerSession.open")(function*(sessionRef) {
      yield* call(sessionRef, "open", Effect.asVoid(authorized(sessionRef)))
      let open = true
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          open = false
        })
      )
      const whileOpen = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() =>
          open ? effect : Effect.die(new Error("The messenger session is used after its scope closed."))
        )
      const session = live(sessionRef)
      return {
        profile: whileOpen(session.profile),
        security: (held) => whileOpen(session.security(held)),
        updateProfile: (patch) => whileOpen(session.updateProfile(patch)),
        setUsername: (username) => whileOpen(session.setUsername(username)),
        authorizations: whileOpen(session.authorizations),
        signOut: (id) => whileOpen(session.signOut(id)),
        confirm: (id) => whileOpen(session.confirm(id)),
        checkPassword: (candidate) => whileOpen(session.checkPassword(candidate)),
        setPassword: (next) => whileOpen(session.setPassword(next)),
        removePassword: (current) => whileOpen(session.removePassword(current)),
        events: session.events,
        logOut: whileOpen(session.logOut)
      }
    })
  })
}

const makePlatform = (store: SimulatedStore["Service"]): SimulatedPlatform["Service"] => {
  const existing = Effect.fnUntraced(function*(userId: MessengerUserId) {
    const account = yield* store.account(userId)
    return account ?? (yield* Effect.die(new Error(`The simulated platform has no account ${userId}.`)))
  })

  const update = <E>(
    userId: MessengerUserId,
    next: (account: SimulatedAccount) => Effect.Effect<SimulatedAccount, E>
  ): Effect.Effect<void, E> =>
    store.exclusively(Effect.flatMap(Effect.flatMap(existing(userId), next), store.saveAccount))

  const withProfile = Effect.fnUntraced(function*(account: SimulatedAccount, change: OutsideChange) {
    const { phone = account.phone, photo_id = account.photo_id, username = account.username, ...patch } = change
    const patched = yield* Effect.fromResult(applyPatch(account, patch))
    const named = yield* withUsername(store, patched, username)
    if (phone === null || !/^[0-9]{5,15}$/.test(phone)) {
      return yield* Effect.die(new Error("A phone number consists of 5 to 15 digits."))
    }
    return { ...named, phone, photo_id: photo_id === null ? null : textOrNull(photo_id) }
  })

  const withSecurity = (account: SimulatedAccount, change: SecurityChange): SimulatedAccount => {
    const { two_fa_password, login_email, recovery_email, passkey_id = account.passkey_id } = change
    const pattern = (email: string | null | undefined, before: string | null) =>
      email === undefined ? before : email === null ? null : maskEmail(email)
    return {
      ...account,
      two_fa_digest: two_fa_password === undefined
        ? account.two_fa_digest
        : two_fa_password === null
        ? null
        : passwordDigest(account.user_id, two_fa_password),
      login_email_pattern: pattern(login_email, account.login_email_pattern),
      recovery_email_pattern: pattern(recovery_email, account.recovery_email_pattern),
      passkey_id
    }
  }

  const signIn = Effect.fnUntraced(function*(userId: MessengerUserId, device: Device, service: boolean) {
    const now = yield* DateTime.nowAsDate
    const number = yield* store.nextNumber
    const created_at = device.created_at ?? now
    const authorization: SimulatedAuthorization = {
      id: AuthorizationId.make(platformId("authorization", number)),
      user_id: userId,
      session_ref: service ? SessionRef.make(`simulated-${platformId("session", number)}`) : null,
      device_model: textOrNull(device.device_model ?? ""),
      platform: textOrNull(device.platform ?? ""),
      app_name: textOrNull(device.app_name ?? ""),
      app_version: textOrNull(device.app_version ?? ""),
      ip: textOrNull(device.ip ?? ""),
      country: textOrNull(device.country ?? ""),
      created_at,
      last_active_at: device.last_active_at ?? created_at
    }
    yield* store.exclusively(Effect.andThen(existing(userId), store.addAuthorization(authorization)))
    return authorization
  })

  const signOut = (userId: MessengerUserId, ended: (authorization: SimulatedAuthorization) => boolean) =>
    store.exclusively(Effect.gen(function*() {
      yield* existing(userId)
      const gone = (yield* store.authorizations(userId)).filter(ended)
      yield* store.removeAuthorizations(gone)
      return gone.length
    }))

  return SimulatedPlatform.of({
    createAccount: Effect.fn("SimulatedPlatform.createAccount")(function*(account) {
      const user_id = MessengerUserId.make(String(6_000_000_000 + (yield* store.nextNumber)))
      const { premium = false, security = {}, ...profile } = account
      const empty: SimulatedAccount = {
        user_id,
        first_name: null,
        last_name: null,
        username: null,
        about: null,
        phone: null,
        photo_id: null,
        premium,
        two_fa_digest: null,
        login_email_pattern: null,
        recovery_email_pattern: null,
        passkey_id: null
      }
      yield* store.exclusively(
        Effect.flatMap(withProfile(empty, profile), (made) => store.saveAccount(withSecurity(made, security)))
      )
      return user_id
    }),
    connect: Effect.fn("SimulatedPlatform.connect")(function*(userId, device = {}) {
      const { session_ref } = yield* signIn(
        userId,
        { device_model: "Server", platform: "Linux", app_name: "Organization Security Console", ...device },
        true
      )
      return session_ref ?? (yield* Effect.die(new Error("The service's session has no reference.")))
    }),
    changeProfile: (userId, change) => update(userId, (account) => withProfile(account, change)),
    setPremium: (userId, premium) => update(userId, (account) => Effect.succeed({ ...account, premium })),
    changeSecurity: (userId, change) => update(userId, (account) => Effect.succeed(withSecurity(account, change))),
    logIn: (userId, device) => Effect.map(signIn(userId, device, false), (authorization) => authorization.id),
    logOut: Effect.fn("SimulatedPlatform.logOut")(function*(userId, id) {
      const ended = yield* signOut(userId, (authorization) => authorization.id === id)
      if (ended === 0) return yield* Effect.die(new Error(`The account ${userId} has no authorization ${id}.`))
    }),
    revokeService: (userId) => Effect.asVoid(signOut(userId, (authorization) => authorization.session_ref !== null)),
    offerForSale: (username) => store.offerForSale(username),
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

const layerNoDeps = Layer.effectContext(
  Effect.map(
    SimulatedStore,
    (store) =>
      Context.make(MessengerSession, makeSession(store)).pipe(Context.add(SimulatedPlatform, makePlatform(store)))
  )
)

/** The simulated platform with its state in the process. */
export const layerMemory = layerNoDeps.pipe(Layer.provide(SimulatedStore.layerMemory))

/** The simulated platform with its state in the database: it survives a restart. */
export const layerSql = layerNoDeps.pipe(Layer.provide(SimulatedStoreSql.layer))

/** No messenger: the service runs without one, and no account has a session. */
export const layerNone = Layer.succeed(
  MessengerSession,
  MessengerSession.of({ open: () => Effect.fail(new NoSession({ reason: "never" })) })
)
