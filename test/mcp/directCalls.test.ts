import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as DirectCalls from "../../src/mcp/DirectCalls.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }

const calling = (params: Record<string, unknown> = {}) =>
  Mcp.legacy("tools/call", { name: "get_organization", ...params })

describe("a call that has nothing for the SDK", () => {
  it("is one request of an earlier revision, for a tool with its arguments", () => {
    for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
      expect(DirectCalls.read({ ...headers, "mcp-protocol-version": revision }, calling())).toEqual({
        id: 1,
        name: "get_organization",
        input: {},
        meta: undefined
      })
    }
    const meta = { progressToken: 3, idempotency_key: "key" }
    expect(DirectCalls.read(headers, calling({ arguments: { a: 1 }, _meta: meta }))).toMatchObject({
      input: { a: 1 },
      meta
    })
  })

  it("is nothing else: another header, member, method, id or shape is the SDK's to answer", () => {
    for (
      const other of [
        { "content-type": "text/plain" },
        { accept: "application/json;q=0" },
        { accept: "text/event-stream" },
        { "mcp-protocol-version": "2024-11-05" },
        { "mcp-protocol-version": "2026-07-28" },
        { "mcp-method": "tools/call" },
        { "mcp-name": "get_organization" }
      ]
    ) {
      expect(DirectCalls.read({ ...headers, ...other }, calling())).toBeUndefined()
    }
    for (
      const body of [
        undefined,
        null,
        [],
        [calling()],
        { ...calling(), more: 1 },
        { ...calling(), jsonrpc: "1.0" },
        { ...calling(), method: "tools/list" },
        { ...calling(), id: 1.5 },
        { ...calling(), id: null },
        { jsonrpc: "2.0", method: "tools/call", params: { name: "get_organization" } },
        { ...calling(), params: [] },
        calling({ name: 1 }),
        calling({ arguments: null }),
        calling({ arguments: [] }),
        calling({ task: {} }),
        calling({ _meta: null }),
        calling({ _meta: { progressToken: {} } }),
        calling({ _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })
      ]
    ) {
      expect(DirectCalls.read(headers, body)).toBeUndefined()
    }
  })

  layer(World.world(postgres))((it) => {
    it.effect("is answered as the SDK answers it, in every revision, whatever it answers", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        yield* World.makeAccount(id, { first_name: "\ud83d\ude80 \"quoted\" \u2028" })
        for (const revision of [undefined, "2025-03-26", "2025-06-18", "2025-11-25"]) {
          for (
            const [name, args] of [
              ["get_organization", {}],
              ["list_protected_accounts", {}],
              ["get_account", { account_id: "0190a0a0-0000-7000-8000-000000000000" }],
              ["get_account", { account_id: 7 }],
              ["set_notification_recipients", { recipients: "owner" }]
            ] as const
          ) {
            const asked = (_meta: object | undefined, key: string | number) =>
              Mcp.send({
                key: admins.owner.key,
                headers: revision === undefined ? {} : { "mcp-protocol-version": revision },
                body: Mcp.legacy(
                  "tools/call",
                  { name, arguments: args, ...(_meta === undefined ? {} : { _meta }) },
                  key
                )
              })
            const direct = yield* asked(undefined, "\ud83d\ude80")
            const whole = yield* asked({ other: 1 }, "\ud83d\ude80")
            expect([direct.status, direct.text]).toEqual([whole.status, whole.text])
            expect([...direct.headers.keys()].toSorted()).toEqual([...whole.headers.keys()].toSorted())
            expect(direct.headers.get("content-type")).toBe(whole.headers.get("content-type"))
          }
        }
      }))

    it.effect("is refused as the SDK refuses it where the connection does not have the tool, and changes nothing", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const call = { name: "pause_protection", arguments: { account_id: yield* World.makeAccount(id) } }
        const { key } = admins.owner
        for (
          const asking of [
            { headers: { "x-mcp-readonly": "true" } },
            { path: "/mcp/readonly" },
            { path: "/mcp/x/journal" },
            { path: "/mcp?tools=get_account" }
          ]
        ) {
          const direct = yield* Mcp.send({ ...asking, key, body: Mcp.legacy("tools/call", call) })
          const whole = yield* Mcp.send({
            ...asking,
            key,
            body: Mcp.legacy("tools/call", { ...call, _meta: { a: 1 } })
          })
          expect([asking, direct.status, direct.body]).toEqual([asking, whole.status, whole.body])
          expect(direct.body.error.code).toBe(-32_602)
        }
        expect(yield* World.journal(id)).toEqual([])
        expect(Mcp.resultOf(yield* Mcp.send({ key, body: Mcp.legacy("tools/call", call) })).how).toBe("done")
      }))
  })
})
