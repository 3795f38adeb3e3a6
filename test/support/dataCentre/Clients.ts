/** The clients of the data centres: what belongs to their keys, and their sessions of the simulated platform. */
import { Effect, Exit, Scope, Stream } from "effect"
import type { MessengerUserId, Profile, SessionRef } from "../../../src/domain/messenger/Messenger.ts"
import type { SealedLoginState } from "../../../src/ports/messenger/MessengerLogin.ts"
import type { LiveSession, MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"
import * as DataCentre from "./DataCentre.ts"
import type * as Proofs from "./Proofs.ts"
import { type Failure, updateOf, worded } from "./Said.ts"
import type { Word } from "./Words.ts"

/** What belongs to a client's key. */
export interface Kept {
  login?: { readonly ref: SessionRef; state: SealedLoginState; readonly phone: string; wantsPassword: boolean }
  ref?: SessionRef
  userId?: MessengerUserId
  live?: { readonly session: Promise<LiveSession>; readonly scope: Scope.Closeable }
  challenge?: Proofs.Challenge
  offer?: Buffer
  /** Another data centre has the account that let it in. */
  moves?: { readonly home: number; readonly ref: SessionRef; readonly userId: MessengerUserId }
}

export const kept = (key: DataCentre.Key): Kept => key.of

export const refuse = (code: number, text: string): never => {
  throw new DataCentre.Refusal(code, text)
}

export type Handlers = Readonly<Record<string, (key: DataCentre.Key, request: Word) => Promise<DataCentre.Answer>>>

/** The clients' sessions; what these report is pushed to their keys. */
export const make = Effect.fnUntraced(function*(
  messenger: MessengerSession["Service"],
  push: (key: DataCentre.Key, update: Word) => void
) {
  const context = yield* Effect.context<never>()

  const now = Effect.clockWith((clock) => clock.currentTimeMillis)

  /** Runs what the simulated platform is asked; its failure is a refusal. */
  const ask = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
    const answer = await Effect.runPromiseWith(context)(Effect.result(effect))
    if (answer._tag === "Success") return answer.success
    return refuse(...worded(answer.failure as Failure))
  }

  /** A login whose answer was lost may have signed in. */
  const resolved = async (key: DataCentre.Key): Promise<void> => {
    const { login, ref } = kept(key)
    if (ref !== undefined || login === undefined) return
    const connected = await ask(messenger.resolve(login.state))
    if (connected !== null) Object.assign(key.of, { ref: login.ref, userId: connected.userId })
  }

  const live = async (key: DataCentre.Key): Promise<LiveSession> => {
    await resolved(key)
    const own = kept(key)
    const { ref } = own
    if (ref === undefined) {
      return Promise.reject(
        own.login?.wantsPassword === true
          ? new DataCentre.Refusal(401, "SESSION_PASSWORD_NEEDED")
          : new DataCentre.Refusal(401, "AUTH_KEY_UNREGISTERED")
      )
    }
    if (own.live === undefined) {
      const scope = Scope.makeUnsafe()
      const session = ask(Scope.provide(messenger.open(ref), scope)).then((opened) => {
        const pushed = Stream.runForEach(opened.events, (event) =>
          Effect.map(now, (millis) => {
            const update = updateOf(event, Math.floor(millis / 1000))
            if (update !== null) push(key, update)
          }))
        Effect.runForkWith(context)(Scope.provide(Effect.forkScoped(pushed), scope))
        return opened
      })
      own.live = { session, scope }
      session.catch(() => delete own.live)
    }
    return own.live.session
  }

  const gone = (key: DataCentre.Key): void => {
    const own = kept(key)
    if (own.live === undefined) return
    Effect.runForkWith(context)(Scope.close(own.live.scope, Exit.void))
    delete own.live
  }

  const profile = async (key: DataCentre.Key): Promise<Profile> => ask((await live(key)).profile)

  return { ask, gone, live, messenger, now, profile }
})

export type Clients = Effect.Success<ReturnType<typeof make>>
