import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient, HttpServer } from "effect/http"
import * as Failure from "../../src/domain/Failure.ts"
import * as Client from "../../src/http/Client.ts"
import * as Server from "../../src/http/Server.ts"
import { operations } from "../../src/operations/index.ts"
import * as Site from "../../src/transport/Site.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** The service on a socket, which knows itself by the address that it listens on. */
const listening = Layer.effect(
  Site.Sites,
  Effect.map(
    HttpServer.HttpServer,
    ({ address }) => Site.make([{ baseUrl: HttpServer.formatAddress(address), organizationId: null }])
  )
)

const service = Server.layer.pipe(
  Layer.provideMerge(listening),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(World.core(postgres)),
  Layer.provideMerge(FetchHttpClient.layer)
)

const clientOf = (key: Redacted.Redacted) =>
  Effect.flatMap(
    HttpServer.HttpServer,
    ({ address }) => Client.make({ baseUrl: HttpServer.formatAddress(address), key })
  )

describe("the typed client against a running service", () => {
  layer(service)((it) => {
    it.effect("answers what the declarations say, times as dates", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeLiveAccount(id, { first_name: "Ada" })
        const client = yield* clientOf(admins.owner.key)
        const organization = yield* client.get_organization()
        expect(organization).toMatchObject({ object: "organization", id, plan: { plan: "governance" } })
        const page = yield* client.list_protected_accounts({ query: { limit: 1, status: "protected" } })
        expect(page.data.map((each) => each.id)).toEqual([account.id])
        const labelled = yield* client.set_account_role_label({
          params: { account_id: account.id },
          payload: { role_label: "Board" }
        })
        expect(labelled.role_label).toBe("Board")
        const profile = yield* client.update_messenger_profile({
          params: { account_id: account.id },
          payload: { about: "Hello" }
        })
        expect(profile.about).toBe("Hello")
        const paused = yield* client.pause_protection({ params: { account_id: account.id } })
        expect(paused.status).toBe("paused")
        const journal = yield* client.list_journal_events({ query: { limit: 1 } })
        expect(journal.data).toMatchObject([
          { action: "account.paused", account_id: account.id, at: expect.any(Date) }
        ])
      }))

    it.effect("fails with the classes that the operations fail with", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account_id = yield* World.makeAccount(id, { facts: { paused_at: new Date(0) } })
        const client = yield* clientOf(admins.owner.key)
        const notActive = yield* Effect.flip(client.pause_protection({ params: { account_id } }))
        expect(notActive).toBeInstanceOf(Failure.NotActive)
        expect(notActive).toMatchObject({ _tag: "not_active", message: new Failure.NotActive({}).message })
        const noSession = yield* Effect.flip(client.get_account_messenger_profile({ params: { account_id } }))
        expect(noSession).toBeInstanceOf(Failure.NoSession)
        const billing = yield* clientOf(admins.billing.key)
        expect(yield* Effect.flip(billing.pause_protection({ params: { account_id } }))).toBeInstanceOf(
          Failure.RoleForbidden
        )
        const other = yield* World.makeOrganization()
        const missing = yield* Effect.flip(
          (yield* clientOf(other.admins.owner.key)).get_account({ params: { account_id } })
        )
        expect(missing).toBeInstanceOf(Failure.ResourceMissing)
        expect(missing).toMatchObject({ param: "account_id" })
        const stranger = yield* clientOf(Redacted.make("osc_live_nobody"))
        expect(yield* Effect.flip(stranger.get_organization())).toBeInstanceOf(Failure.InvalidApiKey)
      }))

    it.effect("has a call for every operation", () =>
      Effect.gen(function*() {
        const client = yield* clientOf(Redacted.make("osc_live_nobody"))
        expect(Object.keys(client).toSorted()).toEqual(operations.map((each) => each.id).toSorted())
      }))
  })
})
