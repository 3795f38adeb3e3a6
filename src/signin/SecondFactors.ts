/** The second factors of an admin who is signed in. */
import { Effect, Layer } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { factorRemembered } from "../domain/Limits.ts"
import * as Mails from "../domain/mail/AdminMails.ts"
import { before, now } from "../domain/Moments.ts"
import { CredentialEndings } from "../ports/credentials/CredentialEndings.ts"
import { Db } from "../ports/Db.ts"
import { AdminStanding } from "../ports/signin/AdminStanding.ts"
import { ConsoleSessionRecords } from "../ports/signin/ConsoleSessionRecords.ts"
import type { SignedIn } from "../ports/signin/ConsoleSessions.ts"
import { FactorProofs } from "../ports/signin/FactorProofs.ts"
import { FactorRecords } from "../ports/signin/FactorRecords.ts"
import {
  type FactorState,
  type KeptFactor,
  SecondFactorIncorrect,
  SecondFactorNeeded,
  SecondFactors
} from "../ports/signin/SecondFactors.ts"
import { AuthenticatorApps, StoredPasskeys, StoredRecoveryCodes } from "../ports/signin/StoredFactors.ts"
import { factorTools, incorrect, nameOfPasskey } from "./Factors.ts"
import { placeOf, recorder } from "./SignInEntries.ts"
import { throttle } from "./Throttle.ts"

export const layer = Layer.effect(
  SecondFactors,
  Effect.gen(function*() {
    const db = yield* Db
    const apps = yield* AuthenticatorApps
    const codes = yield* StoredRecoveryCodes
    const endings = yield* CredentialEndings
    const factors = yield* FactorRecords
    const passkeys = yield* StoredPasskeys
    const proofs = yield* FactorProofs
    const sessions = yield* ConsoleSessionRecords
    const standing = yield* AdminStanding
    const { makeCodes, prove, recordCodeUse, store, use } = yield* factorTools
    const { clear, codesOf, count } = yield* throttle
    const record = yield* recorder

    /** Ends what was begun without the change: the admin's other sessions, and sign-ins that wait. */
    const endOthers = (admin: SignedIn) => endings.endSessions(admin, admin.sessionId)

    const nameOf = Effect.fnUntraced(function*(admin: SignedIn, factor: KeptFactor) {
      if (factor.kind === "totp") return "authenticator app"
      const name = yield* passkeys.nameOf(admin, factor.id)
      return name === null ? null : nameOfPasskey(name)
    })

    return SecondFactors.of({
      state: (admin) =>
        db.read(
          admin.organizationId,
          Effect.gen(function*() {
            const state: FactorState = {
              totp: yield* apps.addedAt(admin),
              passkeys: yield* passkeys.list(admin),
              recoveryCodes: yield* codes.left(admin),
              required: yield* factors.isRequired(admin.organizationId)
            }
            return state
          })
        ),

      remembered: Effect.fnUntraced(function*(admin) {
        const since = before(yield* now, factorRemembered)
        return yield* db.read(admin.organizationId, factors.isRemembered(admin, since))
      }),

      ask: Effect.fnUntraced(function*(holder, site) {
        const party = proofs.partyOf(site)
        const known = party === null ? [] : yield* db.read(holder.organizationId, passkeys.at(holder, party))
        return party === null || known.length === 0 ? null : yield* proofs.ask(holder.subject, party, known)
      }),

      confirm: Effect.fnUntraced(function*(admin, answer, visit) {
        const { adminId, organizationId, sessionId } = admin
        const known = yield* db.read(organizationId, sessions.isLongKnown(admin, sessionId))
        const counter = answer.kind === "code"
          ? codesOf("again", organizationId, adminId, known ? "known" : "new")
          : null
        if (counter !== null) yield* count([counter], "codes")
        const at = yield* now
        const actor = Actor.signedIn(admin)
        const factor = yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            const used = (yield* standing.lock(admin)) ? yield* use(admin, answer, sessionId, visit, at) : null
            if (used === null) {
              yield* record(actor, admin, visit, "second_factor.failed", { signed_in: true })
              return null
            }
            if (used === "recovery_code") yield* recordCodeUse(actor, admin, visit, at)
            yield* sessions.setFactor(admin, used, at)
            return used
          })
        )
        if (factor === null) return yield* incorrect(answer)
        if (counter !== null) yield* clear(counter)
      }),

      newApp: proofs.newApp,

      newPasskey: Effect.fnUntraced(function*(holder, site) {
        const party = proofs.partyOf(site)
        if (party === null) return null
        return yield* proofs.askNew(
          holder,
          party,
          yield* db.read(holder.organizationId, passkeys.at(holder, party))
        )
      }),

      add: Effect.fnUntraced(function*(admin, factor, visit) {
        const at = yield* now
        const proved = yield* prove(admin.sessionId, factor, visit, at)
        return yield* db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            if (!(yield* standing.lock(admin))) {
              return yield* new SecondFactorIncorrect({ message: "You are not an admin any more." })
            }
            const first = !(yield* factors.has(admin))
            yield* store(admin, proved, at)
            const made = first ? yield* makeCodes(admin, at) : null
            // Proving a new factor counts as giving one.
            yield* sessions.setFactor(admin, factor.kind, at)
            const details = { factor: proved.named, sessions: yield* endOthers(admin) }
            const mail = Mails.secondFactorAdded({ ...placeOf(admin, visit, at), factor: proved.named })
            yield* record(Actor.signedIn(admin), admin, visit, "second_factor.added", details, mail)
            return made
          })
        )
      }),

      remove: Effect.fnUntraced(function*(admin, factor, visit) {
        const { organizationId } = admin
        const at = yield* now
        return yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            if (!(yield* standing.lock(admin))) return false
            const name = yield* nameOf(admin, factor)
            const removed = yield* factor.kind === "totp" ? apps.remove(admin) : passkeys.remove(admin, factor.id)
            if (!removed || name === null) return false
            if (!(yield* factors.has(admin))) {
              if (yield* factors.isRequired(organizationId)) {
                return yield* new SecondFactorNeeded({
                  message:
                    "Your organization requires a second factor, and this is your last one: add another one first."
                })
              }
              yield* factors.removeAll(admin)
            }
            const details = { factor: name, sessions: yield* endOthers(admin) }
            const mail = Mails.secondFactorRemoved({ ...placeOf(admin, visit, at), factor: name })
            yield* record(Actor.signedIn(admin), admin, visit, "second_factor.removed", details, mail)
            return true
          })
        )
      }),

      renewCodes: Effect.fnUntraced(function*(admin, visit) {
        const at = yield* now
        return yield* db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            const held = yield* standing.lock(admin)
            if (!held || !(yield* factors.has(admin))) {
              return yield* new SecondFactorNeeded({
                message: "Recovery codes stand in for a second factor: add one first."
              })
            }
            const made = yield* makeCodes(admin, at)
            const mail = Mails.recoveryCodesRenewed(placeOf(admin, visit, at))
            yield* record(Actor.signedIn(admin), admin, visit, "recovery_codes.renewed", {}, mail)
            return made
          })
        )
      }),

      require: Effect.fnUntraced(function*(owner, required, visit) {
        const { organizationId } = owner
        yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            if (!(yield* standing.lockOwner(owner, required))) {
              return yield* new SecondFactorNeeded({
                message: "The owner sets this, who has a second factor: add one to your own sign-in first."
              })
            }
            const ended = yield* factors.setRequired(organizationId, required)
            if (ended === null) return
            const target = { organizationId, adminId: organizationId }
            const details = { requires_second_factor: required, sessions: ended }
            yield* record(Actor.signedIn(owner), target, visit, "organization.set", details)
          })
        )
      })
    })
  })
)
