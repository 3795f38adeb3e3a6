/** A live session of the messenger that answers nothing. */
import { Effect, Stream } from "effect"

import type { LiveSession, MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"

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
  setRecoveryEmail: () => Effect.never,
  confirmRecoveryEmail: () => Effect.never,
  cancelRecoveryEmail: Effect.never,
  removeRecoveryEmail: () => Effect.never,
  startLoginEmail: () => Effect.never,
  confirmLoginEmail: () => Effect.never,
  addPasskey: () => Effect.never,
  removePasskey: () => Effect.never,
  pair: () => Effect.never,
  events: Stream.never,
  logOut: Effect.never
}

/** Logins that nobody answers. */
export const silentLogins: Omit<MessengerSession["Service"], "open"> = {
  forget: () => Effect.void,
  begin: () => Effect.never,
  resend: () => Effect.never,
  submitCode: () => Effect.never,
  submitPassword: () => Effect.never,
  cancel: () => Effect.never,
  resolve: () => Effect.never
}
