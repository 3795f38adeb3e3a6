/** A live session of the messenger that answers nothing. */
import { Effect, Stream } from "effect"
import type { LiveSession } from "../../src/ports/MessengerSession.ts"

export const silentSession: LiveSession = {
  profile: Effect.never,
  security: () => Effect.never,
  updateProfile: () => Effect.never,
  setUsername: () => Effect.never,
  authorizations: Effect.never,
  signOut: () => Effect.never,
  confirm: () => Effect.never,
  checkPassword: () => Effect.never,
  setPassword: () => Effect.never,
  removePassword: () => Effect.never,
  events: Stream.never,
  logOut: Effect.never
}
