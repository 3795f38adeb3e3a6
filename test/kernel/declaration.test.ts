import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AccountAction } from "../../src/domain/accounts/Account.ts"
import { Caller, superadmins } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import { api, operations } from "../added/index.ts"
import * as Mcp from "../mcp/support.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const answer = (account: string) => ({ object: "account_action", account_id: account, action: "label_retired" })

/** The admin whom an embedding program acts as. */
const callerOf = Effect.fnUntraced(function*(key: World.Person["key"]) {
  const credentials = yield* Ports.Credentials
  const known = yield* credentials.authenticate(key, `${World.baseUrl}/v1`)
  return Caller.of({ ...known, via: "embedded", ip: null, requestId: null })
})

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id, { facts: { role_label: "Chair" } })
  const retire = (headers: Record<string, string> = {}) =>
    World.send("POST", `/v1/accounts/${account}/retire-label`, {
      key: admins.owner.key,
      body: { reason: "Left" },
      headers
    })
  const call = (caller: Caller["Service"]) =>
    api.retire_label.call({ account_id: account, reason: "Left" }).pipe(
      Effect.provideService(Caller, caller),
      Effect.map(Schema.encodeSync(AccountAction))
    )
  const entries = Effect.map(World.journal(id), (events) => events.length)
  return { admins, account, call, entries, retire }
})

describe("an operation that is declared, and nothing else", () => {
  it("is in the document, with its hints, its sample and its key", () => {
    const { paths }: any = JSON.parse(JSON.stringify(Documents.make(operations)))
    const { post } = paths["/v1/accounts/{account_id}/retire-label"]
    expect(post).toMatchObject({
      operationId: "retire_label",
      tags: ["accounts"],
      "x-scope": "accounts:write",
      "x-roles": superadmins,
      "x-destructive": true
    })
    expect(post.requestBody.content["application/json"].examples.demo.value).toEqual({ reason: "Left the board" })
    expect(JSON.stringify(post.parameters)).toContain("Idempotency-Key")
    const statuses = ["200", "400", "401", "403", "404", "409", "429", "500", "503"]
    expect(Object.keys(post.responses).toSorted()).toEqual(statuses)
    expect(JSON.stringify(Documents.make())).not.toContain("retire_label")
  })

  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("takes the same key from every transport: the header, _meta of a call, and the caller of a program", () =>
        Effect.gen(function*() {
          const { account, admins, call, entries, retire } = yield* make
          const { key } = admins.owner
          const called = { name: "retire_label", arguments: { account_id: account, reason: "Left" } }
          const params = (given: unknown) => ({ ...called, _meta: { idempotency_key: given } })
          const newest = (given: unknown) => Mcp.ask("tools/call", params(given), { key })
          for (const wrong of ["", 1, "a".repeat(256), " ", " one", "one "]) {
            expect(Mcp.resultOf(yield* newest(wrong)).body.error.param).toBe("Idempotency-Key")
          }
          expect(Mcp.resultOf(yield* newest("one")).body).toEqual(answer(account))
          const legacy = Mcp.send({ key, body: Mcp.legacy("tools/call", params("one")) })
          expect(Mcp.resultOf(yield* legacy).body).toEqual(answer(account))
          const header = yield* retire({ "idempotency-key": "one" })
          expect([header.body, header.headers.get("idempotent-replayed")]).toEqual([answer(account), "true"])
          const caller = yield* callerOf(key)
          expect(yield* call(Caller.of({ ...caller, extras: { idempotencyKey: "one" } }))).toEqual(answer(account))
          expect(yield* entries).toBe(1)
        }))

      it.effect("is called by a program that embeds it", () =>
        Effect.gen(function*() {
          const { account, admins, call, entries } = yield* make
          expect(yield* call(yield* callerOf(admins.owner.key))).toEqual(answer(account))
          expect(yield* entries).toBe(1)
        }))

      it.effect("is a tool for those who may use it", () =>
        Effect.gen(function*() {
          const { account, admins } = yield* make
          const { key } = admins.owner
          expect(yield* Mcp.list({ key })).toContain("retire_label")
          expect(yield* Mcp.list({ key, path: "/mcp?tools=retire_label" })).toEqual(["retire_label"])
          const listed = yield* Mcp.ask("tools/list", {}, { key })
          const tool = listed.body.result.tools.find(({ name }: { readonly name: string }) => name === "retire_label")
          expect(tool.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: false })
          expect(yield* Mcp.list({ key: admins.admin.key })).not.toContain("retire_label")
          const called = Mcp.call("retire_label", { account_id: account, reason: "Left" }, { key })
          expect(Mcp.resultOf(yield* called).body).toEqual(answer(account))
        }))

      it.effect("is served where the list has it, and answers as any other address where it has not", () =>
        Effect.gen(function*() {
          const { admins, entries, retire } = yield* make
          const shorter = operations.filter(({ id }) => id !== "retire_label")
          const [first, ...rest] = shorter
          if (first === undefined) return yield* Effect.die("No operations")
          const without = Effect.provideService(ServedOperations, [first, ...rest])
          expect(World.refusal(yield* without(retire()))).toEqual([404, "resource_missing"])
          expect(yield* without(Mcp.list({ key: admins.owner.key }))).not.toContain("retire_label")
          expect(yield* entries).toBe(0)
          expect((yield* retire()).status).toBe(200)
        }))
    })
  })
})
