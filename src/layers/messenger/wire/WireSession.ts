/** The calls of a session of the service. */
import { Clock, Duration, Effect, type Redacted } from "effect"
import * as crypto from "node:crypto"
import { signOutLock } from "../../../domain/Limits.ts"
import {
  type AccountSecurity,
  AuthorizationId,
  type HeldSecrets,
  maskEmail
} from "../../../domain/messenger/Messenger.ts"
import {
  type MessengerFailure,
  NoSession,
  PasswordInvalid,
  PlatformRefused,
  ProfileRefused,
  SignOutLocked,
  type TwoFaChange,
  UnknownAuthorization,
  UsernameRefused
} from "../../../ports/messenger/MessengerSession.ts"
import type { PlatformConnection } from "../SessionConnections.ts"
import { once } from "./Once.ts"
import * as Values from "./PlatformValues.ts"
import type { Long, wire } from "./Protocol.ts"
import type { Client } from "./WireClient.ts"
import * as Passwords from "./WirePasswords.ts"
import * as Security from "./WireSecurity.ts"

const usernameRefused = (reason: UsernameRefused["reason"]) => () => new UsernameRefused({ reason })

const profileRefused = (reason: ProfileRefused["reason"], field: ProfileRefused["field"]) => () =>
  new ProfileRefused({ reason, field })

/** Nothing had to change. */
class Unchanged {
  readonly _tag = "Unchanged"
}

const unchanged = () => new Unchanged()
const isUnchanged = (failure: unknown): failure is Unchanged => failure instanceof Unchanged

/** The id under which the platform shows the asking session to itself. */
const ownId = AuthorizationId.make("0")

const isBigNumber = /^-?\d{1,19}$/

/** The verbs over the client of a session that is signed in. */
export const make = (client: Client): Omit<PlatformConnection, "pair"> => {
  const profile = Effect.gen(function*() {
    const answer = yield* client.call({ _: "users.getFullUser", id: { _: "inputUserSelf" } })
    const user = answer.users.find((one): one is wire.RawUser => one._ === "user" && one.self === true)
    if (user === undefined) return yield* new PlatformRefused({ reason: "no own user" })
    return Values.profile(user, answer.fullUser)
  })

  const withId = <A, E>(id: AuthorizationId, ask: (hash: Long) => Effect.Effect<A, E>) =>
    isBigNumber.test(id) ? ask(Values.longOf(id)) : Effect.fail(new UnknownAuthorization())

  const isPassword = (candidate: Redacted.Redacted) =>
    Passwords.proved(
      client,
      candidate,
      ({ proof }) => client.call({ _: "account.getPasswordSettings", password: proof }, Passwords.meanings)
    )

  const holds = (candidate: Redacted.Redacted) =>
    Effect.as(isPassword(candidate), true).pipe(Effect.catchTag("PasswordInvalid", () => Effect.succeed(false)))

  const replace = Effect.fnUntraced(function*({ current, next }: TwoFaChange) {
    if (current !== null) {
      yield* Passwords.proved(
        client,
        current,
        ({ proof, settings }) =>
          Effect.flatMap(
            Passwords.replacing(settings, next),
            (newSettings) =>
              client.call({ _: "account.updatePasswordSettings", password: proof, newSettings }, Passwords.meanings)
          )
      )
      return
    }
    const settings = yield* Passwords.settings(client)
    if (settings.hasPassword === true) return yield* new PasswordInvalid()
    const newSettings = yield* Passwords.replacing(settings, next)
    yield* client.call({
      _: "account.updatePasswordSettings",
      password: { _: "inputCheckPasswordEmpty" },
      newSettings
    }, { PASSWORD_HASH_INVALID: () => new PasswordInvalid() })
  })

  const remove = Effect.fnUntraced(function*(current: Redacted.Redacted) {
    if ((yield* Passwords.settings(client)).hasPassword !== true) return
    yield* Passwords.proved(client, current, ({ proof }) =>
      client.call(
        { _: "account.updatePasswordSettings", password: proof, newSettings: Passwords.removing },
        Passwords.meanings
      ))
  })

  /** A part of the security settings: only a refusal of the part itself leaves it unread. */
  const part = <A>(ask: Effect.Effect<A, MessengerFailure>): Effect.Effect<A | null, MessengerFailure> =>
    Effect.catchTag(ask, "PlatformRefused", () => Effect.succeed(null))

  const held = Effect.fnUntraced(function*(candidates: HeldSecrets["twoFaPasswords"]) {
    for (const [place, candidate] of candidates.entries()) {
      const found = yield* Effect.map(
        isPassword(candidate),
        ({ email }) => ({ place, email: email === undefined ? null : maskEmail(email) })
      ).pipe(
        Effect.catchTag("PasswordInvalid", () => Effect.succeed(null))
      )
      if (found !== null) return found
    }
    return null
  })

  const logOut = once(
    client,
    Effect.asVoid(client.call({ _: "auth.logOut" })),
    (refusal) => refusal instanceof NoSession ? Effect.void : Effect.fail(refusal)
  ).pipe(Effect.andThen(client.loggedOut))

  /** The moment from which the platform lets this session sign others out; known only by the session's age. */
  const signOutLocked = Effect.gen(function*() {
    const { authorizations } = yield* client.call({ _: "account.getAuthorizations" })
    const own = authorizations.find(({ current }) => current === true)
    const created = own === undefined ? null : Values.authorization(own).created_at
    const until = created === null ? null : new Date(created.getTime() + Duration.toMillis(signOutLock))
    return yield* new SignOutLocked({ until })
  })

  return {
    ...Security.make(client),
    profile,
    authorizations: Effect.map(
      client.call({ _: "account.getAuthorizations" }),
      ({ authorizations }) => authorizations.map(Values.authorization)
    ),
    updateProfile: Effect.fn("LiveSession.updateProfile")(function*(patch) {
      const { about, first_name, last_name } = patch
      yield* Effect.catchIf(
        client.call<wire.account.RawUpdateProfileRequest, ProfileRefused | Unchanged>({
          _: "account.updateProfile",
          ...(first_name === undefined ? {} : { firstName: first_name }),
          ...(last_name === undefined ? {} : { lastName: last_name }),
          ...(about === undefined ? {} : { about })
        }, {
          ABOUT_TOO_LONG: profileRefused("about_too_long", "about"),
          FIRSTNAME_INVALID: profileRefused("name_invalid", "first_name"),
          LASTNAME_INVALID: profileRefused("name_invalid", "last_name"),
          NOT_MODIFIED: unchanged
        }),
        isUnchanged,
        () => Effect.void
      )
      return yield* profile
    }),
    setUsername: Effect.fn("LiveSession.setUsername")(function*(username) {
      // The platform takes an empty one as the wish for none.
      if (username === "") return yield* new UsernameRefused({ reason: "malformed" })
      yield* Effect.catchIf(
        client.call<wire.account.RawUpdateUsernameRequest, UsernameRefused | Unchanged>({
          _: "account.updateUsername",
          username: username ?? ""
        }, {
          USERNAME_OCCUPIED: usernameRefused("taken"),
          USERNAME_INVALID: usernameRefused("malformed"),
          USERNAME_PURCHASE_AVAILABLE: usernameRefused("purchasable"),
          USERNAME_NOT_MODIFIED: unchanged
        }),
        isUnchanged,
        () => Effect.void
      )
      return yield* profile
    }),
    signOut: Effect.fn("LiveSession.signOut")((id) =>
      id === ownId ?
        logOut :
        withId(id, (hash) =>
          once(
            client,
            Effect.asVoid(
              client.call<wire.account.RawResetAuthorizationRequest, SignOutLocked | UnknownAuthorization>({
                _: "account.resetAuthorization",
                hash
              }, {
                FRESH_RESET_AUTHORISATION_FORBIDDEN: () => new SignOutLocked({ until: null }),
                HASH_INVALID: () => new UnknownAuthorization()
              })
            ),
            // The caller has seen it listed, and it is not any more.
            (refusal) => refusal instanceof UnknownAuthorization ? Effect.void : Effect.fail(refusal)
          ).pipe(Effect.catchTag("SignOutLocked", () => signOutLocked)))
    ),
    confirm: Effect.fn("LiveSession.confirm")((id) =>
      withId(
        id,
        (hash) =>
          Effect.asVoid(client.call({ _: "account.changeAuthorizationSettings", hash, confirmed: true }, {
            HASH_INVALID: () => new UnknownAuthorization()
          }))
      )
    ),
    checkPassword: Effect.fn("LiveSession.checkPassword")(holds),
    setPassword: Effect.fn("LiveSession.setPassword")((change) =>
      once(client, replace(change), (refusal) =>
        refusal instanceof PasswordInvalid
          ? Effect.flatMap(holds(change.next), (held) => held ? Effect.void : Effect.fail(refusal))
          : Effect.fail(refusal))
    ),
    removePassword: Effect.fn("LiveSession.removePassword")((current) =>
      once(client, remove(current), (refusal) =>
        Effect.flatMap(
          Passwords.settings(client),
          ({ hasPassword }) => hasPassword === true ? Effect.fail(refusal) : Effect.void
        ))
    ),
    security: Effect.fn("LiveSession.security")(function*({ passkeyIds, twoFaPasswords }: HeldSecrets) {
      const settings = yield* part(Passwords.settings(client))
      const own = settings?.hasPassword === true ? yield* part(held(twoFaPasswords)) : null
      const passkeys = yield* part(client.call({ _: "account.getPasskeys" }))
      const ids = passkeys?.passkeys.map(({ id }) => id) ?? null
      const sessions = yield* part(client.call({ _: "account.getAuthorizations" }))
      const created = sessions?.authorizations.find(({ current }) => current === true)?.dateCreated
      const eligibleAt = created === undefined
        ? null
        : new Date(created * 1000 + Duration.toMillis(signOutLock))
      const now = yield* Clock.currentTimeMillis
      return {
        login_email_pattern: settings?.loginEmailPattern ?? null,
        recovery_email_pattern: own?.email ?? null,
        recovery_pending_pattern: settings?.emailUnconfirmedPattern ?? null,
        has_recovery: settings === null ? null : settings.hasRecovery === true,
        two_fa_present: settings === null ? null : settings.hasPassword === true,
        two_fa_mark: settings?.currentAlgo === undefined ? null : markOf(settings.currentAlgo),
        two_fa_held: own?.place ?? null,
        two_fa_managed: settings === null ? twoFaPasswords.length > 0 : own !== null,
        reset_at: settings?.pendingResetDate === undefined ? null : new Date(settings.pendingResetDate * 1000),
        passkey_present: ids === null ? null : ids.length > 0,
        passkey_ids: ids,
        passkey_managed: ids === null ? passkeyIds.length > 0 : ids.some((id) => passkeyIds.includes(id)),
        passkey_eligible_at: eligibleAt === null || eligibleAt.getTime() <= now ? null : eligibleAt
      } satisfies AccountSecurity
    }),
    logOut
  }
}

/** Changes with the password: its salts are new each time. */
const markOf = (algo: wire.TypePasswordKdfAlgo): string | null =>
  algo._ === "passwordKdfAlgoUnknown"
    ? null
    : crypto.createHash("sha256").update(algo.salt1).update(algo.salt2).digest("base64url")
