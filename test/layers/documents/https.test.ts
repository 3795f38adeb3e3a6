import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit } from "effect"
import { vi } from "vitest"
import { documentDeadline, maxDocumentSize } from "../../../src/domain/oauth/OAuth.ts"
import * as Https from "../../../src/layers/documents/Https.ts"
import { isSpecial } from "../../../src/layers/documents/specialAddresses.ts"
import * as Documents from "../../support/http/documents.ts"

const isRead = (address: string, internet: Https.Internet) =>
  Effect.map(Effect.exit(Https.read(address, internet)), Exit.isSuccess)

describe("a document of an application", () => {
  it.effect("goes to plain addresses of the internet alone, and to the very one that was looked at", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      host.answer = Documents.json({ a: 1 })
      const found = (...addresses: ReadonlyArray<string>): Https.Internet => ({
        ...host.internet,
        resolve: () => Promise.resolve(addresses),
        isRefused: (address) => address !== "127.0.0.1" && isSpecial(address)
      })
      expect(yield* isRead(host.address, found("127.0.0.1"))).toBe(true)
      expect(host.connections).toBe(1)
      expect(yield* isRead(host.address, { ...host.internet, isRefused: isSpecial })).toBe(false)
      for (const special of ["10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"]) {
        expect([special, yield* isRead(host.address, found(special))]).toEqual([special, false])
        expect([special, yield* isRead(host.address, found("127.0.0.1", special))]).toEqual([special, false])
      }
      expect(yield* isRead(host.address, found())).toBe(false)
      const { port } = new URL(host.address)
      for (const literal of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]"]) {
        expect(yield* isRead(`https://${literal}:${port}/client.json`, host.internet)).toBe(false)
      }
      expect(yield* isRead(host.address.replace("app.example", "localhost"), Https.internet)).toBe(false)
      expect(host.connections).toBe(1)
    }))

  it.effect("is asked for without anything of the user's, and of a host that proves its name", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      let headers = {}
      host.answer = (request, response) => {
        headers = request.headers
        Documents.json({})(request, response)
      }
      expect(yield* isRead(`${host.address}?a=b`, host.internet)).toBe(true)
      expect(host.asked).toEqual(["/client.json?a=b"])
      expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"])
      expect(yield* isRead(host.address, { ...host.internet, request: Https.internet.request })).toBe(false)
      expect(yield* isRead(host.address.replace("app.", "foreign."), host.internet)).toBe(false)
      expect(host.asked).toHaveLength(1)
    }))

  it.effect("is JSON of 5 KiB at most that comes at once: no redirect, no other type, nothing compressed or cut off", () =>
    Effect.gen(function*() {
      const host = yield* Documents.host
      const text = (size: number) => JSON.stringify("x".repeat(size - 2))
      const type = { "content-type": "application/json" }
      const answer = (status: number, headers: Record<string, string>, body: string | Uint8Array) => {
        host.answer = (_, response) => void response.writeHead(status, headers).end(body)
        return isRead(host.address, host.internet)
      }
      expect(yield* answer(200, type, text(maxDocumentSize))).toBe(true)
      expect(yield* answer(200, { "content-type": "Application/JSON; charset=utf-8" }, "{}")).toBe(true)
      expect(yield* answer(200, type, text(maxDocumentSize + 1))).toBe(false)
      for (const status of [201, 203, 204, 404, 500]) expect(yield* answer(status, type, "{}")).toBe(false)
      for (const status of [301, 302, 303, 307, 308]) {
        expect(yield* answer(status, { ...type, location: `${host.origin}/other` }, "{}")).toBe(false)
      }
      for (const other of ["text/html", "application/jsonp", "application/ld+json", "text/json"]) {
        expect(yield* answer(200, { "content-type": other }, "{}")).toBe(false)
      }
      expect(yield* answer(200, {}, "{}")).toBe(false)
      expect(yield* answer(200, { ...type, "content-encoding": "gzip" }, "{}")).toBe(false)
      expect(yield* answer(200, { ...type, "content-length": "10" }, "{}")).toBe(false)
      expect(yield* answer(200, type, "not JSON")).toBe(false)
      expect(yield* answer(200, type, new Uint8Array([0x22, 0xff, 0x22]))).toBe(false)
      host.answer = (_, response) => {
        response.writeHead(200, type).write("{")
        response.socket?.destroy()
      }
      expect(yield* isRead(host.address, host.internet)).toBe(false)
      host.answer = (_, response) => {
        response.writeHead(200, type)
        const more = () => response.write("x".repeat(1024), (error) => error ? undefined : more())
        more()
      }
      expect(yield* isRead(host.address, host.internet)).toBe(false)
      expect(new Set(host.asked)).toEqual(new Set(["/client.json"]))
    }))

  it.effect("comes within five seconds from the name of its host to its last byte, however it is drawn out", () =>
    Effect.gen(function*() {
      expect(Https.internet.deadline).toEqual(Duration.seconds(5))
      const host = yield* Documents.host
      const hurried = { ...host.internet, deadline: Duration.millis(300) }
      let gone = 0
      const dripping = (head: boolean): typeof host.answer => (_, response) => {
        if (head) response.writeHead(200, { "content-type": "application/json" })
        const drip = setInterval(() => head ? response.write(" ") : response.writeProcessing(), 20)
        response.on("close", () => {
          gone += 1
          clearInterval(drip)
        })
      }
      for (const head of [true, false]) {
        host.answer = dripping(head)
        expect(yield* isRead(host.address, hurried)).toBe(false)
      }
      yield* Effect.promise(() => vi.waitFor(() => expect(gone).toBe(2)))
      expect(yield* isRead(host.address, { ...hurried, resolve: () => new Promise(() => {}) })).toBe(false)
      host.answer = Documents.json({})
      expect(yield* isRead(host.address, { ...hurried, deadline: documentDeadline })).toBe(true)
    }))
})
