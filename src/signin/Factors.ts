/** Using and adding second factors, within the organization's transaction: each answer once, over all replicas. */
import { Effect, Option, Redacted, Schema } from "effect"
import type { Actor } from "../domain/journal/Actor.ts"
import { Line } from "../domain/JsonShapes.ts"
import { maxPasskeyNameLength, passkeysKept, recoveryCodesMade } from "../domain/Limits.ts"
import * as Mails from "../domain/mail/AdminMails.ts"
import { type FactorKind, readCode } from "../domain/signin/SecondFactor.ts"
import type { AdminRef } from "../ports/signin/ConsolePasswords.ts"
import type { SessionVisit } from "../ports/signin/ConsoleSessions.ts"
import { FactorProofs, type Party, type ProvedPasskey } from "../ports/signin/FactorProofs.ts"
import {
  type FactorAnswer,
  type NewFactor,
  type PasskeyAnswer,
  type RecoveryCodes,
  SecondFactorIncorrect
} from "../ports/signin/SecondFactors.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { AuthenticatorApps, StoredPasskeys, StoredRecoveryCodes } from "../ports/signin/StoredFactors.ts"
import { placeOf, recorder } from "./SignInEntries.ts"

/** A factor whose proof is right, before it is stored. */
export type ProvedFactor =
  | { readonly kind: "totp"; readonly secret: Redacted.Redacted; readonly step: number; readonly named: string }
  | {
    readonly kind: "passkey"
    readonly passkey: ProvedPasskey
    readonly party: Party
    readonly name: string
    readonly named: string
  }

const unfit = (message: string) => Effect.fail(new SecondFactorIncorrect({ message }))

const decodeName = Schema.decodeOption(Line(maxPasskeyNameLength))

/** The refusal of an answer to the question for a second factor. */
export const incorrect = ({ kind }: FactorAnswer) =>
  new SecondFactorIncorrect({
    message: kind === "code"
      ? "This code is incorrect, or was used before."
      : "This passkey is not one of yours, or this took too long: try again."
  })

/** The name of a passkey, as journal and mails write it. */
export const nameOfPasskey = (name: string): string => `passkey “${name}”`

/** The uses and changes that sessions and sign-ins share. */
export const factorTools = Effect.gen(function*() {
  const apps = yield* AuthenticatorApps
  const codes = yield* StoredRecoveryCodes
  const passkeys = yield* StoredPasskeys
  const proofs = yield* FactorProofs
  const { newRecoveryCode } = yield* SignInSecrets
  const record = yield* recorder

  const useTotp = Effect.fnUntraced(function*(admin: AdminRef, code: string, at: Date) {
    const app = yield* apps.find(admin)
    const step = app === null ? null : yield* proofs.stepOf(app.secret, code, at)
    return app !== null && step !== null && (yield* apps.use(admin, app, step))
  })

  /**
   * Uses the answer of a passkey up; false where it is none of the admin's at this site, or its challenge or a later
   * one was answered before, or the passkey was copied: its counter does not go on.
   */
  const usePasskey = Effect.fnUntraced(
    function*(admin: AdminRef, answer: PasskeyAnswer, subject: string, party: Party | null, at: Date) {
      const open = party === null ? null : proofs.open(admin, subject, party, answer, at)
      const stored = party === null || open === null ? null : yield* passkeys.find(admin, open.id, party)
      const use = open === null || stored === null ? null : yield* open.verify(stored)
      return open !== null && use !== null && (yield* passkeys.use(admin, open.id, use, at))
    }
  )

  const storePasskey = Effect.fnUntraced(
    function*(admin: AdminRef, { name, party, passkey }: ProvedFactor & { readonly kind: "passkey" }, at: Date) {
      if ((yield* passkeys.count(admin)) >= passkeysKept) {
        return yield* unfit(`You have ${passkeysKept} passkeys already: remove one that you no longer use.`)
      }
      const added = yield* passkeys.add(admin, passkey, name, party, at)
      return added ? undefined : yield* unfit("This passkey is one of yours already.")
    }
  )

  return {
    usePasskey,

    /** Uses the answer up; null where it is none of the admin's second factors. */
    use: Effect.fnUntraced(
      function*(admin: AdminRef, answer: FactorAnswer, subject: string, { site }: SessionVisit, at: Date) {
        const typed = answer.kind === "passkey" ? null : readCode(Redacted.value(answer.code))
        const used = answer.kind === "passkey"
          ? yield* usePasskey(admin, answer, subject, proofs.partyOf(site), at)
          : typed === null
          ? false
          : typed.kind === "totp"
          ? yield* useTotp(admin, typed.code, at)
          : yield* codes.use(admin, typed.code, at)
        const kind: FactorKind | null = !used ? null : typed === null ? "passkey" : typed.kind
        return kind
      }
    ),

    /** Journals that a recovery code was used. */
    recordCodeUse: Effect.fnUntraced(function*(actor: Actor, admin: AdminRef, visit: SessionVisit, at: Date) {
      const left = yield* codes.left(admin)
      const mail = Mails.recoveryCodeUsed({ ...placeOf(admin, visit, at), left })
      yield* record(actor, admin, visit, "recovery_code.used", { left }, mail)
    }),

    /** Checks the proof of a new factor; outside any transaction. */
    prove: Effect.fnUntraced(function*(subject: string, factor: NewFactor, { site }: SessionVisit, at: Date) {
      if (factor.kind === "totp") {
        const secret = proofs.readApp(subject, factor.ticket, at)
        if (secret === null) {
          return yield* unfit("This took too long: scan the new code, then type what the app shows.")
        }
        const code = Redacted.value(factor.code).replaceAll(/\s/g, "")
        const step = /^[0-9]{6}$/.test(code) ? yield* proofs.stepOf(secret, code, at) : null
        if (step === null) {
          return yield* unfit(
            "This is not the code that the app shows now. Check the time of your device, and try the next code."
          )
        }
        const proved: ProvedFactor = { kind: "totp", secret, step, named: "authenticator app" }
        return proved
      }
      const name = Option.getOrNull(decodeName(factor.name))
      if (name === null) return yield* unfit(`Give the passkey a name of at most ${maxPasskeyNameLength} characters.`)
      const party = proofs.partyOf(site)
      const passkey = party === null ? null : yield* proofs.provePasskey(subject, party, factor, at)
      if (party === null || passkey === null) {
        return yield* unfit("The passkey was not made, or this took too long: try again.")
      }
      const proved: ProvedFactor = { kind: "passkey", passkey, party, name, named: nameOfPasskey(name) }
      return proved
    }),

    /** Stores the factor of an admin who is locked. */
    store: Effect.fnUntraced(function*(admin: AdminRef, factor: ProvedFactor, at: Date) {
      if (factor.kind === "passkey") return yield* storePasskey(admin, factor, at)
      // The code that proves the app is used up with it.
      const set = yield* apps.put(admin, factor.secret, factor.step, at)
      return set ? undefined : yield* unfit("This code was used before: type the next one that the app shows.")
    }),

    /** Makes new recovery codes in place of those before, and returns them. */
    makeCodes: Effect.fnUntraced(function*(admin: AdminRef, at: Date) {
      const texts = yield* Effect.replicateEffect(newRecoveryCode, recoveryCodesMade)
      const made: RecoveryCodes = texts.map((code) => Redacted.make(code))
      yield* codes.replace(admin, made, at)
      return made
    })
  }
})
