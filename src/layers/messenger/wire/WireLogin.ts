/** Signing in with a phone number: each step opens the session's key again, in whatever process it runs. */
import { Clock, Effect, Redacted, Schema, type Scope } from "effect"
import { SessionRef } from "../../../domain/messenger/Messenger.ts"
import {
  type CodeChannel,
  type CodeSent,
  type Connected,
  LoginRefused,
  type LoginVerbs,
  type PasswordStep,
  type SealedLoginState
} from "../../../ports/messenger/MessengerLogin.ts"
import {
  type MessengerFailure,
  NoSession,
  type PasswordInvalid,
  PlatformRefused,
  PlatformUnavailable
} from "../../../ports/messenger/MessengerSession.ts"
import * as Values from "./PlatformValues.ts"
import type { wire } from "./Protocol.ts"
import type { Client, Meanings } from "./WireClient.ts"
import * as Passwords from "./WirePasswords.ts"

/** The facts that the next step needs. */
const State = Schema.Struct({ session_ref: SessionRef, phone: Schema.String, hash: Schema.String })
type State = typeof State.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(State))
const encode = Schema.encodeSync(Schema.fromJsonString(State))

const stateOf = (state: State): SealedLoginState => Redacted.make(encode(state))
const read = (state: SealedLoginState): State => decode(Redacted.value(state))

const refused = (reason: LoginRefused["reason"]) => () => new LoginRefused({ reason })

const meanings: Meanings<LoginRefused> = {
  PHONE_NUMBER_INVALID: refused("phone_invalid"),
  PHONE_NUMBER_BANNED: refused("phone_banned"),
  PHONE_NUMBER_UNOCCUPIED: refused("phone_not_registered"),
  PHONE_CODE_INVALID: refused("code_invalid"),
  PHONE_CODE_EMPTY: refused("code_invalid"),
  PHONE_CODE_EXPIRED: refused("code_expired"),
  PHONE_CODE_HASH_EMPTY: refused("code_expired"),
  UPDATE_APP_TO_LOGIN: refused("app_update_required")
}

/** The platform's answer to a used code. */
const asksAgain: ReadonlySet<LoginRefused["reason"]> = new Set(["code_invalid", "code_expired"])

const channels: Readonly<Partial<Record<wire.auth.TypeSentCodeType["_"], CodeChannel>>> = {
  "auth.sentCodeTypeApp": "app",
  "auth.sentCodeTypeSms": "sms",
  "auth.sentCodeTypeSmsWord": "sms",
  "auth.sentCodeTypeSmsPhrase": "sms",
  "auth.sentCodeTypeFirebaseSms": "sms",
  "auth.sentCodeTypeCall": "call",
  "auth.sentCodeTypeMissedCall": "call",
  "auth.sentCodeTypeFlashCall": "call",
  "auth.sentCodeTypeEmailCode": "email"
}

const sent = Effect.fnUntraced(function*(
  answer: wire.auth.TypeSentCode,
  of: Omit<State, "hash">
): Effect.fn.Return<CodeSent, LoginRefused | PlatformRefused> {
  if (answer._ === "auth.sentCodePaymentRequired") return yield* refused("payment_required")()
  if (answer._ !== "auth.sentCode") return yield* new PlatformRefused({ reason: answer._ })
  const { phoneCodeHash, timeout, type } = answer
  if (type._ === "auth.sentCodeTypeSetUpEmailRequired") return yield* refused("email_setup_required")()
  const now = yield* Clock.currentTimeMillis
  return {
    state: stateOf({ ...of, hash: phoneCodeHash }),
    channel: channels[type._] ?? "other",
    codeLength: "length" in type ? type.length : null,
    resendAt: timeout === undefined ? null : new Date(now + timeout * 1000)
  }
})

/** Nobody is signed in yet: that there is no session is no news. */
const before = <A, E, R>(step: Effect.Effect<A, E | NoSession, R>) =>
  Effect.catchIf(
    step,
    (failure): failure is NoSession => failure instanceof NoSession,
    ({ reason }) => Effect.fail(new PlatformRefused({ reason }))
  )

export type OpenLoginClient = (
  sessionRef: SessionRef,
  anew: boolean
) => Effect.Effect<Client, MessengerFailure, Scope.Scope>

const connected = (client: Client, answer: wire.auth.TypeAuthorization) =>
  Effect.gen(function*() {
    if (answer._ !== "auth.authorization" || answer.user._ !== "user") {
      return yield* refused("phone_not_registered")()
    }
    const { authorizations } = yield* client.call({ _: "account.getAuthorizations" })
    const own = authorizations.find(({ current }) => current === true)
    if (own === undefined) return yield* new PlatformUnavailable()
    const { created_at } = Values.authorization(own)
    return {
      _tag: "Connected" as const,
      userId: Values.userId(answer.user),
      createdAt: created_at ?? new Date(yield* Clock.currentTimeMillis)
    } satisfies Connected
  })

/** The steps of a login over connections that `connect` makes. */
export const make = (connect: OpenLoginClient): LoginVerbs => {
  /** Runs a step over the key that the login was begun with. */
  const step = <A, E>(
    state: SealedLoginState,
    run: (client: Client, state: State) => Effect.Effect<A, E>
  ) => {
    const known = read(state)
    return before(Effect.scoped(Effect.flatMap(
      connect(known.session_ref, false),
      (client) => run(client, known)
    )))
  }

  /** A step of an open login; a login whose key is gone has ended. */
  const next = <A, E>(state: SealedLoginState, run: (client: Client, state: State) => Effect.Effect<A, E>) =>
    Effect.catchIf(
      step(state, run),
      (failure): failure is PlatformRefused => failure instanceof PlatformRefused && failure.reason === "never",
      () => Effect.fail(refused("code_expired")())
    )

  /** The user who is signed in under the client's key. */
  const signedInUser = (client: Client) =>
    client.call({ _: "users.getUsers", id: [{ _: "inputUserSelf" }] }).pipe(
      Effect.flatMap(([user]) =>
        user?._ === "user" ? connected(client, { _: "auth.authorization", user }) : Effect.succeed(null)
      ),
      Effect.catchIf((failure) => failure instanceof NoSession, () => Effect.succeed(null)),
      Effect.catchIf((failure) => failure instanceof LoginRefused, () => Effect.succeed(null))
    )

  /** A step whose connection was lost after it was done is sent again and refused: it has signed in. */
  const unlessDone = <E>(client: Client, asked: Effect.Effect<wire.auth.TypeAuthorization, E>) =>
    Effect.flatMap(asked, (answer) => connected(client, answer)).pipe(
      Effect.catchIf(
        (failure) => failure instanceof LoginRefused && asksAgain.has(failure.reason),
        (refusal) =>
          Effect.flatMap(signedInUser(client), (found) => found === null ? Effect.fail(refusal) : Effect.succeed(found))
      )
    )

  return {
    begin: Effect.fn("MessengerSession.begin")((sessionRef, phone) =>
      before(Effect.scoped(Effect.gen(function*() {
        const client = yield* connect(sessionRef, true)
        const answer = yield* client.call({
          _: "auth.sendCode",
          phoneNumber: phone,
          apiId: client.application.id,
          apiHash: client.application.hash,
          settings: { _: "codeSettings" }
        }, meanings)
        return yield* sent(answer, { session_ref: sessionRef, phone })
      })))
    ),
    resend: Effect.fn("MessengerSession.resend")((state) =>
      next(state, (client, { hash, phone, session_ref }) =>
        Effect.flatMap(
          client.call({ _: "auth.resendCode", phoneNumber: phone, phoneCodeHash: hash }, meanings),
          (answer) => sent(answer, { session_ref, phone })
        ))
    ),
    submitCode: Effect.fn("MessengerSession.submitCode")((state, code) =>
      next(state, (client, { hash, phone }) =>
        client.call<wire.auth.RawSignInRequest, LoginRefused | PasswordWanted>({
          _: "auth.signIn",
          phoneNumber: phone,
          phoneCodeHash: hash,
          phoneCode: Redacted.value(code)
        }, { ...meanings, SESSION_PASSWORD_NEEDED: () => new PasswordWanted() }).pipe(
          (asked) => unlessDone(client, asked),
          Effect.catchIf(
            (failure): failure is PasswordWanted => failure instanceof PasswordWanted,
            () =>
              Effect.map(Passwords.settings(client), ({ hint }): PasswordStep => ({
                _tag: "PasswordStep",
                hint: hint === undefined || hint === "" ? null : hint,
                state
              }))
          )
        ))
    ),
    submitPassword: Effect.fn("MessengerSession.submitPassword")((state, password) =>
      next(state, (client) =>
        unlessDone(
          client,
          Passwords.proved(client, password, ({ proof }) =>
            client.call<wire.auth.RawCheckPasswordRequest, LoginRefused | PasswordInvalid | Passwords.Stale>(
              { _: "auth.checkPassword", password: proof },
              { ...meanings, ...Passwords.meanings }
            ))
        ))
    ),
    cancel: Effect.fn("MessengerSession.cancel")((state) =>
      step(state, (client, { hash, phone }) =>
        Effect.gen(function*() {
          const isOver = (failure: unknown) =>
            failure instanceof NoSession || failure instanceof LoginRefused || failure instanceof PlatformRefused
          yield* Effect.catchIf(
            client.call({ _: "auth.cancelCode", phoneNumber: phone, phoneCodeHash: hash }, meanings),
            isOver,
            () => Effect.void
          )
          yield* Effect.catchIf(client.call({ _: "auth.logOut" }), isOver, () => Effect.void)
          yield* client.loggedOut
        })).pipe(Effect.catchTag("PlatformRefused", () => Effect.void))
    ),
    resolve: Effect.fn("MessengerSession.resolve")((state) =>
      step(state, (client) => signedInUser(client)).pipe(Effect.catchTag("PlatformRefused", () => Effect.succeed(null)))
    )
  }
}

/** The code was right, and the account has a password. */
class PasswordWanted {
  readonly _tag = "PasswordWanted"
}
