import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../../domain/Access.ts"
import { AccountId } from "../../domain/Account.ts"
import { SessionRef } from "../../domain/Messenger.ts"
import * as Ports from "../../ports/index.ts"
import { keyEncryption } from "../crypto/KeyEncryption.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Factors from "./Factors.ts"
import * as IdentityProviders from "./IdentityProviders.ts"
import * as MessengerKeys from "./MessengerKeys.ts"
import * as Secrets from "./Secrets.ts"
import * as Tenant from "./Tenant.ts"

interface AccountRow {
  readonly organization_id: string
  readonly account_id: string
  readonly sealed: string
}

interface SessionRow {
  readonly session_ref: string
  readonly sealed: string
}

interface ProviderRow {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret_sealed: string
}

/** How many rows are read at once. */
const batch = 500

const nowhere = "00000000-0000-0000-0000-000000000000"

/** Each is written only where nobody has sealed it otherwise meanwhile. */
export const layer = Layer.effect(
  Ports.Rewrap,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const keys = yield* keyEncryption

    /** The key, sealed anew. */
    const again = (sealed: string, context: ReadonlyArray<string>) =>
      Effect.flatMap(keys.open(sealed, context), (key) => keys.seal(key, context))

    const accounts = Effect.gen(function*() {
      let done = 0
      let after: readonly [organization: string, account: string] = ["", nowhere]
      while (true) {
        const rows = yield* Tenant.directory(sql)(sql<AccountRow>`
          select organization_id, account_id, sealed from account_key
          where (organization_id, account_id) > (${after[0]}, ${after[1]}::uuid)
          order by organization_id, account_id limit ${batch}`)
        for (const { account_id, organization_id, sealed } of rows) {
          after = [organization_id, account_id]
          if (keys.isCurrent(sealed)) continue
          const of = { organizationId: OrganizationId.make(organization_id), accountId: AccountId.make(account_id) }
          const made = yield* again(sealed, Secrets.keyContext(of))
          yield* Tenant.directory(sql)(sql`
            update account_key set sealed = ${made}
            where organization_id = ${organization_id} and account_id = ${account_id} and sealed = ${sealed}`)
          done += 1
        }
        if (rows.length === 0) return done
      }
    })

    const sessions = Effect.gen(function*() {
      let done = 0
      let after = ""
      while (true) {
        const rows = yield* Tenant.directory(sql)(sql<SessionRow>`
          select session_ref, sealed from messenger_session where session_ref > ${after}
          order by session_ref limit ${batch}`)
        for (const { sealed, session_ref } of rows) {
          after = session_ref
          if (keys.isCurrent(sealed)) continue
          const made = yield* again(sealed, MessengerKeys.keyContext(SessionRef.make(session_ref)))
          yield* Tenant.directory(sql)(sql`
            update messenger_session set sealed = ${made} where session_ref = ${session_ref} and sealed = ${sealed}`)
          done += 1
        }
        if (rows.length === 0) return done
      }
    })

    /** The organizations that have something in the table under another pepper than the first. */
    const concerned = (table: "identity_provider" | "totp") =>
      Effect.map(
        Tenant.directory(sql)(sql<{ organization_id: string; pepper_id: string }>`
          select distinct organization_id, pepper_id from ${sql(table)}`),
        (rows) => {
          const old = rows.filter(({ pepper_id }) => !vault.isCurrent(`${pepper_id}.`))
          return [...new Set(old.map(({ organization_id }) => organization_id))].map((id) => OrganizationId.make(id))
        }
      )

    const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)

    const apps = (organizationId: OrganizationId) =>
      Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const rows = yield* sql<{ admin_id: string; secret_sealed: string }>`
          select admin_id, secret_sealed from totp where organization_id = ${organizationId} for update`
        const old = rows.filter(({ secret_sealed }) => !vault.isCurrent(secret_sealed))
        for (const { admin_id, secret_sealed } of old) {
          const context = Factors.sealedFor({ organizationId, adminId: admin_id })
          const made = vault.seal(yield* vault.open(secret_sealed, context), context)
          yield* sql`
            update totp set secret_sealed = ${made}
            where organization_id = ${organizationId} and admin_id = ${admin_id}`
        }
        return old.length
      }))

    const provider = (organizationId: OrganizationId) =>
      Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const [row] = yield* sql<ProviderRow>`
          select issuer, client_id, client_secret_sealed from identity_provider
          where organization_id = ${organizationId} for update`
        if (row === undefined || vault.isCurrent(row.client_secret_sealed)) return 0
        const context = IdentityProviders.sealedFor(organizationId, row)
        const made = vault.seal(yield* vault.open(row.client_secret_sealed, context), context)
        yield* sql`
          update identity_provider set client_secret_sealed = ${made} where organization_id = ${organizationId}`
        return 1
      }))

    return Ports.Rewrap.of({
      all: Effect.gen(function*() {
        return {
          accounts: yield* accounts,
          sessions: yield* sessions,
          authenticator_apps: sum(yield* Effect.forEach(yield* concerned("totp"), apps)),
          identity_providers: sum(yield* Effect.forEach(yield* concerned("identity_provider"), provider))
        }
      })
    })
  })
)
