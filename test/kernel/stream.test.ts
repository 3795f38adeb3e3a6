import { describe, expect, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted, Schedule, Stream } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { Caller } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import * as Mcp from "../mcp/support.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import { downloadLetters, letters, open, port, served, serving } from "../support/http/letters.ts"
import { connect, request } from "../support/http/socket.ts"
import * as World from "../support/world.ts"

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
  const account = yield* World.makeAccount(id)
  yield* setArchiveKey(id)
  const at = yield* port
  const key = Redacted.value(admins.owner.key)
  const path = (kind: string, size: number) => `/v1/accounts/${account}/letters/${kind}?size=${size}`
  const headers = (more: Record<string, string> = {}) => ({
    authorization: `Bearer ${key}`,
    ...passwordHeader(),
    ...more
  })
  /** A request as a client makes it; null where the body does not end well. */
  const load = (kind: string, size: number, more: Record<string, string> = {}, method = "GET") =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${at}${path(kind, size)}`, { method, headers: headers(more) })
      const body = await response.arrayBuffer().then((bytes) => new Uint8Array(bytes), () => null)
      return { body, headers: response.headers, status: response.status }
    })
  const raw = (kind: string, size: number) =>
    request(`GET ${path(kind, size)}`, Object.entries(headers()).map(([name, value]) => `${name}: ${value}`))
      .replace("Host: localhost", `Host: 127.0.0.1:${at}`)
  const json = (body: Uint8Array | null) => JSON.parse(new TextDecoder().decode(body ?? new Uint8Array()))
  const tool = (kind: string, size: number) =>
    Mcp.ask("tools/call", {
      name: "download_letters",
      arguments: { account_id: account, kind, size: String(size) },
      _meta: { archive_password: archivePassword }
    }, { key, host: `127.0.0.1:${at}` }).pipe(
      Effect.provideService(ServedOperations, served)
    )
  return { account, admins, at, json, load, raw, tool }
})

const text = (size: number, start = 0) => letters({ start, end: start + size })

const untilClosed = Effect.repeat(Effect.sleep("10 millis"), { until: () => open.streams === 0 })

describe("operations that answer a content", () => {
  layer(serving, { excludeTestServices: true })((it) => {
    it.effect("answer it whole, as a file that a browser stores and does not show", () =>
      Effect.gen(function*() {
        const { load } = yield* make
        const { body, headers, status } = yield* load("sized", 200_000)
        expect([status, body]).toEqual([200, text(200_000)])
        expect(Object.fromEntries(headers)).toMatchObject({
          "content-type": "text/plain",
          "content-length": "200000",
          "accept-ranges": "bytes",
          "content-disposition": "attachment; filename=\"brief____.txt\"; filename*=UTF-8''brief%20%22%C3%A4%22.txt",
          "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
          "x-content-type-options": "nosniff",
          "cache-control": "private, no-store",
          etag: "\"v1\""
        })
        expect(headers.get("request-id")).toMatch(/^req_/)
        const empty = yield* load("sized", 0)
        expect([empty.status, empty.body, empty.headers.get("content-length")]).toEqual([200, new Uint8Array(), "0"])
      }))

    it.effect("answer a part of it with 206, the whole to what is no single range, and 416 to a part that is not there", () =>
      Effect.gen(function*() {
        const { json, load } = yield* make
        const parts = [
          ["bytes=3-5", 206, text(3, 3), "bytes 3-5/100"],
          ["bytes=90-", 206, text(10, 90), "bytes 90-99/100"],
          ["bytes=-1", 206, text(1, 99), "bytes 99-99/100"],
          ["bytes=0-1,5-6", 200, text(100), null],
          ["bytes=x", 200, text(100), null]
        ] as const
        for (const [range, status, body, contentRange] of parts) {
          const answer = yield* load("sized", 100, { range })
          expect([range, answer.status, answer.body, answer.headers.get("content-range")])
            .toEqual([range, status, body, contentRange])
        }
        const absent = yield* load("sized", 100, { range: "bytes=100-" })
        expect([absent.status, absent.headers.get("content-range"), json(absent.body).error.code])
          .toEqual([416, "bytes */100", "range_not_satisfiable"])
        const changed = yield* load("sized", 100, { range: "bytes=3-5", "if-range": "\"v0\"" })
        expect([changed.status, changed.body]).toEqual([200, text(100)])
        const same = yield* load("sized", 100, { range: "bytes=3-5", "if-range": "\"v1\"" })
        expect([same.status, same.body]).toEqual([206, text(3, 3)])
      }))

    it.effect("answer HEAD with the head alone, and read nothing for it", () =>
      Effect.gen(function*() {
        const { load } = yield* make
        for (let times = 0; times < 10; times++) {
          const { body, headers, status } = yield* load("sized", 100, { range: "bytes=3-5" }, "HEAD")
          expect([status, body?.length, headers.get("content-length")]).toEqual([200, 0, "100"])
        }
      }))

    it.effect("answer one of unknown size in pieces, and no part of it", () =>
      Effect.gen(function*() {
        const { load } = yield* make
        const { body, headers, status } = yield* load("unsized", 100_000, { range: "bytes=0-1" })
        expect([status, body]).toEqual([200, text(100_000)])
        expect([headers.get("accept-ranges"), headers.get("content-length")]).toEqual(["none", null])
      }))

    it.effect("cut the connection where the bytes fail, are too few or too many, so that nobody takes them for whole", () =>
      Effect.gen(function*() {
        const { load } = yield* make
        for (const kind of ["failing", "short", "long"]) {
          const { body, status } = yield* load(kind, 300_000)
          expect([kind, status, body]).toEqual([kind, 200, null])
        }
        yield* untilClosed
      }))

    it.effect("read no further than the client does, and let go of one that stops", () =>
      Effect.gen(function*() {
        const { at, load, raw } = yield* make
        const connection = yield* connect(at)
        connection.limit(0)
        connection.write(raw("sized", 1024 * 1024 * 1024))
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => open.streams === 1 })
        yield* untilClosed
        connection.limit(Infinity)
        expect(yield* connection.gone).toBe("reset")
        const gone = yield* connect(at)
        gone.write(raw("slow", 10))
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => open.streams === 1 })
        gone.abort()
        yield* untilClosed
        expect((yield* load("sized", 10)).status).toBe(200)
      }))

    it.effect("send a credential four at a time, and the fifth once one of them has ended", () =>
      Effect.gen(function*() {
        const { admins, at, json, load, raw } = yield* make
        const connections = yield* Effect.replicateEffect(connect(at), 4)
        for (const connection of connections) connection.write(raw("slow", 10))
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => open.streams === 4 })
        const fifth = yield* load("sized", 10)
        expect([fifth.status, fifth.headers.get("retry-after"), json(fifth.body).error.code])
          .toEqual([429, "5", "rate_limited"])
        const another = { authorization: `Bearer ${Redacted.value(admins.superadmin.key)}` }
        expect((yield* load("sized", 10, another)).status).toBe(200)
        for (const connection of connections) connection.abort()
        yield* untilClosed
        const later = Effect.map(load("sized", 10), ({ status }) => status)
        expect(
          yield* Effect.repeat(later, { until: (status) => status === 200, schedule: Schedule.spaced("10 millis") })
        )
          .toBeDefined()
      }))

    it.effect("check the password and the account before anything else, and answer JSON where they refuse", () =>
      Effect.gen(function*() {
        const { json, load } = yield* make
        const refused = yield* load("sized", 10, passwordHeader("another one"))
        expect([refused.status, json(refused.body).error.code]).toEqual([403, "archive_password_invalid"])
        expect(refused.headers.get("content-disposition")).toBeNull()
        const other = yield* make
        const stranger = { authorization: `Bearer ${Redacted.value(other.admins.owner.key)}` }
        const missing = yield* load("sized", 10, stranger)
        expect([missing.status, json(missing.body).error.code]).toEqual([404, "resource_missing"])
      }))

    it.effect("answer a call of the tool with the bytes as an embedded resource, up to 8 MiB", () =>
      Effect.gen(function*() {
        const { account, tool } = yield* make
        const { body } = yield* tool("sized", 1000)
        expect(body.result.structuredContent).toMatchObject({
          object: "content",
          media_type: "text/plain",
          size: 1000,
          content_notice: expect.any(String)
        })
        const [, { resource, type }] = body.result.content
        expect([type, resource.uri, resource.mimeType])
          .toEqual(["resource", `org-security-console:/v1/accounts/${account}/letters/sized`, "text/plain"])
        expect(resource.blob).toBe(Base64.encode(text(1000)))
        const codes: ReadonlyArray<readonly [kind: string, size: number, code: string]> = [
          ["sized", 8 * 1024 * 1024 + 1, "file_too_large"],
          ["unsized", 8 * 1024 * 1024 + 1, "file_too_large"],
          ["failing", 1000, "content_unreadable"],
          ["short", 1000, "content_unreadable"]
        ]
        for (const [kind, size, code] of codes) {
          expect([kind, Mcp.resultOf(yield* tool(kind, size)).body.error.code]).toEqual([kind, code])
        }
        expect((yield* tool("sized", 8 * 1024 * 1024)).body.result.content[1].type).toBe("resource")
      }))

    it.effect("answer a program that embeds them with a stream of their bytes", () =>
      Effect.gen(function*() {
        const { account, admins, at } = yield* make
        const known = yield* (yield* Ports.Credentials).authenticate(admins.owner.key, `http://127.0.0.1:${at}/v1`)
        const extras = { archivePassword: Redacted.make(archivePassword) }
        const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null, extras })
        const call = (kind: "sized" | "failing") =>
          Effect.provideService(downloadLetters.call({ account_id: account, kind, size: "10" }), Caller, caller)
        const content = yield* call("sized")
        expect([content.file_name, content.size]).toEqual(["brief \"ä\".txt", 10])
        expect(yield* Stream.mkUint8Array(content.bytes())).toEqual(text(10))
        expect(yield* Stream.mkUint8Array(content.bytes({ start: 2, end: 4 }))).toEqual(text(2, 2))
        const failed = yield* Effect.exit(Stream.runDrain((yield* call("failing")).bytes()))
        expect(Exit.isFailure(failed) && Cause.pretty(failed.cause)).toContain("the test says so")
      }))

    it.effect("are in the document as binary, with their ranges and headers", () =>
      Effect.sync(() => {
        const document: any = JSON.parse(JSON.stringify(Documents.make(served)))
        const { get } = document.paths["/v1/accounts/{account_id}/letters/{kind}"]
        expect(Object.keys(get.responses)).toEqual(
          ["200", "206", "400", "401", "403", "404", "409", "416", "429", "500", "503"]
        )
        const binary = { "*/*": { schema: { type: "string", format: "binary" } } }
        expect([get.responses["200"].content, get.responses["206"].content]).toEqual([binary, binary])
        expect(Object.keys(get.responses["206"].headers)).toContain("Content-Range")
        expect(get.parameters.map(({ name }: any) => name)).toEqual(["account_id", "kind", "size", "Range"])
        expect(document.components.headers["Content-Range"]).toBeDefined()
      }))
  })
})
