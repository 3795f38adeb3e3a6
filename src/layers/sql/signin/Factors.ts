/** Using second factors in SQL, within the organization's transaction: each answer once, over all replicas. */
import { Effect, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { passkeyAsked } from "../../../domain/Limits.ts"
import { type FactorKind, readCode } from "../../../domain/signin/SecondFactor.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import type { FactorAnswer, PasskeyAnswer } from "../../../ports/signin/SecondFactors.ts"
import { hmac, type Pepper, type Peppers } from "../../crypto/Peppers.ts"
import type { CsrfKeys } from "../../crypto/signin/CsrfKeys.ts"
import * as Passkeys from "../../crypto/signin/Passkeys.ts"
import * as Tickets from "../../crypto/signin/Tickets.ts"
import * as Totp from "../../crypto/signin/Totp.ts"
import type { Vault } from "../../crypto/Vault.ts"

/** The context that an authenticator app's secret is sealed for. */
export const sealedFor = ({ adminId, organizationId }: AdminRef): ReadonlyArray<string> => [
  "totp",
  organizationId,
  adminId
]

/** The stored form of a recovery code, written without its groups. */
export const codeDigest = (pepper: Pepper, { adminId, organizationId }: AdminRef, code: string): string =>
  hmac(pepper, JSON.stringify(["recovery code", organizationId, adminId, code]))

/** The condition that an admin has a second factor. */
export const hasOne = (sql: SqlClient.SqlClient) =>
  sql`(
    exists (select 1 from totp where totp.organization_id = admin.organization_id and totp.admin_id = admin.id)
    or exists (
      select 1 from passkey where passkey.organization_id = admin.organization_id and passkey.admin_id = admin.id))`

/** True if the admin has to give a second factor to sign in: they have one, or the organization requires it. */
export const asked = (sql: SqlClient.SqlClient, { adminId, organizationId }: AdminRef) =>
  sql<{ asked: boolean }>`
    select ${hasOne(sql)} or requires_second_factor as asked
    from admin join organization on organization.id = admin.organization_id
    where admin.organization_id = ${organizationId} and admin.id = ${adminId}`.pipe(
    Effect.orDie,
    Effect.map(([row]) => row?.asked ?? false)
  )

/** The secrets that answers are checked with. */
export interface FactorSecrets {
  readonly vault: Vault["Service"]
  readonly peppers: Peppers["Service"]
  readonly keys: CsrfKeys["Service"]
}

/** The place where an answer is given: what the question was bound to, and the site's passkeys. */
export interface Where {
  readonly subject: string
  readonly party: Passkeys.Party | null
}

/** The subject of the ticket of a question for a passkey. */
export const questionOf = (subject: string, { id }: Passkeys.Party): ReadonlyArray<string> => ["passkey", subject, id]

/** Uses a code of the admin's app up; null where it is none, or a code of that time or a later one was used already. */
const useTotp = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { vault }: FactorSecrets,
  admin: AdminRef,
  code: string,
  now: Date
) {
  const { adminId, organizationId } = admin
  const [kept] = yield* sql<{ secret_sealed: string }>`
    select secret_sealed from totp where organization_id = ${organizationId} and admin_id = ${adminId}`
  if (kept === undefined) return null
  const step = yield* Totp.stepOf(yield* vault.open(kept.secret_sealed, sealedFor(admin)), code, now)
  if (step === null) return null
  const used = yield* sql`
    update totp set used_step = ${step}
    where organization_id = ${organizationId} and admin_id = ${adminId} and secret_sealed = ${kept.secret_sealed}
      and used_step < ${step}
    returning 1`
  return used.length === 0 ? null : "totp" as const
}, Effect.orDie)

/** Uses a recovery code up; null where it is none that is left. */
const useRecoveryCode = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { peppers }: FactorSecrets,
  admin: AdminRef,
  code: string,
  now: Date
) {
  const used = yield* sql`
    update recovery_code set used_at = ${now}
    where organization_id = ${admin.organizationId} and admin_id = ${admin.adminId} and used_at is null
      and ${sql.in("digest", peppers.map((pepper) => codeDigest(pepper, admin, code)))}
    returning 1`
  return used.length === 0 ? null : "recovery_code" as const
}, Effect.orDie)

/**
 * Uses the answer of a passkey up; null where it is none of the admin's at this site, or its challenge or a later one
 * was answered before, or the passkey was copied: its counter does not go on.
 */
export const usePasskey = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { keys }: FactorSecrets,
  admin: AdminRef,
  { response, ticket }: PasskeyAnswer,
  { party, subject }: Where,
  now: Date
) {
  const { adminId, organizationId } = admin
  const answer = Option.getOrNull(Passkeys.readAssertion(response))
  if (party === null || answer === null || answer.id.includes("\u0000")) return null
  const asked = Tickets.read(keys, questionOf(subject, party), ticket, now.getTime(), passkeyAsked)
  const handle = answer.response.userHandle ?? null
  if (asked === null || handle !== null && handle !== Buffer.from(Passkeys.handleOf(admin)).toString("base64url")) {
    return null
  }
  const [kept] = yield* sql<Passkeys.StoredPasskey>`
    select credential_id as id, public_key as "publicKey", counter, transports from passkey
    where organization_id = ${organizationId} and admin_id = ${adminId} and credential_id = ${answer.id}
      and rp_id = ${party.id}`
  if (kept === undefined) return null
  const found = yield* Passkeys.asserted(party, asked.value, answer, kept)
  if (found === null) return null
  const used = yield* sql`
    update passkey set counter = ${found.counter}, backed_up = ${found.backedUp}, last_used_at = ${now},
      asked_at = ${new Date(asked.at)}
    where organization_id = ${organizationId} and admin_id = ${adminId} and credential_id = ${answer.id}
      and (asked_at is null or asked_at < ${new Date(asked.at)})
      and (counter < ${found.counter} or counter = 0 and ${found.counter} = 0)
    returning 1`
  return used.length === 0 ? null : "passkey" as const
}, Effect.orDie)

/** Uses the answer up; null where it is none of the admin's second factors. */
export const use = (
  sql: SqlClient.SqlClient,
  secrets: FactorSecrets,
  admin: AdminRef,
  answer: FactorAnswer,
  where: Where,
  now: Date
): Effect.Effect<FactorKind | null> => {
  if (answer.kind === "passkey") return usePasskey(sql, secrets, admin, answer, where, now)
  const typed = readCode(Redacted.value(answer.code))
  if (typed === null) return Effect.succeed(null)
  return typed.kind === "totp"
    ? useTotp(sql, secrets, admin, typed.code, now)
    : useRecoveryCode(sql, secrets, admin, typed.code, now)
}
