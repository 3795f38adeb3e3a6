/** Secrets of accounts as the service holds them. */
import { Clock, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { Secrets } from "../../../src/ports/security/Secrets.ts"
import * as Fixtures from "../fixtures.ts"

/** Lets the service hold this password, or the passkey of this id, as the account's. */
export const hold = Effect.fnUntraced(function*(
  organizationId: string,
  accountId: string,
  { passkey, password }: { readonly password?: Redacted.Redacted | string; readonly passkey?: string }
) {
  const secrets = yield* Secrets
  const of = { organizationId: OrganizationId.make(organizationId), accountId: AccountId.make(accountId) }
  const now = new Date(yield* Clock.currentTimeMillis)
  const sealed = [
    ...(password === undefined ? [] : [
      yield* secrets.seal(of, {
        kind: "two_fa",
        secret: typeof password === "string" ? Redacted.make(password) : password
      })
    ]),
    ...(passkey === undefined
      ? []
      : [yield* secrets.seal(of, { kind: "passkey", passkeyId: passkey, secret: Redacted.make(`key of ${passkey}`) })])
  ]
  yield* Fixtures.within(
    organizationId,
    Effect.forEach(sealed, (secret) => secrets.put(of, secret, "held", now), { discard: true })
  )
  return sealed.map((secret) => secret.sealed)
})

/** Moves what is held of one account to another one, as somebody might who writes to the database. */
export const move = (organizationId: string, from: string, to: string) =>
  Fixtures.within(
    organizationId,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Effect.orDie(sql`
        insert into account_key (organization_id, account_id, sealed)
        select organization_id, ${to}::uuid, sealed from account_key
        where organization_id = ${organizationId} and account_id = ${from}`)
      yield* Effect.orDie(sql`
        insert into account_secret (organization_id, account_id, id, kind, slot, passkey_id, sealed, made_at)
        select organization_id, ${to}::uuid, gen_random_uuid(), kind, slot, passkey_id, sealed, made_at
        from account_secret where organization_id = ${organizationId} and account_id = ${from}`)
    })
  )

/** Where each secret of an account stands, by kind. */
export const slots = (organizationId: string, accountId: string) =>
  Fixtures.within(
    organizationId,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* Effect.orDie(sql<{ kind: string; slot: string }>`
        select kind, slot from account_secret where organization_id = ${organizationId} and account_id = ${accountId}
        order by kind desc, slot, made_at`)
      return rows.map(({ kind, slot }) => `${kind} ${slot}`)
    })
  )
