/** An implementation of MessengerSession and the world around it, as the suites of the contract take them. */
import { type Duration, Effect, type Layer } from "effect"
import type { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import type {
  NewSimulatedAccount,
  SimulatedPlatform
} from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { type LiveSession, MessengerSession } from "../../../../src/ports/messenger/MessengerSession.ts"

/** What the suite needs of the outside world, in the words of the simulated platform. */
export type OutsideWorld = Omit<SimulatedPlatform["Service"], "clearScripts" | "calls" | "connected">

/**
 * What a world may be unable to do: tell times to the millisecond, how a session ended that signed out, and that the
 * entries of a login are used up; tell of what has happened, a session's end too, before the next call is answered;
 * answer by script, lose events, have unreadable security, or hold a device's texts.
 */
export type Capability =
  | "milliseconds"
  | "endings"
  | "attempts"
  | "told at once"
  | "answers"
  | "lost events"
  | "unreadable security"
  | "any text"

/** An implementation, and the world that it is connected to. */
export interface MessengerHarness<R, E> {
  readonly layer: Layer.Layer<MessengerSession | R, E>
  readonly world: Effect.Effect<OutsideWorld, never, R>
  readonly capabilities: ReadonlySet<Capability>
  /** Lets time pass on the platform. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
}

export const holdsNothing = { twoFaPasswords: [], passkeyIds: [] }

let people = 0

/** A fresh account that the service is connected to; usernames end in a number that no other test has. */
export const arranged = <R>(world: Effect.Effect<OutsideWorld, never, R>) =>
  Effect.fnUntraced(function*(account: Partial<NewSimulatedAccount> = {}) {
    const outside = yield* world
    const number = ++people
    const userId = yield* outside.createAccount({ phone: `4915550${10_000 + number}`, first_name: "Jane", ...account })
    const sessionRef = yield* outside.connect(userId)
    const messenger = yield* MessengerSession
    return { world: outside, number, userId, sessionRef, live: yield* messenger.open(sessionRef) }
  })

/** The profile as a session of its own sees it. */
export const seenBy = Effect.fnUntraced(function*(sessionRef: SessionRef) {
  const messenger = yield* MessengerSession
  return yield* Effect.scoped(Effect.flatMap(messenger.open(sessionRef), (live) => live.profile))
})

/** The failure of a call by its name. */
export const tagOf = (call: Effect.Effect<unknown, { readonly _tag: string }>) =>
  Effect.match(call, { onFailure: ({ _tag }) => _tag, onSuccess: () => "done" })

/** The sessions that a session lists, by their ids. */
export const listed = (live: LiveSession) =>
  Effect.map(
    live.authorizations,
    (all) => new Map(all.map((authorization) => [authorization.id as string, authorization]))
  )
