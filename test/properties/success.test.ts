import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import * as Mcp from "../mcp/support.ts"
import { type JsonSchema, violations } from "../support/http/documented.ts"
import { ask, changing, journaled, makeStage, type Request } from "../support/http/requests.ts"
import * as Populated from "../support/populated.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { thirdParty } from "../support/preparations.ts"
import * as World from "../support/world.ts"

/** Ids, numbers, addresses and hashes by the order in which they are said. */
const makeNames = () => {
  const names = new Map<string, string>()
  return (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value).replaceAll(
        /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|\+?\d{10,}|[\w.-]+@example\.com|osc_live_\w+|\bu[0-9a-f]{20}\b/g,
        (found) => {
          const name = names.get(found) ?? `#${names.size}`
          names.set(found, name)
          return name
        }
      )
    )
}

const tools = Mcp.tools.all().map(([, tool]) => tool)

describe("each change, once there is what it needs", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S1-07, S1-09, S1-10: succeeds over REST and MCP alike, leaves the same entries, and nothing of another organization is changed", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          const stages = { rest: yield* makeStage(), mcp: yield* makeStage() }
          const other = yield* Populated.make()
          const ofOther = Effect.all([World.snapshot(other.id), Populated.onMessenger(other.live)])
          const before = yield* ofOther
          const played = (via: "rest" | "mcp") => {
            const { organization, ready } = stages[via]
            const { owner } = organization.admins
            const answers = Effect.fnUntraced(function*(request: Request) {
              if (via === "rest") return yield* ask(request, owner.key)
              const { body, how, status } = Mcp.resultOf(
                yield* Mcp.call(request.id, request.input, { key: owner.key, options: Mcp.personal })
              )
              return { body, how, status }
            })
            return ready(owner).filter(({ id }) => changing.has(id)).map(({ request }) =>
              Effect.gen(function*() {
                const sent = yield* request
                const named = makeNames()
                named([organization.id, sent.input])
                const since = (yield* World.journal(organization.id)).length
                const { body, status } = yield* answers(sent)
                const entries = (yield* World.journal(organization.id)).slice(since)
                return {
                  status,
                  body,
                  told: named(body),
                  actors: entries.map((
                    entry
                  ) => [entry.actor_admin_id === owner.id, entry.credential_id === owner.keyId, entry.via]),
                  entries: entries.map(({ action, details, outcome, target_type }) =>
                    named([`${action} ${outcome}`, target_type, details])
                  ),
                  actions: entries.map(({ action, outcome }) => `${action} ${outcome}`)
                }
              })
            )
          }
          const carrying: Array<string> = []
          const overMcp = played("mcp")
          const all = stages.rest.ready(stages.rest.organization.admins.owner).filter(({ id }) => changing.has(id))
          for (const [place, overRest] of played("rest").entries()) {
            const { id, operation } = all[place]!
            const rest = yield* overRest
            const needs = "what it needs before it succeeds is a line in test/support/preparations.ts"
            expect([id, rest.status, rest.body.error?.code], needs).toEqual([id, 200, undefined])
            const entries = "what it journals besides its own entry is a line in test/support/http/requests.ts"
            expect([id, rest.actions], entries).toEqual([id, journaled(operation)])
            const { outputSchema } = tools.find(({ name }) => name === id)!
            expect([id, violations(outputSchema as JsonSchema, rest.body)]).toEqual([id, []])
            if (JSON.stringify(rest.body).includes(thirdParty)) {
              expect([id, rest.body.content_notice]).toEqual([id, contentNotice])
              carrying.push(id)
            }
            const mcp = yield* overMcp[place]!
            if (operation.page !== undefined) {
              expect([id, mcp.body.error.code, mcp.actions]).toEqual([id, "console_page_required", []])
              continue
            }
            expect([id, mcp.told]).toEqual([id, rest.told])
            expect([id, mcp.entries]).toEqual([id, rest.entries])
            expect([id, rest.actors, mcp.actors]).toEqual([
              id,
              rest.entries.map(() => [true, true, "rest"]),
              rest.entries.map(() => [true, true, "mcp"])
            ])
          }
          expect(carrying).not.toEqual([])
          expect(yield* ofOther).toEqual(before)
        }))
    })
  })
})
