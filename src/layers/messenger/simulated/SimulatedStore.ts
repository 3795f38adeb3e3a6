/** The state of the simulated platform, and the store that keeps it. */
import { Context, Effect, Layer, Semaphore } from "effect"
import type {
  Authorization,
  AuthorizationId,
  MessengerUserId,
  Profile,
  SessionEnd,
  SessionRef
} from "../../../domain/messenger/Messenger.ts"
import type { CodeChannel } from "../../../ports/messenger/MessengerLogin.ts"
import type { PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import { usernameKey } from "./PlatformRules.ts"
import {
  callsKept,
  type HeldAccount,
  type PlatformCall,
  type PlatformOperation,
  type ScriptedAnswer
} from "./SimulatedPlatform.ts"

/** The purpose of an address. */
export type AddressKind = "recovery" | "login"

/** A code that waits to be entered. */
export interface SentCode {
  readonly pattern: string
  readonly code: string
  /** In milliseconds since 1970. */
  readonly until: number
  readonly attemptsLeft: number
}

/** An account of the platform with its security settings. */
export interface SimulatedAccount extends Profile {
  readonly two_fa_digest: string | null
  /** Counts the changes of the password: each has a salt of its own. */
  readonly two_fa_version: number
  readonly two_fa_hint: string | null
  readonly login_email_pattern: string | null
  readonly recovery_email_pattern: string | null
  readonly recovery_pending_pattern: string | null
  readonly reset_at: Date | null
  /** The codes that were sent to addresses, by what they are to become. */
  readonly email_codes: { readonly [Kind in AddressKind]?: SentCode | undefined }
  readonly passkey_ids: ReadonlyArray<string>
  /** The way that the account ended. */
  readonly ended: "deleted" | "banned" | null
  /** No events about signed-in devices are sent. */
  readonly unreachable: boolean
  /** Its sessions stay as they are. */
  readonly frozen: boolean
}

/** A device signed in to an account. */
export interface SimulatedAuthorization extends Omit<Authorization, "current"> {
  readonly user_id: MessengerUserId
  /** Set on the service's own. */
  readonly session_ref: SessionRef | null
  /** The id under which it is shown to itself. */
  readonly shown_as: AuthorizationId
  /** The start of its age; `created_at` is what the platform reports. */
  readonly signed_in_at: Date
  /** The place where the service uses its key. */
  readonly place: string | null
}

/** A login of the service that is under way. */
export interface SimulatedLogin {
  readonly session_ref: SessionRef
  readonly user_id: MessengerUserId
  readonly phone: string
  readonly code: string
  readonly channel: Exclude<CodeChannel, "other">
  readonly sent_at: Date
  /** The time that the next code may be requested, and the time that this one expires. */
  readonly resend_at: Date
  readonly expires_at: Date
  /** Wrong entries that are left. */
  readonly codes_left: number
  readonly passwords_left: number
}

/** A script as it is kept. */
export interface StoredScript {
  readonly number: number
  readonly user_id: MessengerUserId | null
  readonly operation: PlatformOperation | null
  readonly answer: ScriptedAnswer
  readonly remaining: number
}

const newestFirst = (a: SimulatedAuthorization, b: SimulatedAuthorization): number =>
  b.signed_in_at.getTime() - a.signed_in_at.getTime() || (a.id < b.id ? -1 : 1)

/**
 * Where the simulated platform keeps its state; failures of the storage are defects, except those that `reached`
 * reports.
 */
export class SimulatedStore extends Context.Service<SimulatedStore, {
  /** Runs the effect while no other change of the platform runs; all of its changes are kept, or none. */
  exclusively<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  /**
   * Fails if the storage is unavailable, like an unavailable platform; whether the effect has happened is then unknown.
   */
  reached<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | PlatformUnavailable, R>
  /** Dies when the caller has a database transaction open: it would stay open while the platform is slow. */
  readonly outsideTransaction: Effect.Effect<void>
  /** A number that was never given before. */
  readonly nextNumber: Effect.Effect<number>
  authorizationOf(sessionRef: SessionRef): Effect.Effect<SimulatedAuthorization | null>
  account(userId: MessengerUserId): Effect.Effect<SimulatedAccount | null>
  usernameHolder(username: string): Effect.Effect<MessengerUserId | null>
  /** Adds or replaces the account; a phone number that another account has is a defect. */
  saveAccount(account: SimulatedAccount): Effect.Effect<void>
  /** The account's authorizations, newest first. */
  authorizations(userId: MessengerUserId): Effect.Effect<ReadonlyArray<SimulatedAuthorization>>
  /** Adds or replaces the authorization. */
  saveAuthorization(authorization: SimulatedAuthorization): Effect.Effect<void>
  /** Removes the authorizations; the service's own are known as ended for that reason from then on. */
  endAuthorizations(authorizations: ReadonlyArray<SimulatedAuthorization>, reason: SessionEnd): Effect.Effect<void>
  accountOfPhone(phone: string): Effect.Effect<SimulatedAccount | null>
  login(sessionRef: SessionRef): Effect.Effect<SimulatedLogin | null>
  /** Adds or replaces the login. */
  saveLogin(login: SimulatedLogin): Effect.Effect<void>
  endLogin(sessionRef: SessionRef): Effect.Effect<void>
  /** The logins whose code runs out after `now`, the oldest first. */
  logins(now: Date): Effect.Effect<ReadonlyArray<SimulatedLogin>>
  /** The accounts with codes that were sent to addresses, by their number. */
  readonly withEmailCodes: Effect.Effect<ReadonlyArray<Pick<SimulatedAccount, "email_codes" | "phone">>>
  /** The way that a session of the service ended. */
  ended(sessionRef: SessionRef): Effect.Effect<SessionEnd | null>
  /** The accounts that the service has a session of, but for those that are frozen or unreachable. */
  readonly connected: Effect.Effect<ReadonlyArray<HeldAccount>>
  isForSale(username: string): Effect.Effect<boolean>
  offerForSale(username: string): Effect.Effect<void>
  addScript(script: Omit<StoredScript, "number">): Effect.Effect<void>
  /** The oldest script that matches the call. */
  nextScript(userId: MessengerUserId | null, operation: PlatformOperation): Effect.Effect<StoredScript | null>
  /** Uses the script up by one call. */
  useScript(script: StoredScript): Effect.Effect<void>
  readonly clearScripts: Effect.Effect<void>
  addCall(call: PlatformCall): Effect.Effect<void>
  readonly calls: Effect.Effect<ReadonlyArray<PlatformCall>>
}>()("org-security-console/layers/messenger/simulated/SimulatedStore") {
  /** Keeps the state in the process. */
  static readonly layerMemory = Layer.effect(
    SimulatedStore,
    Effect.gen(function*() {
      const permit = yield* Semaphore.make(1)
      const accounts = new Map<MessengerUserId, SimulatedAccount>()
      const holders = new Map<string, MessengerUserId>()
      const phones = new Map<string, MessengerUserId>()
      const forSale = new Set<string>()
      const sessions = new Map<SessionRef, SimulatedAuthorization>()
      const authorizations = new Map<MessengerUserId, ReadonlyArray<SimulatedAuthorization>>()
      const ended = new Map<SessionRef, SessionEnd>()
      const logins = new Map<SessionRef, SimulatedLogin>()
      let scripts: ReadonlyArray<StoredScript> = []
      let calls: Array<PlatformCall> = []
      let number = 0

      return SimulatedStore.of({
        exclusively: (effect) => permit.withPermit(Effect.uninterruptible(effect)),
        reached: (effect) => effect,
        outsideTransaction: Effect.void,
        nextNumber: Effect.sync(() => ++number),
        authorizationOf: (sessionRef) => Effect.sync(() => sessions.get(sessionRef) ?? null),
        account: (userId) => Effect.sync(() => accounts.get(userId) ?? null),
        usernameHolder: (username) => Effect.sync(() => holders.get(usernameKey(username)) ?? null),
        saveAccount: (account) =>
          Effect.suspend(() => {
            const before = accounts.get(account.user_id)
            if ((phones.get(account.phone ?? "") ?? account.user_id) !== account.user_id) {
              return Effect.die(new Error("Another account has this phone number."))
            }
            if (before !== undefined) phones.delete(before.phone ?? "")
            if (account.phone !== null) phones.set(account.phone, account.user_id)
            if (before !== undefined && before.username !== null) holders.delete(usernameKey(before.username))
            if (account.username !== null) holders.set(usernameKey(account.username), account.user_id)
            accounts.set(account.user_id, account)
            return Effect.void
          }),
        authorizations: (userId) => Effect.sync(() => authorizations.get(userId) ?? []),
        saveAuthorization: (authorization) =>
          Effect.sync(() => {
            const others = (authorizations.get(authorization.user_id) ?? []).filter(({ id }) => id !== authorization.id)
            authorizations.set(authorization.user_id, [...others, authorization].sort(newestFirst))
            if (authorization.session_ref !== null) sessions.set(authorization.session_ref, authorization)
          }),
        endAuthorizations: (gone, reason) =>
          Effect.sync(() => {
            for (const { id, session_ref, user_id } of gone) {
              authorizations.set(user_id, (authorizations.get(user_id) ?? []).filter((other) => other.id !== id))
              if (session_ref === null) continue
              sessions.delete(session_ref)
              ended.set(session_ref, reason)
            }
          }),
        accountOfPhone: (phone) =>
          Effect.sync(() => {
            const holder = phones.get(phone)
            return holder === undefined ? null : accounts.get(holder) ?? null
          }),
        login: (sessionRef) => Effect.sync(() => logins.get(sessionRef) ?? null),
        saveLogin: (login) => Effect.sync(() => void logins.set(login.session_ref, login)),
        endLogin: (sessionRef) => Effect.sync(() => void logins.delete(sessionRef)),
        logins: (now) => Effect.sync(() => [...logins.values()].filter(({ expires_at }) => expires_at > now)),
        withEmailCodes: Effect.sync(() =>
          [...accounts.values()].filter(({ email_codes }) =>
            Object.values(email_codes).some((sent) => sent !== undefined)
          )
        ),
        ended: (sessionRef) => Effect.sync(() => ended.get(sessionRef) ?? null),
        connected: Effect.sync(() =>
          [...accounts.values()].flatMap(({ frozen, phone, unreachable, user_id }) => {
            const all = authorizations.get(user_id) ?? []
            if (frozen || unreachable || !all.some(({ session_ref }) => session_ref !== null)) return []
            const unconfirmed = all.filter((authorization) => authorization.unconfirmed).length
            return [{ userId: user_id, phone, unconfirmed }]
          })
        ),
        isForSale: (username) => Effect.sync(() => forSale.has(usernameKey(username))),
        offerForSale: (username) => Effect.sync(() => void forSale.add(usernameKey(username))),
        addScript: (script) =>
          Effect.sync(() => {
            scripts = [...scripts, { ...script, number: ++number }]
          }),
        nextScript: (userId, operation) =>
          Effect.sync(() =>
            scripts.find((script) =>
              (script.user_id === null || script.user_id === userId) &&
              (script.operation === null || script.operation === operation)
            ) ?? null
          ),
        useScript: (used) =>
          Effect.sync(() => {
            scripts = scripts.flatMap((script) => {
              if (script.number !== used.number) return [script]
              return script.remaining > 1 ? [{ ...script, remaining: script.remaining - 1 }] : []
            })
          }),
        clearScripts: Effect.sync(() => {
          scripts = []
        }),
        addCall: (call) =>
          Effect.sync(() => {
            calls.push(call)
            if (calls.length > 2 * callsKept) calls = calls.slice(-callsKept)
          }),
        calls: Effect.sync(() => calls.slice(-callsKept))
      })
    })
  )
}
