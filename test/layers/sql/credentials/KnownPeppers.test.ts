import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { AccountId } from "../../../../src/domain/accounts/Account.ts"
import { SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { Peppers } from "../../../../src/layers/crypto/Peppers.ts"
import { Vault } from "../../../../src/layers/crypto/Vault.ts"
import * as ArchiveKeys from "../../../../src/layers/sql/archive/ArchiveKeys.ts"
import * as KnownPeppers from "../../../../src/layers/sql/credentials/KnownPeppers.ts"
import * as MessengerKeys from "../../../../src/layers/sql/messenger/MessengerKeys.ts"
import * as Rewrap from "../../../../src/layers/sql/security/Rewrap.ts"
import * as Secrets from "../../../../src/layers/sql/security/Secrets.ts"
import * as IdentityProviders from "../../../../src/layers/sql/signin/IdentityProviders.ts"
import * as Factors from "../../../../src/layers/sql/signin/StoredFactors.ts"
import * as Ports from "../../../../src/ports/index.ts"
import { MessengerKeys as Kept } from "../../../../src/ports/messenger/MessengerKeys.ts"
import { changeArchivePassword, setArchiveKey } from "../../../support/archive/archiveKeys.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import { act } from "../../../support/operator/operator.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import * as HeldSecrets from "../../../support/security/heldSecrets.ts"
import * as GivenFactors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const another = Layer.orDie(Peppers.layerText(Redacted.make(Buffer.alloc(32, 99).toString("base64"))))

/** The layer under other peppers than the world's. */
const under = <A, E, R>(peppers: Layer.Layer<Peppers>, layer: Layer.Layer<A, E, R | Peppers | Vault>) =>
  Layer.fresh(layer.pipe(Layer.provideMerge(Vault.layer), Layer.provide(peppers)))

const sealing = (organizationId: OrganizationId) =>
  Effect.flatMap(Ports.ArchiveKeys, (keys) => Fixtures.within(organizationId, keys.sealing(organizationId)))

describe("the peppers that a database was written under", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("are all given, or the start names each with what depends on it, until it is given up by its id", () =>
        Effect.gen(function*() {
          const [pepper] = yield* Peppers
          yield* Effect.provide(KnownPeppers.check([]), another, { local: true })
          const { id } = yield* World.makeOrganization()
          yield* KnownPeppers.check([])
          const refusal = yield* Effect.flip(Effect.provide(KnownPeppers.check([]), another, { local: true }))
          expect(refusal.message).toContain(`(5 API keys under ${pepper.id})`)
          expect(refusal.message).toMatch(new RegExp(`CONSOLE_FORGET_PEPPERS=${pepper.id}\\.$`))
          expect(refusal.message).not.toContain("\n")
          yield* Effect.provide(KnownPeppers.check([pepper.id]), another, { local: true })
          yield* World.query(
            id,
            (sql) => sql`update api_key set revoked_at = created_at where organization_id = ${id} returning id`
          )
          yield* Effect.provide(KnownPeppers.check([]), another, { local: true })
        }))

      it.effect("are needed no more for what secrets rewrap has sealed anew, and nothing of it is lost", () =>
        Effect.gen(function*() {
          const old = yield* Peppers
          const both = Layer.effect(
            Peppers,
            Effect.map(Effect.provide(Peppers, another, { local: true }), ([first]) => [first, ...old] as const)
          )
          const { admins, id } = yield* World.makeOrganization()
          const organizationId = OrganizationId.make(id)
          const admin = { organizationId, adminId: admins.admin.id }
          const account = yield* World.makeAccount(id)
          const of = { organizationId, accountId: AccountId.make(account) }
          yield* HeldSecrets.hold(id, account, { password: "the account's" })
          yield* GivenFactors.giveTotp(id, admins.admin.id)
          yield* setArchiveKey(id)
          const archiveKey = yield* sealing(organizationId)
          const issuer = { issuer: "https://login.acme.example", client_id: "console" }
          yield* act((requests) =>
            requests.identity_provider_set({
              organization: id,
              ...issuer,
              client_secret: Redacted.make("the provider's"),
              required: null,
              second_factor: null,
              private_network: null,
              max_age: null
            })
          )
          const ref = SessionRef.make(`session ${id}`)
          const key = Redacted.make(new Uint8Array([1, 2, 3]))
          yield* Effect.provide(
            Effect.flatMap(Kept, (keys) => keys.save(ref, "auth", key, 0)),
            Layer.fresh(MessengerKeys.layer),
            { local: true }
          )
          const missing = Effect.provide(KnownPeppers.check([]), another, { local: true }).pipe(
            Effect.as<ReadonlyArray<string>>([]),
            Effect.catchTag("PeppersMissing", ({ uses }) => Effect.succeed(uses.map(({ kind }) => kind)))
          )
          const sealed = [
            "accounts with secrets",
            "archive keys",
            "authenticator apps",
            "identity providers",
            "sessions on the messenger"
          ]
          expect(yield* missing).toEqual(expect.arrayContaining(sealed))
          const rewrapUnder = (peppers: typeof both) =>
            Effect.provide(Effect.flatMap(Ports.Rewrap, ({ all }) => all), under(peppers, Rewrap.layer), {
              local: true
            })
          const all = { accounts: 1, sessions: 1, authenticator_apps: 1, identity_providers: 1, archive_keys: 1 }
          const none = { accounts: 0, sessions: 0, authenticator_apps: 0, identity_providers: 0, archive_keys: 0 }
          // A pepper that was forgotten stops nothing: what it sealed is counted, and stays as it is.
          expect(yield* rewrapUnder(another)).toEqual({ ...none, skipped: all, damaged: none })
          // What is damaged is no matter of peppers, and keeps the rest from nothing.
          const damage = (from: string, to: string) =>
            World.query(
              id,
              (sql) =>
                sql`
                  update totp set secret_sealed = replace(secret_sealed, ${from}, ${to})
                  where organization_id = ${id} returning 1`
            )
          yield* damage(".", ".AAAA")
          expect(yield* rewrapUnder(both)).toEqual({
            ...all,
            authenticator_apps: 0,
            skipped: none,
            damaged: { ...none, authenticator_apps: 1 }
          })
          yield* damage(".AAAA", ".")
          expect(yield* rewrapUnder(both)).toEqual({
            ...none,
            authenticator_apps: 1,
            skipped: none,
            damaged: none
          })
          expect(yield* rewrapUnder(both)).toEqual({ ...none, skipped: none, damaged: none })
          expect(yield* missing).toEqual(["API keys"])

          const [app] = yield* World.query<{ sealed: string }>(
            id,
            (sql) => sql`select secret_sealed as sealed from totp`
          )
          const [provider] = yield* World.query<{ sealed: string }>(
            id,
            (sql) => sql`select client_secret_sealed as sealed from identity_provider`
          )
          const opened = Effect.gen(function*() {
            const vault = yield* Vault
            const keys = yield* (yield* Kept).load(ref)
            const [password] = (yield* (yield* Ports.Secrets).candidates(of)).passwords
            return [
              Redacted.value(yield* vault.open(app?.sealed ?? "", Factors.sealedFor(admin))).length,
              Redacted.value(
                yield* vault.open(provider?.sealed ?? "", IdentityProviders.sealedFor(id, issuer))
              ),
              [...Redacted.value(keys?.values.get("auth")?.value ?? Redacted.make(new Uint8Array()))],
              password === undefined ? null : Redacted.value(password.password),
              yield* sealing(organizationId)
            ]
          })
          const alone = under(another, Layer.mergeAll(MessengerKeys.layer, Secrets.layer, ArchiveKeys.layer))
          expect(yield* Effect.provide(opened, alone, { local: true })).toEqual([
            32,
            "the provider's",
            [1, 2, 3],
            "the account's",
            archiveKey
          ])
        }))

      it.effect("that is lost proves no archive's public key, until somebody who opens the key sets another password", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization({ archive_key_set: false })
          const organizationId = OrganizationId.make(id)
          yield* setArchiveKey(id)
          const key = yield* sealing(organizationId)
          const without = under(another, ArchiveKeys.layer)
          const lost = Effect.provide(sealing(organizationId), without, { local: true })
          expect([key, yield* Effect.flip(lost)]).toMatchObject([{}, { _tag: "PublicKeyUnproven" }])
          yield* Effect.provide(changeArchivePassword(organizationId, "meadow copper violin"), without, { local: true })
          expect(yield* lost).toEqual(key)
        }))
    })
  })
})
