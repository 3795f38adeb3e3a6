import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { ClientDocuments, ResourceServers } from "../../src/ports/oauth/OAuthPorts.ts"
import * as Pages from "../support/http/pages.ts"
import { act } from "../support/operator/operator.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  challengeOf,
  connected,
  connections,
  introspect,
  invalidGrant,
  makeVerifier,
  query,
  redeemWith,
  refreshWith,
  refused,
  registration,
  revokeWith,
  tokens,
  use
} from "./support.ts"

const secret = "a secret of the search ".padEnd(40, "x")
const servers = Layer.succeed(ResourceServers, [{ id: "search", resource: "v1", secret: Redacted.make(secret) }])
const isActive = (token: string) => Effect.map(introspect(token, "search", secret), ({ body }) => body.active)

const change = (organization: string, to: "close" | "reopen") =>
  act((requests) => requests.organizations_change_status({ organization, act: to }))

const closed = [403, "organization_closed"]

describe("a closed organization at the authorization server", () => {
  layer(Layer.provideMerge(World.world(postgres), servers))((it) => {
    it.effect("a closed organization's tokens are inactive and get no successor; reopened, they work as before", () =>
      Effect.gen(function*() {
        const { application, organization, tokens: first } = yield* connected()
        yield* change(organization.id, "close")
        const before = (yield* World.journal(organization.id)).length
        expect(yield* isActive(first.access_token)).toBe(false)
        expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
        expect(yield* use(first.access_token)).toEqual(closed)
        expect((yield* World.journal(organization.id)).length).toBe(before)
        yield* change(organization.id, "reopen")
        expect(yield* isActive(first.access_token)).toBe(true)
        const second = tokens(yield* refreshWith(application, first.refresh_token))
        expect(yield* isActive(second.access_token)).toBe(true)
      }))

    it.effect("a closed organization's code is not redeemed, and is not used up by the attempt", () =>
      Effect.gen(function*() {
        const { connect, organization } = yield* connected()
        const granted = yield* connect()
        yield* change(organization.id, "close")
        expect(refused(yield* redeemWith(granted))).toEqual(invalidGrant)
        yield* change(organization.id, "reopen")
        expect(yield* isActive(tokens(yield* redeemWith(granted)).access_token)).toBe(true)
      }))

    it.effect("an application that revokes a token of a closed organization disconnects, and stays so after the reopening", () =>
      Effect.gen(function*() {
        const { application, organization, tokens: first } = yield* connected()
        yield* change(organization.id, "close")
        expect((yield* revokeWith(application, first.refresh_token)).status).toBe(200)
        const [connection] = yield* connections(organization.id)
        expect(connection?.revoked_at).not.toBeNull()
        yield* change(organization.id, "reopen")
        expect(yield* isActive(first.access_token)).toBe(false)
        expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
      }))

    it.effect("an admin whose organization closes while the consent page is open connects nothing", () =>
      Effect.gen(function*() {
        const { connect, organization } = yield* connected()
        yield* change(organization.id, "close")
        const granted = yield* Effect.flip(connect())
        expect(granted).toMatchObject({ _tag: "AdminGone" })
        expect(yield* connections(organization.id)).toHaveLength(1)
      }))

    it.effect("an admin of a closed organization is sent to no application, and no document is fetched for them", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const read: Array<string> = []
        const documents = Effect.provideService(ClientDocuments, {
          read: (address) => Effect.as(Effect.sync(() => read.push(address)), {})
        })
        const { body: application } = yield* registration()
        const asked = [
          query({ client_id: "https://app.example/client.json" }, challengeOf(makeVerifier())),
          query(application, challengeOf(makeVerifier())),
          query(application, challengeOf(makeVerifier()), { scope: "unknown" })
        ]
        yield* change(id, "close")
        for (const each of asked) {
          const page = yield* documents(Pages.visit("GET", `/oauth/authorize?${each}`, { cookie }))
          expect([page.status, page.location]).toEqual([403, null])
          expect(page.text).toContain("This organization is closed")
        }
        expect(read).toEqual([])
      }))
  })
})
