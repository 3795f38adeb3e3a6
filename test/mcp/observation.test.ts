import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { silentLogins } from "../support/messenger/silentSession.ts"
import { observed } from "../support/observed.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

describe("what is recorded of a tool call", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is recorded as its operation, beside the request that carries it", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { answered, metrics } = yield* observed(
          Mcp.call("get_account", { account_id: "0190a0a0-0000-7000-8000-000000000000" }, { key: admins.owner.key })
        )
        const common = { via: "mcp", route: "/mcp", organization_id: id, credential_id: admins.owner.keyId }
        expect(answered.map(({ fields }) => fields)).toMatchObject([
          { ...common, operation: "get_account", status: 404, code: "resource_missing" },
          { ...common, operation: null, status: 200, code: null }
        ])
        expect(new Set(answered.map(({ fields }) => fields["request_id"])).size).toBe(1)
        expect(metrics).toContain(
          "console_requests_total{operation=\"get_account\",via=\"mcp\",code=\"resource_missing\"} 1"
        )
        expect(metrics).toContain("console_requests_total{operation=\"/mcp\",via=\"http\",code=\"200\"} 1")
        expect(metrics).toContain("console_requests_in_flight 0")
      }))

    it.effect("is recorded as cancelled where the client gave it up", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account = yield* World.makeLiveAccount(id)
        const { answered, metrics } = yield* observed(Effect.gen(function*() {
          const started = yield* Deferred.make<void>()
          const ended = yield* Deferred.make<void>()
          const open = () =>
            Effect.onInterrupt(
              Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
              () => Deferred.succeed(ended, undefined)
            )
          const controller = new AbortController()
          const fiber = yield* Mcp.call("get_account_messenger_profile", { account_id: account.id }, {
            key: admins.owner.key,
            signal: controller.signal
          }).pipe(
            Effect.provideService(MessengerSession, { ...silentLogins, open }),
            Effect.ignoreCause,
            Effect.forkScoped
          )
          yield* Deferred.await(started)
          controller.abort()
          yield* Deferred.await(ended)
          yield* Fiber.await(fiber)
        }))
        const [tool] = answered.map(({ fields }) => fields)
        expect(tool).toMatchObject({ operation: "get_account_messenger_profile", status: null, code: "cancelled" })
        expect(metrics).toContain(
          "console_requests_total{operation=\"get_account_messenger_profile\",via=\"mcp\",code=\"cancelled\"} 1"
        )
      }), 20_000)
  })
})
