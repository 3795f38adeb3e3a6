import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../domain/accounts/Account.ts"
import { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import * as Ports from "../../../ports/index.ts"
import { keyEncryption } from "../../crypto/security/KeyEncryption.ts"
import { PepperNotGiven, Vault } from "../../crypto/Vault.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as ArchiveKeys from "../archive/ArchiveKeys.ts"
import * as MessengerKeys from "../messenger/MessengerKeys.ts"
import * as IdentityProviders from "../signin/IdentityProviders.ts"
import * as Factors from "../signin/StoredFactors.ts"
import * as Secrets from "./Secrets.ts"

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

interface ArchiveKeyRow {
  readonly key_id: string
  readonly public_key: Uint8Array
  readonly public_key_proof: string
}

/** The number of one kind that were sealed again, that lack their pepper, and that do not open for another reason. */
interface Tally {
  readonly done: number
  readonly skipped: number
  readonly damaged: number
}

const nothing: Tally = { done: 0, skipped: 0, damaged: 0 }

/** The secret sealed again, or the reason that it was not. */
type RewrapResult = { readonly sealed: string } | "skipped" | "damaged"

const add = (one: Tally, other: Tally): Tally => ({
  done: one.done + other.done,
  skipped: one.skipped + other.skipped,
  damaged: one.damaged + other.damaged
})

const counted = (made: RewrapResult): Tally => ({ ...nothing, [typeof made === "string" ? made : "done"]: 1 })

const isNotGiven = Schema.is(PepperNotGiven)

/** A secret that cannot be opened is skipped. */
const ifOpened = <A, E, R>(opened: Effect.Effect<Redacted.Redacted<A>, E, R>) =>
  Effect.catchDefect(opened, (defect) => Effect.succeed(isNotGiven(defect) ? "skipped" as const : "damaged" as const))

const rowsPerRead = 500

const nowhere = "00000000-0000-0000-0000-000000000000"

/** Sealing under the newest keys in SQL; each secret is written only if it was not sealed again meanwhile. */
export const layer = Layer.effect(
  Ports.Rewrap,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const keys = yield* keyEncryption

    /** Seals the key again. */
    const again = Effect.fnUntraced(function*(sealed: string, context: ReadonlyArray<string>) {
      const key = yield* ifOpened(keys.open(sealed, context))
      const made: RewrapResult = Redacted.isRedacted(key) ? { sealed: yield* keys.seal(key, context) } : key
      return made
    })

    const accounts = Effect.gen(function*() {
      let tally = nothing
      let after: readonly [organization: string, account: string] = ["", nowhere]
      while (true) {
        const rows = yield* Tenant.directory(sql)(sql<AccountRow>`
          select organization_id, account_id, sealed from account_key
          where (organization_id, account_id) > (${after[0]}, ${after[1]}::uuid)
          order by organization_id, account_id limit ${rowsPerRead}`)
        for (const { account_id, organization_id, sealed } of rows) {
          after = [organization_id, account_id]
          if (keys.isCurrent(sealed)) continue
          const of = { organizationId: OrganizationId.make(organization_id), accountId: AccountId.make(account_id) }
          const made = yield* again(sealed, Secrets.keyContext(of))
          tally = add(tally, counted(made))
          if (typeof made === "string") continue
          yield* Tenant.directory(sql)(sql`
            update account_key set sealed = ${made.sealed}
            where organization_id = ${organization_id} and account_id = ${account_id} and sealed = ${sealed}`)
        }
        if (rows.length === 0) return tally
      }
    })

    const sessions = Effect.gen(function*() {
      let tally = nothing
      let after = ""
      while (true) {
        const rows = yield* Tenant.directory(sql)(sql<SessionRow>`
          select session_ref, sealed from messenger_session where session_ref > ${after}
          order by session_ref limit ${rowsPerRead}`)
        for (const { sealed, session_ref } of rows) {
          after = session_ref
          if (keys.isCurrent(sealed)) continue
          const made = yield* again(sealed, MessengerKeys.keyContext(SessionRef.make(session_ref)))
          tally = add(tally, counted(made))
          if (typeof made === "string") continue
          yield* Tenant.directory(sql)(sql`
            update messenger_session set sealed = ${made.sealed} where session_ref = ${session_ref} and sealed = ${sealed}`)
        }
        if (rows.length === 0) return tally
      }
    })

    /** The organizations that have something in the table under another pepper than the first. */
    const concerned = (table: "archive_key" | "identity_provider" | "totp") =>
      Effect.map(
        Tenant.directory(sql)(sql<{ organization_id: string; pepper_id: string }>`
          select distinct organization_id, pepper_id from ${sql(table)} where pepper_id is not null`),
        (rows) => {
          const old = rows.filter(({ pepper_id }) => !vault.isCurrent(`${pepper_id}.`))
          return [...new Set(old.map(({ organization_id }) => organization_id))].map((id) => OrganizationId.make(id))
        }
      )

    const sum = (tallies: ReadonlyArray<Tally>) => tallies.reduce(add, nothing)

    /** Seals the secret again. */
    const vaultedAgain = Effect.fnUntraced(function*(sealed: string, context: ReadonlyArray<string>) {
      const opened = yield* ifOpened(vault.open(sealed, context))
      const made: RewrapResult = Redacted.isRedacted(opened) ? { sealed: vault.seal(opened, context) } : opened
      return made
    })

    const apps = (organizationId: OrganizationId) =>
      Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const rows = yield* sql<{ admin_id: string; secret_sealed: string }>`
          select admin_id, secret_sealed from totp where organization_id = ${organizationId} for update`
        const old = rows.filter(({ secret_sealed }) => !vault.isCurrent(secret_sealed))
        let tally = nothing
        for (const { admin_id, secret_sealed } of old) {
          const made = yield* vaultedAgain(secret_sealed, Factors.sealedFor({ organizationId, adminId: admin_id }))
          tally = add(tally, counted(made))
          if (typeof made === "string") continue
          yield* sql`
            update totp set secret_sealed = ${made.sealed}
            where organization_id = ${organizationId} and admin_id = ${admin_id}`
        }
        return tally
      }))

    const provider = (organizationId: OrganizationId) =>
      Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const [row] = yield* sql<ProviderRow>`
          select issuer, client_id, client_secret_sealed from identity_provider
          where organization_id = ${organizationId} for update`
        if (row === undefined || vault.isCurrent(row.client_secret_sealed)) return nothing
        const made = yield* vaultedAgain(row.client_secret_sealed, IdentityProviders.sealedFor(organizationId, row))
        if (typeof made !== "string") {
          yield* sql`
            update identity_provider set client_secret_sealed = ${made.sealed} where organization_id = ${organizationId}`
        }
        return counted(made)
      }))

    const archiveKey = (organizationId: OrganizationId) =>
      Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        const [row] = yield* sql<ArchiveKeyRow>`
          select key_id, public_key, public_key_proof from archive_key
          where organization_id = ${organizationId} and retired_at is null for update`
        if (row === undefined || vault.isCurrent(row.public_key_proof)) return nothing
        const { key_id: keyId, public_key: publicKey } = row
        const made = yield* vaultedAgain(
          row.public_key_proof,
          ArchiveKeys.sealedFor({ organizationId, keyId, publicKey })
        )
        if (typeof made !== "string") {
          yield* sql`
            update archive_key set public_key_proof = ${made.sealed}
            where organization_id = ${organizationId} and key_id = ${keyId}`
        }
        return counted(made)
      }))

    return Ports.Rewrap.of({
      all: Effect.gen(function*() {
        const tallies = {
          accounts: yield* accounts,
          sessions: yield* sessions,
          authenticator_apps: sum(yield* Effect.forEach(yield* concerned("totp"), apps)),
          identity_providers: sum(yield* Effect.forEach(yield* concerned("identity_provider"), provider)),
          archive_keys: sum(yield* Effect.forEach(yield* concerned("archive_key"), archiveKey))
        }
        const counts = (of: keyof Tally): Ports.RewrapCounts => ({
          accounts: tallies.accounts[of],
          sessions: tallies.sessions[of],
          authenticator_apps: tallies.authenticator_apps[of],
          identity_providers: tallies.identity_providers[of],
          archive_keys: tallies.archive_keys[of]
        })
        return { ...counts("done"), skipped: counts("skipped"), damaged: counts("damaged") }
      })
    })
  })
)
