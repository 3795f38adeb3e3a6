import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { PasswordIncorrect } from "../../../domain/Failure.ts"
import * as Actor from "../../../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import {
  freeAddressFailures,
  freeNetworkFailures,
  freePasswordFailures,
  freeProviderFailures,
  freeStrangersFailures,
  knownBrowserLifetime,
  maxPasswordLength,
  passwordsAtOnce,
  passwordsOfLane,
  signInsAtOnce,
  signInsWaiting
} from "../../../domain/Limits.ts"
import { passwordReplaced } from "../../../domain/mail/AdminMails.ts"
import { addressGroup, addressShares, ipv6Networks } from "../../../domain/NetworkAddress.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { type AdminRef, type Attempt, ConsolePasswords, PasswordUnfit } from "../../../ports/signin/ConsolePasswords.ts"
import { PasswordHasher } from "../../crypto/signin/PasswordHasher.ts"
import { faultOf, normalized } from "../../crypto/signin/PasswordRule.ts"
import { makeFairTurns } from "../../FairTurns.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import { maySignInHere } from "./IdentityProviders.ts"
import { browserDigest, sessionsOf } from "./KnownBrowsers.ts"
import * as PasswordFailures from "./PasswordFailures.ts"
import { clear, countAll, type Counter, takeBack } from "./PasswordThrottle.ts"

interface AdminRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly password_hash: string | null
}

interface OwnRow {
  readonly email: string
  readonly password_changed_at: Date | null
}

interface FoundAdmin extends AdminRow {
  readonly known_browser: boolean
  readonly known_address: boolean
}

/**
 * The credentials that a new password ends besides keys: applications, all sessions but one, and all known browsers but
 * one.
 */
interface Ending {
  readonly disconnect: boolean
  readonly keptSession: string | null
  readonly keptBrowser: string | null
}

/** Names what is counted without holding what was typed, or whether anybody is meant. */
const named = (kind: string, ...parts: ReadonlyArray<string>): string =>
  `${kind}:${crypto.createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`

const refOf = ({ id, organization_id }: AdminRow): AdminRef => ({ organizationId: organization_id, adminId: id })

/** The counters of an attempt: its `own` counter starts again with the right password, the `others` lose one count. */
interface Counted {
  /** The key that a failure is kept under. */
  readonly whose: string
  readonly own: Counter
  readonly others: ReadonlyArray<Counter>
}

/** Passwords in the database, with the counters that sign-in, consent and key creation share. */
export const layer = Layer.effect(
  ConsolePasswords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const hasher = yield* PasswordHasher
    const journal = yield* Journal
    const outbox = yield* Outbox
    const lane = makeFairTurns({
      atOnce: passwordsAtOnce,
      ofLane: passwordsOfLane,
      ofGroup: signInsAtOnce,
      waiting: signInsWaiting
    })
    const known = lane()
    const strangers = lane()
    // A digest that belongs to no admin: an unknown address takes as long as a wrong password.
    const dummy = yield* Effect.cached(hasher.hash(Redacted.make(crypto.randomBytes(16).toString("base64"))))

    /** The text that a hash was made of: in one of the forms that keyboards give it, or as it was typed. */
    const matches = Effect.fnUntraced(function*(hash: string, password: Redacted.Redacted) {
      const text = Redacted.value(password)
      if ([...text].length > maxPasswordLength) return false
      const composed = normalized(text)
      if (yield* hasher.verify(hash, Redacted.make(composed))) return true
      return composed !== text && (yield* hasher.verify(hash, password))
    })

    const renew = Effect.fnUntraced(function*(admin: AdminRow, password: Redacted.Redacted) {
      const text = Redacted.value(password)
      if (admin.password_hash === null || hasher.isCurrent(admin.password_hash)) return
      const renewed = yield* hasher.hash(Redacted.make(normalized(text)))
      yield* Tenant.transaction(sql, admin.organization_id)(sql`
        update admin set password_hash = ${renewed}
        where organization_id = ${admin.organization_id} and id = ${admin.id}
          and password_hash = ${admin.password_hash}`)
    })

    const check = Effect.fnUntraced(function*(
      { others, own, whose }: Counted,
      admin: AdminRow | undefined,
      password: Redacted.Redacted,
      attempt: Attempt
    ) {
      // The address is checked first, so that no rows are stored for an address that has to wait.
      const counters = [...others.slice(0, 1), own, ...others.slice(1)]
      yield* countAll(sql, counters)
      const hash = admin?.password_hash ?? (yield* dummy)
      const right = yield* Effect.tapError(matches(hash, password), () => takeBack(sql, counters))
      if (!right || admin === undefined || admin.password_hash === null) {
        yield* PasswordFailures.record(sql, { key: whose, admin: admin === undefined ? null : refOf(admin) }, attempt)
        return yield* new PasswordIncorrect({})
      }
      yield* clear(sql, own)
      yield* takeBack(sql, others)
      yield* renew(admin, password)
      return refOf(admin)
    })

    const ofSignIn = (
      organization: string,
      email: string,
      admin: FoundAdmin | undefined,
      { browser, ip }: Attempt,
      now: number
    ): Counted => {
      const who = [organization, email.toLowerCase()]
      const whose = named("admin", ...who)
      if (admin?.known_browser === true && browser) {
        const own = { key: named("browser", ...who, browserDigest(browser)), free: freePasswordFailures }
        return { whose, own, others: [] }
      }
      const group = ip === null ? null : addressGroup(ip)
      const networks = ip === null ? null : ipv6Networks(ip)
      const today = new Date(now).toISOString().slice(0, 10)
      // At an address where the admin has signed in, others elsewhere cost no wait; as much is counted, in as much time.
      const shared = (kind: string, free: number, ...parts: ReadonlyArray<string>): Counter =>
        admin?.known_address === true
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
        // Keys of one family share a counter, or each further key would have guesses of its own.
        const family = kind === "api_key"
          ? sql`(select coalesce(root_id, api_key.id)::text from api_key
              where api_key.organization_id = ${organizationId} and api_key.id = ${id}::uuid)`
          : sql`null`
        const [admin] = yield* Tenant.transaction(sql, organizationId, { access: "read" })(
          sql<AdminRow & { readonly email: string; readonly family: string | null }>`
          select organization_id, id, email, password_hash, ${family} as family
          from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null`
        )
        if (admin === undefined) return yield* new PasswordIncorrect({})
        const asked = kind === "console"
          ? [adminId, yield* sessionsOf(sql, { adminId, organizationId }, id)]
          : [admin.family ?? id]
        const whose = named("admin", organizationId, admin.email.toLowerCase())
        const own = { key: named("again", organizationId, kind, ...asked), free: freePasswordFailures }
        yield* known([organizationId, own.key])(check({ whose, own, others: [] }, admin, password, attempt))
      }
    )

    const hash: ConsolePasswords["Service"]["hash"] = Effect.fnUntraced(function*(owner, password) {
      const fault = yield* faultOf(Redacted.value(password), owner)
      if (fault !== null) return yield* new PasswordUnfit({ message: fault })
      return Redacted.make(yield* hasher.hash(Redacted.make(normalized(Redacted.value(password)))))
    })

    /** Ends what was opened with the password before. */
    const endBefore = Effect.fnUntraced(function*(
      { adminId, organizationId }: AdminRef,
      at: Date,
      { disconnect, keptBrowser, keptSession }: Ending
    ) {
      const ended = {
        api_keys: yield* Endings.endKeys(sql, organizationId, adminId, at),
        connections: disconnect ? yield* Endings.endConnections(sql, organizationId, adminId, at) : 0,
        sessions: yield* Endings.endSessions(sql, organizationId, adminId, keptSession)
      }
      yield* Endings.forgetBrowsers(sql, organizationId, adminId, keptBrowser)
      yield* Endings.endResets(sql, organizationId, adminId)
      return ended
    })

    return ConsolePasswords.of({
      verify,
      hash,

      set: Effect.fnUntraced(function*(admin, hashed, now) {
        const { adminId, organizationId } = admin
        yield* Endings.lockConnections(sql, organizationId, adminId)
        yield* post(sql`
          update admin set password_hash = ${Redacted.value(hashed)}, password_changed_at = ${now},
            joined_at = coalesce(joined_at, ${now}::timestamptz), invitation_digest = null,
            invitation_pepper_id = null
          where organization_id = ${organizationId} and id = ${adminId}`)
        return yield* endBefore(admin, now, { disconnect: true, keptSession: null, keptBrowser: null })
      }),

      change: Effect.fnUntraced(function*(caller, { browser, current, disconnect, next }) {
        const { adminId, organizationId } = caller
        const [known] = yield* Tenant.transaction(sql, organizationId)(sql<OwnRow>`
          select email, password_changed_at from admin
          where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null`)
        if (known === undefined) return yield* new PasswordIncorrect({})
        yield* verify(caller, current, caller)
        const hashed = yield* hash({ organizationId, email: known.email }, next)
        const at = new Date(yield* Clock.currentTimeMillis)
        const changed = yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          if (disconnect) yield* Endings.lockConnections(sql, organizationId, adminId)
          // A password that was set in the meantime stays.
          const set = yield* sql`
            update admin set password_hash = ${Redacted.value(hashed)}, password_changed_at = ${at}
            where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
              and password_changed_at is not distinct from ${known.password_changed_at}::timestamptz
            returning id`
          if (set.length === 0) return false
          const ended = yield* endBefore({ organizationId, adminId }, at, {
            disconnect,
            keptSession: caller.credential.id,
            keptBrowser: browser === null ? null : browserDigest(browser)
          })
          yield* journal.append(
            organizationId,
            journalEntry(Actor.caller(caller), caller, journalAction("admin.password_set"), {
              targetId: adminId,
              details: ended
            })
          )
          yield* outbox.add(organizationId, "event", passwordReplaced({ adminId, at, ip: caller.ip }))
          return true
        }))
        if (!changed) return yield* new PasswordIncorrect({})
      }),

      identify: Effect.fnUntraced(function*(organization, email, password, attempt) {
        const now = yield* Clock.currentTimeMillis
        const since = new Date(now - Duration.toMillis(knownBrowserLifetime))
        const digest = attempt.browser ? browserDigest(attempt.browser) : null
        const group = attempt.ip === null ? null : addressGroup(attempt.ip)
        const of = sql`known_browser.organization_id = admin.organization_id and admin_id = admin.id
          and last_used_at > ${since}`
        // PostgreSQL has no text with a NUL in it, and so no admin of such a name.
        const find = `${organization}${email}`.includes("\u0000")
          ? Effect.succeed([])
          : Tenant.directory(sql)(sql<FoundAdmin>`
            select organization_id, id, password_hash,
              exists (select 1 from known_browser where ${of} and digest = ${digest}) as known_browser,
              exists (select 1 from known_browser where ${of} and address = ${group}) as known_address
            from admin
            where organization_id = ${organization} and lower(email collate "C") = ${email.toLowerCase()}
              and disabled_at is null and removed_at is null and joined_at is not null
              and ${maySignInHere(sql)}`)
        const [admin] = yield* find
        const counted = ofSignIn(organization, email, admin, attempt, now)
        const turn = admin?.known_browser === true
          ? known([admin.organization_id, counted.own.key])
          : strangers(attempt.ip === null ? [] : addressShares(attempt.ip))
        return yield* turn(check(counted, admin, password, attempt))
      })
    })
  })
)
