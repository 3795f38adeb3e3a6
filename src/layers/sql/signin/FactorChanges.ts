/** Adding and removing second factors in SQL, within the organization's transaction. */
import { Effect, Option, Redacted, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { Line } from "../../../domain/JsonShapes.ts"
import {
  factorSetUp,
  maxPasskeyNameLength,
  passkeyAsked,
  passkeysKept,
  recoveryCodesMade
} from "../../../domain/Limits.ts"
import { recoveryCode } from "../../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import {
  type FactorSubject,
  type NewFactor,
  type RecoveryCodes,
  SecondFactorIncorrect
} from "../../../ports/signin/SecondFactors.ts"
import * as Passkeys from "../../crypto/signin/Passkeys.ts"
import * as Tickets from "../../crypto/signin/Tickets.ts"
import * as Totp from "../../crypto/signin/Totp.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Factors from "./Factors.ts"

type Random = SecureRandom.SecureRandom["Service"]

/** The subject of the ticket of a new authenticator app, and of a new passkey. */
export const newAppOf = (subject: string): ReadonlyArray<string> => ["new app", subject]
export const newPasskeyOf = (
  subject: string,
  { id }: Passkeys.Party
): ReadonlyArray<string> => ["new passkey", subject, id]

/** A factor whose proof is right, before it is stored. */
export type ProvedFactor =
  | { readonly kind: "totp"; readonly secret: Redacted.Redacted; readonly step: number; readonly named: string }
  | {
    readonly kind: "passkey"
    readonly passkey: Passkeys.Made
    readonly rpId: string
    readonly name: string
    readonly named: string
  }

const unfit = (message: string) => Effect.fail(new SecondFactorIncorrect({ message }))

const decodeName = Schema.decodeOption(Line(maxPasskeyNameLength))

/** Checks the proof of a new factor; outside any transaction. */
export const prove = Effect.fnUntraced(function*(
  { keys }: Factors.FactorSecrets,
  { subject }: Pick<FactorSubject, "subject">,
  party: Passkeys.Party | null,
  factor: NewFactor,
  now: Date
) {
  if (factor.kind === "totp") {
    const ticket = Tickets.read(keys, newAppOf(subject), factor.ticket, now.getTime(), factorSetUp)
    if (ticket === null) return yield* unfit("This took too long: scan the new code, then type what the app shows.")
    const secret = Redacted.make(ticket.value)
    const code = Redacted.value(factor.code).replaceAll(/\s/g, "")
    const step = /^[0-9]{6}$/.test(code) ? yield* Totp.stepOf(secret, code, now) : null
    if (step === null) {
      return yield* unfit(
        "This is not the code that the app shows now. Check the time of your device, and try the next code."
      )
    }
    const proved: ProvedFactor = { kind: "totp", secret, step, named: "authenticator app" }
    return proved
  }
  const name = decodeName(factor.name)
  if (Option.isNone(name)) return yield* unfit(`Give the passkey a name of at most ${maxPasskeyNameLength} characters.`)
  const ticket = party === null
    ? null
    : Tickets.read(keys, newPasskeyOf(subject, party), factor.ticket, now.getTime(), passkeyAsked)
  const passkey = party === null || ticket === null ? null : yield* Passkeys.made(party, ticket.value, factor.response)
  if (party === null || passkey === null) {
    return yield* unfit("The passkey was not made, or this took too long: try again.")
  }
  const proved: ProvedFactor = {
    kind: "passkey",
    passkey,
    rpId: party.id,
    name: name.value,
    named: `passkey “${name.value}”`
  }
  return proved
})

/** Serialises changes of the admin's factors; false where the admin is disabled. */
export const lock = (sql: SqlClient.SqlClient, { adminId, organizationId }: AdminRef) =>
  sql`
    select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
    for no key update`.pipe(Effect.orDie, Effect.map((rows) => rows.length > 0))

export const has = (sql: SqlClient.SqlClient, { adminId, organizationId }: AdminRef) =>
  sql<{ has: boolean }>`
    select ${Factors.hasOne(sql)} as has from admin
    where organization_id = ${organizationId} and id = ${adminId}`.pipe(
    Effect.orDie,
    Effect.map(([row]) => row?.has ?? false)
  )

/** Stores the factor of an admin who is locked. */
export const store = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { vault }: Factors.FactorSecrets,
  random: Random,
  admin: AdminRef,
  factor: ProvedFactor,
  now: Date
) {
  const { adminId, organizationId } = admin
  if (factor.kind === "totp") {
    // The code that proves the app is used up with it.
    const set = yield* Effect.orDie(sql`
      insert into totp (organization_id, admin_id, secret_sealed, used_step, created_at)
      values (${organizationId}, ${adminId}, ${vault.seal(factor.secret, Factors.sealedFor(admin))}, ${factor.step},
        ${now})
      on conflict (organization_id, admin_id) do update set
        secret_sealed = excluded.secret_sealed, used_step = excluded.used_step, created_at = excluded.created_at
      where totp.used_step < excluded.used_step
      returning 1`)
    return set.length > 0 ? undefined : yield* unfit("This code was used before: type the next one that the app shows.")
  }
  const { name, passkey, rpId } = factor
  const [kept] = yield* Effect.orDie(sql<{ passkeys: number }>`
    select count(*)::int as passkeys from passkey
    where organization_id = ${organizationId} and admin_id = ${adminId}`)
  if ((kept?.passkeys ?? 0) >= passkeysKept) {
    return yield* unfit(`You have ${passkeysKept} passkeys already: remove one that you no longer use.`)
  }
  const id = yield* random.uuidV7()
  const made = yield* Effect.orDie(sql`
    insert into passkey (organization_id, id, admin_id, credential_id, rp_id, public_key, counter, transports, name,
      backed_up, created_at)
    values (${organizationId}, ${id}, ${adminId}, ${passkey.id}, ${rpId}, ${passkey.publicKey}, ${passkey.counter},
      ${passkey.transports}::text[], ${name}, ${passkey.backedUp}, ${now})
    on conflict do nothing returning 1`)
  return made.length > 0 ? undefined : yield* unfit("This passkey is one of yours already.")
})

/** Makes new recovery codes in place of those before, and answers them. */
export const makeCodes = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { peppers }: Factors.FactorSecrets,
  random: Random,
  admin: AdminRef,
  now: Date
) {
  const { adminId, organizationId } = admin
  const codes = yield* Effect.replicateEffect(Effect.map(random.randomBytes(10), recoveryCode), recoveryCodesMade)
  yield* Tenant.post(sql)(
    sql`delete from recovery_code where organization_id = ${organizationId} and admin_id = ${adminId}`
  )
  const digests = codes.map((code) => Factors.codeDigest(peppers[0], admin, code.replaceAll("-", "")))
  yield* Tenant.post(sql)(sql`
    insert into recovery_code (organization_id, admin_id, digest, pepper_id, created_at)
    select ${organizationId}::text, ${adminId}::uuid, digest, ${peppers[0].id}::text, ${now}::timestamptz
    from unnest(${digests}::text[]) as made (digest)`)
  const shown: RecoveryCodes = codes.map((code) => Redacted.make(code))
  return shown
})

/** Takes every second factor and recovery code of the admin away, and answers how many factors there were. */
export const removeAll = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, admin: AdminRef) {
  const { adminId, organizationId } = admin
  const mine = sql`organization_id = ${organizationId} and admin_id = ${adminId}`
  yield* Tenant.post(sql)(sql`delete from recovery_code where ${mine}`)
  const removed = yield* Effect.all([
    sql`delete from totp where ${mine} returning 1`,
    sql`delete from passkey where ${mine} returning 1`
  ], Tenant.together)
  return removed.flat().length
}, Effect.orDie)

/**
 * Sets whether the organization requires a second factor, ends the sessions of those who have none, not even by their
 * identity provider, and says how many.
 */
export const setRequired = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, organizationId: string, required: boolean) {
    const set = yield* sql`
      update organization set requires_second_factor = ${required}
      where id = ${organizationId} and requires_second_factor <> ${required} returning 1`
    if (set.length === 0) return null
    if (!required) return 0
    const ended = yield* sql`
      delete from console_session using admin
      where console_session.organization_id = ${organizationId} and admin.organization_id = ${organizationId}
        and admin.id = admin_id and not ${Factors.hasOne(sql)} and factor is distinct from 'identity_provider'
      returning 1`
    return ended.length
  },
  Effect.orDie
)
