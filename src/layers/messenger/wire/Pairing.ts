/** Another session of the service in an account, approved by the one that is signed in. */
import { Clock, Effect, type Redacted, type Scope } from "effect"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { type Paired, PairingRefused, PasswordNeeded } from "../../../ports/messenger/MessengerLogin.ts"
import {
  type MessengerFailure,
  NoSession,
  type PasswordInvalid,
  PlatformUnavailable
} from "../../../ports/messenger/MessengerSession.ts"
import { once } from "./Once.ts"
import * as Values from "./PlatformValues.ts"
import type { Client } from "./WireClient.ts"
import * as Passwords from "./WirePasswords.ts"

export type OpenClient = (sessionRef: SessionRef) => Effect.Effect<Client, MessengerFailure, Scope.Scope>

const refused = () => new PairingRefused()

const tokenRefused = {
  AUTH_TOKEN_INVALID: refused,
  AUTH_TOKEN_INVALIDX: refused,
  AUTH_TOKEN_EXPIRED: refused,
  AUTH_TOKEN_EXCEPTION: refused,
  AUTH_TOKEN_ALREADY_ACCEPTED: refused
}

/** `client` approves the session that `connect` connects. */
export const pair = (client: Client, connect: OpenClient) =>
  Effect.fn("LiveSession.pair")(
    function*(
      sessionRef: SessionRef,
      password: Redacted.Redacted | null
    ): Effect.fn.Return<Paired, MessengerFailure | PairingRefused | PasswordInvalid | PasswordNeeded, Scope.Scope> {
      const { hasPassword } = yield* Passwords.settings(client)
      if (hasPassword === true) {
        if (password === null) return yield* new PasswordNeeded()
        // A wrong one is reported before the platform has signed anybody in.
        yield* Passwords.proved(client, password, ({ proof }) =>
          client.call({ _: "account.getPasswordSettings", password: proof }, Passwords.meanings))
      }
      const other = yield* connect(sessionRef)
      const { hash, id } = other.application
      const token = other.call({ _: "auth.exportLoginToken", apiId: id, apiHash: hash, exceptIds: [] })
      const offered = yield* token
      if (offered._ !== "auth.loginToken") {
        return yield* refused()
      }
      const accepted = yield* once(
        client,
        Effect.map(
          client.call({ _: "auth.acceptLoginToken", token: offered.token }, tokenRefused),
          Values.authorization
        ),
        (refusal) =>
          refusal instanceof PairingRefused ? Effect.succeed(null) : Effect.fail(refusal)
      )
      const withPassword = Effect.gen(function*() {
        if (password === null) {
          return yield* new PasswordNeeded()
        }
        yield* Passwords.proved(other, password, ({ proof }) =>
          other.call({ _: "auth.checkPassword", password: proof }, Passwords.meanings))
      })
      const signedIn = Effect.gen(function*() {
        const answer = yield* token
        if (answer._ === "auth.loginTokenSuccess") {
          return
        }
        // The account lives at another data centre.
        if (answer._ !== "auth.loginTokenMigrateTo") {
          return yield* refused()
        }
        yield* other.moveTo(answer.dcId)
        const there = yield* other.call({ _: "auth.importLoginToken", token: answer.token }, tokenRefused)
        if (there._ !== "auth.loginTokenSuccess") {
          return yield* refused()
        }
      })
      yield* Effect.catchIf(
        signedIn,
        (failure) =>
          failure instanceof NoSession && failure.reason === "never",
        () =>
          withPassword
      ).pipe(
        // Nobody keeps a session that was let in and is refused.
        Effect.tapError((failure) =>
          failure instanceof PlatformUnavailable ? Effect.void : Effect.ignore(other.call({ _: "auth.logOut" }))
        )
      )
      // It is signed in, and the approving session has not learned its id: the search for lost sessions finds it.
      if (accepted === null) {
        return yield* new PlatformUnavailable()
      }
      return { seenAs: accepted.id, createdAt: accepted.created_at ?? new Date(yield* Clock.currentTimeMillis) }
    },
    Effect.scoped
  )
