/** Console passwords: throttles before work, and the same work for a wrong password of nobody. */
import { Effect, Layer, Redacted } from "effect"
import { PasswordIncorrect } from "../domain/Failure.ts"
import * as Actor from "../domain/journal/Actor.ts"
import {
  freeAddressFailures,
  freeNetworkFailures,
  freePasswordFailures,
  freeProviderFailures,
  freeStrangersFailures,
  knownBrowserLifetime,
  passwordsAtOnce,
  passwordsOfLane,
  signInsAtOnce,
  signInsWaiting
} from "../domain/Limits.ts"
import { passwordReplaced } from "../domain/mail/AdminMails.ts"
import { before, now } from "../domain/Moments.ts"
import { addressGroup, addressShares, ipv6Networks } from "../domain/NetworkAddress.ts"
import { CredentialEndings } from "../ports/credentials/CredentialEndings.ts"
import { Db } from "../ports/Db.ts"
import { type AdminPassword, AdminPasswords, type FoundPassword } from "../ports/signin/AdminPasswords.ts"
import type { Counter } from "../ports/signin/AttemptCounters.ts"
import { type AdminRef, type Attempt, ConsolePasswords, PasswordUnfit } from "../ports/signin/ConsolePasswords.ts"
import { ConsoleSessionRecords } from "../ports/signin/ConsoleSessionRecords.ts"
import { FailedPasswords } from "../ports/signin/FailedPasswords.ts"
import { PasswordHashes } from "../ports/signin/PasswordHashes.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { makeFairTurns } from "./FairTurns.ts"
import { recorder } from "./SignInEntries.ts"
import { throttle } from "./Throttle.ts"

/**
 * The credentials that a new password ends besides keys: applications, all sessions but one, and all known browsers but
 * one.
 */
interface Ending {
  readonly disconnect: boolean
  readonly keptSession: string | null
  readonly keptBrowser: string | null
}

/** The counters of an attempt: its `own` counter starts again with the right password, the `others` lose one count. */
interface AttemptCount {
  /** The key that a failure is kept under. */
  readonly whose: string
  readonly own: Counter
  readonly others: ReadonlyArray<Counter>
}

/** Passwords with the counters that sign-in, consent and key creation share. */
export const layer = Layer.effect(
  ConsolePasswords,
  Effect.gen(function*() {
    const db = yield* Db
    const passwords = yield* AdminPasswords
    const endings = yield* CredentialEndings
    const failed = yield* FailedPasswords
    const hashes = yield* PasswordHashes
    const sessions = yield* ConsoleSessionRecords
    const { digest, newSecret } = yield* SignInSecrets
    const { clear, count, named, takeBack } = yield* throttle
    const record = yield* recorder
    const lane = makeFairTurns({
      atOnce: passwordsAtOnce,
      ofLane: passwordsOfLane,
      ofGroup: signInsAtOnce,
      waiting: signInsWaiting
    })
    const known = lane()
    const strangers = lane()
    // A digest that belongs to no admin: an unknown address takes as long as a wrong password.
    const dummy = yield* Effect.cached(Effect.flatMap(newSecret, (text) => hashes.hash(Redacted.make(text))))

    const digestOf = (browser: Redacted.Redacted | null | undefined) => browser ? digest(Redacted.value(browser)) : null

    const renew = Effect.fnUntraced(function*(admin: AdminPassword, password: Redacted.Redacted) {
      if (admin.hash === null || hashes.isCurrent(admin.hash)) return
      const renewed = yield* hashes.hash(password)
      yield* db.transaction(admin.organizationId, passwords.rehash(admin, renewed))
    })

    const check = Effect.fnUntraced(function*(
      { others, own, whose }: AttemptCount,
      admin: AdminPassword | undefined,
      password: Redacted.Redacted,
      attempt: Attempt
    ) {
      // The address is checked first, so that no rows are stored for an address that has to wait.
      const counters = [...others.slice(0, 1), own, ...others.slice(1)]
      yield* count(counters)
      const hash = admin?.hash ?? (yield* dummy)
      const right = yield* Effect.tapError(hashes.verify(hash, password), () => takeBack(counters))
      const ref = admin === undefined ? null : { organizationId: admin.organizationId, adminId: admin.adminId }
      if (!right || admin === undefined || ref === null || admin.hash === null) {
        yield* failed.add({ key: whose, admin: ref }, attempt, yield* now)
        return yield* new PasswordIncorrect({})
      }
      yield* clear(own)
      yield* takeBack(others)
      yield* renew(admin, password)
      return ref
    })

    const ofSignIn = (
      organization: string,
      email: string,
      admin: FoundPassword | undefined,
      { browser, ip }: Attempt,
      at: Date
    ): AttemptCount => {
      const who = [organization, email.toLowerCase()]
      const whose = named("admin", ...who)
      const ownBrowser = digestOf(browser)
      if (admin?.knownBrowser === true && ownBrowser !== null) {
        return { whose, own: { key: named("browser", ...who, ownBrowser), free: freePasswordFailures }, others: [] }
      }
      const group = ip === null ? null : addressGroup(ip)
      const networks = ip === null ? null : ipv6Networks(ip)
      const today = at.toISOString().slice(0, 10)
      // At an address where the admin has signed in, others elsewhere cost no wait; as much is counted, in as much time.
      const shared = (kind: string, free: number, ...parts: ReadonlyArray<string>): Counter =>
        admin?.knownAddress === true
          ? { key: named(`${kind} at home`, ...who, group ?? "nowhere"), free }
          : { key: named(kind, ...parts), free }
      return {
        whose,
        own: { key: named("pair", ...who, group ?? "nowhere"), free: freePasswordFailures },
        others: [
          ...(group === null ? [] : [{ key: named("address", group), free: freeAddressFailures }]),
          ...(networks === null ? [] : [
            shared("network", freeNetworkFailures, networks[0], today),
            shared("provider", freeProviderFailures, networks[1], today)
          ]),
          shared("strangers", freeStrangersFailures, ...who)
        ]
      }
    }

    const verify: ConsolePasswords["Service"]["verify"] = Effect.fnUntraced(
      function*({ adminId, organizationId }, password, attempt) {
        const { id, kind } = attempt.credential ?? { kind: "admin", id: adminId }
        const ref = { adminId, organizationId }
        // Keys of one family share a counter, or each further key would have guesses of its own.
        const admin = yield* db.read(organizationId, passwords.own(ref, kind === "api_key" ? id : null))
        if (admin === undefined) return yield* new PasswordIncorrect({})
        // Sessions of browsers that were known long before have a counter apart, which nobody else reaches quickly.
        const asked = kind === "console"
          ? [adminId, (yield* db.read(organizationId, sessions.isLongKnown(ref, id))) ? "known" : "new"]
          : [admin.family ?? id]
        const whose = named("admin", organizationId, admin.email.toLowerCase())
        const own = { key: named("again", organizationId, kind, ...asked), free: freePasswordFailures }
        yield* known([organizationId, own.key])(check({ whose, own, others: [] }, admin, password, attempt))
      }
    )

    const hash: ConsolePasswords["Service"]["hash"] = Effect.fnUntraced(function*(owner, password) {
      const fault = yield* hashes.faultOf(password, owner)
      return fault === null ? yield* hashes.hash(password) : yield* new PasswordUnfit({ message: fault })
    })

    /** Ends the credentials of the password before. */
    const endBefore = Effect.fnUntraced(
      function*(admin: AdminRef, at: Date, { disconnect, keptBrowser, keptSession }: Ending) {
        const ended = {
          api_keys: yield* endings.endKeys(admin, at),
          connections: disconnect ? yield* endings.endConnections(admin, at) : 0,
          sessions: yield* endings.endSessions(admin, keptSession)
        }
        yield* endings.forgetBrowsers(admin, keptBrowser)
        yield* endings.endResets(admin)
        return ended
      }
    )

    return ConsolePasswords.of({
      verify,
      hash,

      set: Effect.fnUntraced(function*(admin, hashed, at) {
        yield* endings.lockConnections(admin)
        yield* passwords.set(admin, hashed, at)
        return yield* endBefore(admin, at, { disconnect: true, keptSession: null, keptBrowser: null })
      }),

      change: Effect.fnUntraced(function*(caller, { browser, current, disconnect, next }) {
        const { adminId, organizationId } = caller
        const admin = { organizationId, adminId }
        const own = yield* db.transaction(organizationId, passwords.own(admin, null))
        if (own === undefined) return yield* new PasswordIncorrect({})
        yield* verify(caller, current, caller)
        const hashed = yield* hash({ organizationId, email: own.email }, next)
        const at = yield* now
        const changed = yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            if (disconnect) yield* endings.lockConnections(admin)
            // A password that was set in the meantime stays.
            if (!(yield* passwords.replace(admin, hashed, own.changedAt, at))) return false
            const ended = yield* endBefore(admin, at, {
              disconnect,
              keptSession: caller.credential.id,
              keptBrowser: digestOf(browser)
            })
            const mail = passwordReplaced({ adminId, at, ip: caller.ip })
            yield* record(Actor.caller(caller), admin, caller, "admin.password_set", ended, mail)
            return true
          })
        )
        if (!changed) return yield* new PasswordIncorrect({})
      }),

      identify: Effect.fnUntraced(function*(organization, email, password, attempt) {
        const at = yield* now
        const { browser, ip } = attempt
        const admin = yield* passwords.find(organization, email, {
          browser: digestOf(browser),
          address: ip === null ? null : addressGroup(ip),
          since: before(at, knownBrowserLifetime)
        })
        const counted = ofSignIn(organization, email, admin, attempt, at)
        const turn = admin?.knownBrowser === true
          ? known([admin.organizationId, counted.own.key])
          : strangers(ip === null ? [] : addressShares(ip))
        return yield* turn(check(counted, admin, password, attempt))
      })
    })
  })
)
