import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import * as Actor from "../../../domain/journal/Actor.ts"
import { factorRemembered } from "../../../domain/Limits.ts"
import * as Mails from "../../../domain/mail/AdminMails.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import type { SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import {
  type FactorState,
  type FactorSubject,
  type KeptFactor,
  SecondFactorIncorrect,
  SecondFactorNeeded,
  SecondFactors
} from "../../../ports/signin/SecondFactors.ts"
import * as Passkeys from "../../crypto/signin/Passkeys.ts"
import * as Tickets from "../../crypto/signin/Tickets.ts"
import * as Totp from "../../crypto/signin/Totp.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import * as CodeThrottle from "./CodeThrottle.ts"
import * as FactorChanges from "./FactorChanges.ts"
import * as Factors from "./Factors.ts"
import { done, tools } from "./FactorTools.ts"
import { sessionsOf } from "./KnownBrowsers.ts"
import { clear } from "./PasswordThrottle.ts"

/** The admin of a session, to whom questions in it are put. */
const holderOf = ({ adminId, adminName, email, organizationId, sessionId }: SignedIn): FactorSubject => ({
  organizationId,
  adminId,
  adminName,
  email,
  subject: sessionId
})

const instant = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** Second factors in the database. */
export const layer = Layer.effect(
  SecondFactors,
  Effect.gen(function*() {
    const { challenge, left, random, record, recordCodeUse, secrets, sql } = yield* tools

    const passkeysAt = (admin: AdminRef, { id }: Passkeys.Party) =>
      Tenant.transaction(sql, admin.organizationId, { access: "read" })(sql<Passkeys.PasskeyDescriptor>`
        select credential_id as id, transports from passkey
        where organization_id = ${admin.organizationId} and admin_id = ${admin.adminId} and rp_id = ${id}
        order by created_at`)

    /** Ends what was begun without the change: the admin's other sessions, and sign-ins that wait. */
    const endOthers = ({ adminId, organizationId, sessionId }: SignedIn) =>
      Endings.endSessions(sql, organizationId, adminId, sessionId)

    const nameOf = Effect.fnUntraced(function*({ adminId, organizationId }: SignedIn, factor: KeptFactor) {
      if (factor.kind === "totp") return "authenticator app"
      const [found] = yield* Effect.orDie(sql<{ name: string }>`
        select name from passkey
        where organization_id = ${organizationId} and admin_id = ${adminId} and id = ${factor.id}`)
      return found === undefined ? null : `passkey “${found.name}”`
    })

    const isRequired = ({ organizationId }: AdminRef) =>
      sql<{ required: boolean }>`
        select requires_second_factor as required from organization where id = ${organizationId}`.pipe(
        Effect.orDie,
        Effect.map(([row]) => row?.required ?? false)
      )

    return SecondFactors.of({
      state: Effect.fnUntraced(function*(admin) {
        const { adminId, organizationId } = admin
        const of = sql`organization_id = ${organizationId} and admin_id = ${adminId}`
        return yield* Tenant.transaction(sql, organizationId, { access: "read" })(Effect.gen(function*() {
          const [app] = yield* sql<{ at: Date }>`select created_at as at from totp where ${of}`
          const passkeys = yield* sql<FactorState["passkeys"][number]>`
            select id, name, created_at as "createdAt", last_used_at as "lastUsedAt", backed_up as "backedUp",
              rp_id as host
            from passkey where ${of} order by created_at, id`
          const state: FactorState = {
            totp: app?.at ?? null,
            passkeys,
            recoveryCodes: yield* left(admin),
            required: yield* isRequired(admin)
          }
          return state
        }))
      }),

      remembered: Effect.fnUntraced(function*({ adminId, organizationId, sessionId }) {
        const since = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(factorRemembered))
        const [row] = yield* Tenant.transaction(sql, organizationId, { access: "read" })(
          sql<{ remembered: boolean }>`
            select not ${Factors.hasOne(sql)} or coalesce(factor_at > ${since}, false) as remembered
            from admin join console_session on console_session.organization_id = admin.organization_id
              and admin_id = admin.id and console_session.id = ${sessionId}
            where admin.organization_id = ${organizationId} and admin.id = ${adminId}`
        )
        return row?.remembered ?? false
      }),

      ask: Effect.fnUntraced(function*(holder, site) {
        const party = Passkeys.partyOf(site)
        const known = party === null ? [] : yield* passkeysAt(holder, party)
        if (party === null || known.length === 0) return null
        const made = yield* challenge
        const now = yield* Clock.currentTimeMillis
        return {
          ticket: Tickets.write(secrets.keys, Factors.questionOf(holder.subject, party), made, now),
          options: yield* Passkeys.request(party, made, known)
        }
      }),

      confirm: Effect.fnUntraced(function*(admin, answer, visit) {
        const { adminId, organizationId, sessionId } = admin
        const sessions = yield* sessionsOf(sql, admin, sessionId)
        const counter = answer.kind === "code"
          ? CodeThrottle.counterOf("again", organizationId, adminId, sessions)
          : null
        if (counter !== null) yield* CodeThrottle.count(sql, counter)
        const now = yield* instant
        const where = { subject: sessionId, party: Passkeys.partyOf(visit.site) }
        const factor = yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const factor = (yield* FactorChanges.lock(sql, admin))
            ? yield* Factors.use(sql, secrets, admin, answer, where, now)
            : null
          if (factor === null) {
            yield* record(
              Actor.signedIn(admin),
              admin,
              visit,
              "second_factor.failed",
              { signed_in: true },
              null
            )
            return null
          }
          if (factor === "recovery_code") yield* recordCodeUse(Actor.signedIn(admin), admin, visit, now)
          yield* Tenant.post(sql)(sql`
            update console_session set factor = ${factor}, factor_at = ${now}
            where organization_id = ${organizationId} and id = ${sessionId}`)
          return factor
        }))
        if (factor === null) {
          return yield* new SecondFactorIncorrect({
            message: answer.kind === "code"
              ? "This code is incorrect, or was used before."
              : "This passkey is not one of yours, or this took too long: try again."
          })
        }
        if (counter !== null) yield* clear(sql, counter)
      }),

      newApp: Effect.fnUntraced(function*({ email, subject }) {
        const secret = yield* Totp.secretOf(Uint8Array.from(yield* random.randomBytes(Totp.secretBytes)))
        const now = yield* Clock.currentTimeMillis
        return {
          secret,
          address: yield* Totp.addressOf(secret, "Security Console", email),
          ticket: Tickets.write(secrets.keys, FactorChanges.newAppOf(subject), Redacted.value(secret), now)
        }
      }),

      newPasskey: Effect.fnUntraced(function*(holder, site) {
        const party = Passkeys.partyOf(site)
        if (party === null) return null
        const made = yield* challenge
        const now = yield* Clock.currentTimeMillis
        return {
          ticket: Tickets.write(secrets.keys, FactorChanges.newPasskeyOf(holder.subject, party), made, now),
          options: yield* Passkeys.creation(party, made, holder, yield* passkeysAt(holder, party))
        }
      }),

      add: Effect.fnUntraced(function*(admin, factor, visit) {
        const now = yield* instant
        const proved = yield* FactorChanges.prove(secrets, holderOf(admin), Passkeys.partyOf(visit.site), factor, now)
        return yield* Tenant.transaction(sql, admin.organizationId)(Effect.gen(function*() {
          if (!(yield* FactorChanges.lock(sql, admin))) {
            return yield* new SecondFactorIncorrect({ message: "You are not an admin any more." })
          }
          const first = !(yield* FactorChanges.has(sql, admin))
          yield* FactorChanges.store(sql, secrets, random, admin, proved, now)
          const codes = first ? yield* FactorChanges.makeCodes(sql, secrets, random, admin, now) : null
          // Proving a new factor counts as giving one.
          yield* Tenant.post(sql)(sql`
            update console_session set factor = ${factor.kind}, factor_at = ${now}
            where organization_id = ${admin.organizationId} and id = ${admin.sessionId}`)
          const sessions = yield* endOthers(admin)
          yield* record(
            Actor.signedIn(admin),
            admin,
            visit,
            "second_factor.added",
            { factor: proved.named, sessions },
            Mails.secondFactorAdded({ ...done(admin, visit, now), factor: proved.named })
          )
          return codes
        }))
      }),

      remove: Effect.fnUntraced(function*(admin, factor, visit) {
        const { adminId, organizationId } = admin
        const now = yield* instant
        return yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          if (!(yield* FactorChanges.lock(sql, admin))) return false
          const name = yield* nameOf(admin, factor)
          const removed = factor.kind === "totp"
            ? yield* sql`
              delete from totp where organization_id = ${organizationId} and admin_id = ${adminId} returning 1`
            : yield* sql`
              delete from passkey
              where organization_id = ${organizationId} and admin_id = ${adminId} and id = ${factor.id} returning 1`
          if (removed.length === 0 || name === null) return false
          if (!(yield* FactorChanges.has(sql, admin))) {
            if (yield* isRequired(admin)) {
              return yield* new SecondFactorNeeded({
                message: "Your organization requires a second factor, and this is your last one: add another one first."
              })
            }
            yield* FactorChanges.removeAll(sql, admin)
          }
          const sessions = yield* endOthers(admin)
          yield* record(
            Actor.signedIn(admin),
            admin,
            visit,
            "second_factor.removed",
            { factor: name, sessions },
            Mails.secondFactorRemoved({ ...done(admin, visit, now), factor: name })
          )
          return true
        }))
      }),

      renewCodes: Effect.fnUntraced(function*(admin, visit) {
        const now = yield* instant
        return yield* Tenant.transaction(sql, admin.organizationId)(Effect.gen(function*() {
          const held = yield* FactorChanges.lock(sql, admin)
          if (!held || !(yield* FactorChanges.has(sql, admin))) {
            return yield* new SecondFactorNeeded({
              message: "Recovery codes stand in for a second factor: add one first."
            })
          }
          const codes = yield* FactorChanges.makeCodes(sql, secrets, random, admin, now)
          yield* record(
            Actor.signedIn(admin),
            admin,
            visit,
            "recovery_codes.renewed",
            {},
            Mails.recoveryCodesRenewed(done(admin, visit, now))
          )
          return codes
        }))
      }),

      require: Effect.fnUntraced(function*(owner, required, visit) {
        const { organizationId } = owner
        yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const held = yield* sql`
            select 1 from admin
            where organization_id = ${organizationId} and id = ${owner.adminId} and role = 'owner'
              and disabled_at is null and (${!required} or ${Factors.hasOne(sql)})
            for no key update`
          if (held.length === 0) {
            return yield* new SecondFactorNeeded({
              message: "The owner sets this, who has a second factor: add one to your own sign-in first."
            })
          }
          const sessions = yield* FactorChanges.setRequired(sql, organizationId, required)
          if (sessions === null) return
          yield* record(
            Actor.signedIn(owner),
            { organizationId, adminId: organizationId },
            visit,
            "organization.set",
            { requires_second_factor: required, sessions },
            null
          )
        }))
      })
    })
  })
)
