import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { exportInto } from "../../src/cli/commands/archive/ExportDownload.ts"
import { archivePassword } from "../support/archive/archivePassword.ts"
import { cleanUpAccount } from "../support/archive/cleanups.ts"
import { makeExported } from "../support/archive/exportedArchive.ts"
import { entriesOfZip } from "../support/archive/zips.ts"
import { pglite } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import * as World from "../support/world.ts"

/** A client that asks the service in this process; `change` may break what it answers. */
const client = Effect.fnUntraced(function*(change: (response: Response, path: string) => Response) {
  const handler = yield* World.handlerHere
  const fetchHere: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { host, pathname } = new URL(request.url)
    const headers = new Headers(request.headers)
    headers.set("host", host)
    return change(await handler(new Request(request, { headers })), pathname)
  }
  return FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetchHere)))
})

const flags = (accounts: ReadonlyArray<string>, to: string, made: string | null = null) => ({
  url: new URL(World.baseUrl).origin,
  accounts,
  chats: null,
  since: null,
  until: null,
  format: "json" as const,
  noMedia: false,
  made: Option.fromNullOr(made),
  to
})

const stage = Effect.gen(function*() {
  const exported = yield* makeExported
  const directory = fs.mkdtempSync(path.join(scratch, "archive-export-"))
  const said: Array<string> = []
  const run = Effect.fnUntraced(function*(
    asked: ReturnType<typeof flags>,
    change: Parameters<typeof client>[0] = (response) => response,
    password = archivePassword
  ) {
    const say = (line: string) => Effect.sync(() => void said.push(line))
    const secrets = { key: Option.some(exported.key), password: Effect.succeed(Redacted.make(password)), say }
    const fiber = yield* Effect.forkChild(
      Effect.provide(exportInto(asked, secrets), yield* client(change))
    )
    // It waits for seconds of the test's clock, and answers of the service.
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(fiber)
  })
  return { ...exported, directory, run, said }
})

/** The answer, whose connection is cut after so many bytes. */
const brokenAfter = (response: Response, most: number): Response => {
  let left = most
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => {
      controller.enqueue(piece.subarray(0, left))
      left -= Math.min(left, piece.length)
      if (left === 0) controller.error(new Error("The connection is gone"))
    }
  })
  return new Response(response.body?.pipeThrough(cut), { status: response.status })
}

const isPart = (at: string): boolean => at.includes("/parts/")

describe("archive export", () => {
  layer(World.world(pglite))((it) => {
    it.effect("makes an export and downloads its parts, each as the service has journaled it", () =>
      Effect.gen(function*() {
        const { accountId, directory, id, run } = yield* stage
        const done = yield* run(flags([accountId], directory))
        const [part] = done.parts
        const bytes = fs.readFileSync(part?.file ?? "")
        expect(done).toMatchObject({ messages: 3, files: 3, parts: [{ bytes: bytes.length }] })
        expect(crypto.createHash("sha256").update(bytes).digest("hex")).toBe(part?.sha256)
        expect(fs.statSync(part?.file ?? "").mode & 0o777).toBe(0o600)
        expect(entriesOfZip(bytes).at(-1)?.path).toBe("manifest.json")
        expect((yield* World.journal(id)).at(-1)).toMatchObject({
          action: "archive_export.downloaded",
          details: { sha256: part?.sha256 }
        })
        // Run again, it asks for nothing that is there.
        const asked: Array<string> = []
        const again = yield* run(flags([], directory, done.export), (response, at) => {
          asked.push(at)
          return response
        })
        expect([again, asked.filter(isPart)]).toEqual([done, []])
      }))

    it.effect("goes on with a part that broke off or was refused for now, and leaves no half of it", () =>
      Effect.gen(function*() {
        const { accountId, directory, id, run, said } = yield* stage
        let parts = 0
        const done = yield* run(flags([accountId], directory), (response, at) => {
          if (!isPart(at)) return response
          parts += 1
          if (parts === 1) return new Response(null, { status: 503, headers: { "retry-after": "1" } })
          return parts === 2 ? brokenAfter(response, 50_000) : response
        })
        expect([parts, done.parts.length, said.filter((line) => line.includes("broke off"))]).toEqual([3, 1, [
          "Part 1 broke off. It begins again.",
          "Part 1 broke off. It goes on where it was."
        ]])
        expect(fs.readdirSync(directory)).toEqual([path.basename(done.parts[0]?.file ?? "")])
        const entries = entriesOfZip(fs.readFileSync(done.parts[0]?.file ?? ""))
        expect(entries.at(-1)?.path).toBe("manifest.json")
        expect((yield* World.journal(id)).at(-1)?.details).toMatchObject({ after_bytes: 50_000 })
      }))

    it.effect("leaves what is there where a part breaks off again and again, and a later run goes on with it, or begins again where something of it was deleted", () =>
      Effect.gen(function*() {
        const { accountId, create, directory, id, key, run } = yield* stage
        const { body: made } = yield* create("json")
        let parts = 0
        const giveUp = Effect.flip(run(flags([], directory, made.id), (response, at) => {
          if (!isPart(at)) return response
          parts += 1
          if (parts === 1) return brokenAfter(response, 9000)
          // What nobody reads would keep its turn.
          void response.body?.cancel()
          return new Response(null, { status: 503 })
        }))
        const goOn = Effect.gen(function*() {
          const asked: Array<string> = []
          const done = yield* run(flags([], directory, made.id), (response, at) => {
            if (isPart(at)) asked.push(at)
            return response
          })
          const file = done.parts[0]?.file ?? ""
          const entries = entriesOfZip(fs.readFileSync(file))
          fs.rmSync(file)
          return { asked: asked.length, last: entries.at(-1)?.path }
        })
        expect((yield* giveUp).message).toContain(`--export ${made.id}`)
        const [left = ""] = fs.readdirSync(directory)
        expect([left.endsWith(".part"), fs.statSync(path.join(directory, left)).size]).toEqual([true, 9000])
        expect(yield* goOn).toEqual({ asked: 1, last: "manifest.json" })
        expect((yield* World.journal(id)).at(-1)?.details).toMatchObject({ after_bytes: 9000 })
        parts = 0
        yield* giveUp
        yield* cleanUpAccount(key, accountId)
        expect(yield* goOn).toEqual({ asked: 2, last: "manifest.json" })
      }))

    it.effect("says why it is refused, in a line, and writes nothing then", () =>
      Effect.gen(function*() {
        const { accountId, directory, run } = yield* stage
        const refusal = (asked: ReturnType<typeof flags>, password?: string) =>
          Effect.map(Effect.flip(run(asked, undefined, password)), ({ message }) => message)
        expect(yield* refusal({ ...flags([accountId], directory), url: "http://console.example" })).toContain("--url")
        expect(yield* refusal(flags([], directory))).toContain("--account")
        expect(yield* refusal(flags([accountId], path.join(directory, "none")))).toContain("no directory")
        expect(yield* refusal(flags([crypto.randomUUID()], directory))).toMatch(/no such|not/i)
        expect(yield* refusal(flags([accountId], directory), "another password")).toMatch(/password/i)
        expect(fs.readdirSync(directory)).toEqual([])
      }))
  })
})
