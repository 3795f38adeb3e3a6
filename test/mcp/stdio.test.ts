import { describe, expect, it, layer } from "@effect/vitest"
import { Deferred, Effect, Queue, type Redacted, Sink, Stdio, Stream } from "effect"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import * as Bridge from "../../src/mcp/Stdio.ts"
import { createAcme, createKey } from "../support/cli/inProcess.ts"
import { meet, staged } from "../support/logins/logins.ts"
import { fillDirectory, postgres } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import * as World from "../support/world.ts"
import * as Processes from "./processes.ts"
import * as Mcp from "./support.ts"

const line = (message: unknown) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`

/** A conversation over standard input and output with what answers at `/mcp`. */
const converse = Effect.fnUntraced(function*(ask: Bridge.Ask) {
  const input = yield* Queue.unbounded<Uint8Array>()
  const output = yield* Queue.unbounded<any>()
  const stdio = Stdio.layerTest({
    stdin: Stream.fromQueue(input),
    stdout: () =>
      Sink.forEach((text: string | Uint8Array) =>
        Effect.sync(() => {
          for (const one of String(text).split("\n").slice(0, -1)) Queue.offerUnsafe(output, JSON.parse(one))
        })
      )
  })
  yield* Effect.forkScoped(Effect.provide(Bridge.serve(ask), stdio))
  return {
    say: (message: unknown) => Queue.offer(input, new TextEncoder().encode(line(message))),
    next: Queue.take(output)
  }
})

/** What answers at `/mcp` in this test. */
const asker = (key: Redacted.Redacted) =>
  Effect.map(
    Effect.context<Effect.Services<ReturnType<typeof Mcp.send>>>(),
    (context): Bridge.Ask => (headers, raw) =>
      Mcp.send({ key, headers: { ...headers }, raw }).pipe(
        Effect.map(({ headers, status, text }) => ({
          status,
          contentType: headers.get("content-type") ?? "",
          text
        })),
        Effect.provideContext(context)
      )
  )

const organization = (id: number) => Mcp.legacy("tools/call", { name: "get_organization", arguments: {} }, id)

describe("MCP over standard input and output", () => {
  layer(World.world(postgres))((it) => {
    it.effect("sends a text with Unicode line separators, which end no line of an answer", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account_id = yield* World.makeAccount(id)
        const role_label = "One\u2028two\u2029three"
        const { next, say } = yield* converse(yield* asker(admins.owner.key))
        yield* say(
          Mcp.legacy("tools/call", { name: "set_account_role_label", arguments: { account_id, role_label } }, 1)
        )
        expect(yield* next).toMatchObject({ id: 1, result: { structuredContent: { role_label } } })
      }))

    it.effect("asks the person of an earlier revision by its client, and calls again with the answer", () =>
      Effect.gen(function*() {
        const { key, ...stage } = yield* staged()
        const person = yield* meet()
        const { body: login } = yield* stage.connect(person.phone)
        const { next, say } = yield* converse(yield* asker(key))
        const call = (id: number) =>
          say(Mcp.legacy("tools/call", { name: "submit_login_code", arguments: { login_id: login.id } }, id))
        const open = (capabilities: object) =>
          say(Mcp.legacy("initialize", {
            protocolVersion: "2025-06-18",
            capabilities,
            clientInfo: { name: "test", version: "1" }
          }, 0))
        const refusal = (answer: any) => JSON.parse(answer.result.content[0].text).error.code
        yield* open({})
        yield* next
        yield* call(1)
        expect(refusal(yield* next)).toBe("console_page_required")
        yield* open({ elicitation: {} })
        yield* next
        yield* call(2)
        const declined = yield* next
        expect(declined).toMatchObject({
          method: "elicitation/create",
          params: { requestedSchema: { required: ["code"] } }
        })
        yield* say({ jsonrpc: "2.0", id: declined.id, result: { action: "decline" } })
        expect(refusal(yield* next)).toBe("console_page_required")
        yield* call(3)
        const asked = yield* next
        yield* say({ jsonrpc: "2.0", id: "another", result: { action: "accept", content: { code: "1" } } })
        yield* say({
          jsonrpc: "2.0",
          id: asked.id,
          result: { action: "accept", content: { code: yield* person.code } }
        })
        const done = yield* next
        expect(done).toMatchObject({ id: 3, result: { structuredContent: { state: "completed" } } })
        expect(done.result).not.toHaveProperty("resultType")
      }))

    it.effect("answers each line, in every revision, and what is no JSON with -32700", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { next, say } = yield* converse(yield* asker(admins.owner.key))
        yield* say(Mcp.legacy("initialize", {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "test", version: "1" }
        }, "first"))
        expect(yield* next).toMatchObject({ id: "first", result: { protocolVersion: "2025-06-18" } })
        yield* say({ jsonrpc: "2.0", method: "notifications/initialized" })
        yield* say("nonsense")
        expect(yield* next).toMatchObject({ id: null, error: { code: -32_700 } })
        for (const invalid of [1, "text", null, [], {}, { id: 1, method: "ping" }, [{ jsonrpc: "2.0" }]]) {
          yield* say(JSON.stringify(invalid))
          expect([invalid, yield* next]).toMatchObject([invalid, { id: null, error: { code: -32_600 } }])
        }
        yield* say(organization(2))
        expect(yield* next).toMatchObject({ id: 2, result: { structuredContent: { id } } })
        yield* say(Mcp.message("tools/call", { name: "get_organization", arguments: {} }, 3))
        expect(yield* next).toMatchObject({ id: 3, result: { resultType: "complete", structuredContent: { id } } })
        yield* say(Mcp.message("tools/call", { name: "no tool \u00e9", arguments: {} }, 4))
        expect(yield* next).toMatchObject({ id: 4, error: { code: -32_602 } })
        yield* say([Mcp.legacy("ping", {}, 5), organization(6)])
        const batch = [yield* next, yield* next]
        expect(batch.map((message) => message.id).sort()).toEqual([5, 6])
      }))

    it.effect("reports in a call's result what HTTP reports by its status, and finds out anew each time", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { id: keyId, key } = yield* World.makeKey(id, admins.owner.id, ["org:read"])
        const { next, say } = yield* converse(yield* asker(key))
        const refusal = Effect.map(
          next,
          ({ result }) => [result.isError, JSON.parse(result.content[0].text).error.code]
        )
        const pause = { name: "pause_protection", arguments: {} }
        yield* say(Mcp.legacy("tools/call", pause))
        expect(yield* refusal).toEqual([true, "insufficient_scope"])
        yield* say(Mcp.message("tools/call", pause))
        const modern = yield* next
        expect(modern.result).toMatchObject({ resultType: "complete", isError: true })
        expect(modern.result.structuredContent).toBeUndefined()
        yield* World.spend(keyId)
        yield* say(organization(1))
        expect(yield* refusal).toEqual([true, "rate_limited"])
        yield* say(Mcp.legacy("ping", {}, 2))
        expect(yield* next).toMatchObject({ id: 2, error: { data: { error: { code: "rate_limited" } } } })
        yield* World.set(id, "api_key", keyId, { revoked_at: new Date(0) })
        yield* say(organization(3))
        expect(yield* refusal).toEqual([true, "invalid_api_key"])
      }))
  })

  it.effect("gives a call up that its client cancels, and answers the others", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const { next, say } = yield* converse((_, body) =>
        body.includes("ping")
          ? Effect.succeed({
            status: 200,
            contentType: "application/json",
            text: JSON.stringify({ jsonrpc: "2.0", id: 2, result: {} })
          })
          : Effect.onInterrupt(
            Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
            () => Deferred.succeed(ended, undefined)
          )
      )
      yield* say(organization(1))
      yield* Deferred.await(started)
      yield* say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* Deferred.await(ended)
      yield* say(Mcp.legacy("ping", {}, 2))
      expect(yield* next).toMatchObject({ id: 2, result: {} })
    }))

  it.effect("answers a call in the envelope where nobody answers, or something that is no MCP server", () =>
    Effect.gen(function*() {
      const asks: ReadonlyArray<readonly [message: string, ask: Bridge.Ask]> = [
        ["There is nobody.", () => Effect.fail(new Bridge.Unreachable({ message: "There is nobody." }))],
        [
          "The service is not available at the moment. Try again.",
          () => Effect.succeed({ status: 200, contentType: "text/html", text: "<html>" })
        ]
      ]
      for (const [message, ask] of asks) {
        const { next, say } = yield* converse(ask)
        yield* say(organization(1))
        const { id, result } = yield* next
        const { error } = JSON.parse(result.content[0].text)
        expect([id, result.isError, error.code, error.message]).toEqual([1, true, "service_unavailable", message])
      }
    }))

  it.live(
    "sends the archive password of its environment beside every call, and says it nowhere",
    () =>
      Effect.gen(function*() {
        const seen: Array<string | undefined> = []
        const service = yield* Effect.acquireRelease(
          Effect.callback<http.Server>((resume) => {
            const server = http.createServer((request, response) => {
              const sent = request.headers["archive-password"]
              seen.push(typeof sent === "string" ? Buffer.from(sent, "base64url").toString("utf8") : undefined)
              request.resume().on("end", () => response.writeHead(500).end())
            }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
          }),
          (server) => Effect.sync(() => server.close())
        )
        const address = service.address()
        const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
        const password = "pässword 🗝"
        const env = { CONSOLE_API_KEY: "osc_live_x", CONSOLE_ARCHIVE_PASSWORD: password }
        const { code, errors, output } = yield* Processes.run(["--url", url], env, "")
        expect([code, seen]).toEqual([1, [password]])
        for (const text of [password, "osc_live_x"]) expect(`${errors}${output}`).not.toContain(text)
        yield* Processes.run(["--url", url], { CONSOLE_API_KEY: "osc_live_x" }, "")
        expect(seen).toEqual([password, undefined])
      }),
    30_000
  )

  it.live(
    "ends with 1 and one line where the key is wrong or missing, and writes nothing but protocol",
    () =>
      Effect.gen(function*() {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => fs.mkdtempSync(path.join(scratch, "stdio-"))),
          (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
        )
        fillDirectory(folder)
        const data = ["--data", folder]
        const service = yield* Processes.serve(data)
        const key = yield* Effect.promise(async () => {
          await createAcme(folder)
          return createKey(folder)
        })
        const address = path.join(folder, "console.address")
        expect(fs.statSync(address).mode & 0o777).toBe(0o600)
        const calls = line(organization(1)) + line(Mcp.legacy("ping", {}, 2))
        const refused = yield* Effect.all([
          Processes.run(data, {}, calls),
          Processes.run(data, { CONSOLE_API_KEY: `${key}x` }, calls),
          Processes.run(["--url", "http://127.0.0.1:1"], { CONSOLE_API_KEY: key }, calls)
        ], { concurrency: 2 })
        for (const { code, errors, output } of refused) {
          expect([code, output, errors.split("\n").length]).toEqual([1, "", 2])
          expect(errors).not.toContain(key)
        }
        const there = yield* Processes.run(data, { CONSOLE_API_KEY: key }, calls)
        yield* service.stop()
        expect(fs.existsSync(address)).toBe(false)
        const here = yield* Processes.run(data, { CONSOLE_API_KEY: key }, calls)
        for (const { code, output } of [there, here]) {
          const messages = output.split("\n").filter((text) => text !== "").map((text) => JSON.parse(text))
          expect([code, messages.map(({ id }) => id).sort()]).toEqual([0, [1, 2]])
          expect(messages.find(({ id }) => id === 1).result.structuredContent.id).toBe("acme")
        }
      }),
    90_000
  )
})
