import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, vi } from "vitest"
import { sealedChunkSize, sealedSize } from "../../src/domain/archive/Blob.ts"
import { mediaOf, offeredAs } from "../../src/viewer/page/MediaTypes.ts"
import { makeDownload } from "../../src/viewer/worker/SealedDownload.ts"
import { ask, type Service } from "../../src/viewer/worker/Service.ts"

const size = 3 * 65_536 + 5
const stored = Uint8Array.from({ length: sealedSize(size) }, (_, at) => at * 7 + (at >> 8))

/** Answers requests with what is next; the ranges that they ask for. */
const answerWith = (...answers: ReadonlyArray<(from: number) => Response>) => {
  const ranges: Array<string | null> = []
  const left = [...answers]
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const range = new Headers(init.headers).get("range")
    ranges.push(range)
    const next = left.shift() ?? (() => Promise.reject(new TypeError("away")))
    return Promise.resolve(next(Number(/\d+/.exec(range ?? "")?.[0] ?? 0)))
  })
  return ranges
}

/** Bytes in parts of an odd size, which end or break after so many. */
const body = (from: number, length: number, ending: "close" | "error") => {
  let at = from
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const part = stored.slice(at, Math.min(at + 10_007, from + length))
      at += part.length
      if (part.length > 0) return controller.enqueue(part)
      if (ending === "close") controller.close()
      else controller.error(new Error("cut"))
    }
  })
}

const answered = (length: number, ending: "close" | "error" = "close") => (from: number) =>
  new Response(body(from, length, ending), { status: from === 0 ? 200 : 206 })

const said: Array<number> = []
const service: Service = {
  address: "https://console.example/console/archive/data",
  token: "token",
  organizationId: "acme",
  waiting: (seconds) => said.push(seconds)
}

const tooMany = (retryAfter: string) => () =>
  Response.json({ error: { code: "rate_limited", message: "Too many." } }, {
    status: 429,
    headers: { "retry-after": retryAfter }
  })

const readAll = Effect.fnUntraced(function*() {
  const download = makeDownload(service, "019bc0e2-1280-7a54-9a35-2b7c1d0f6e11", size)
  const chunks: Array<Uint8Array> = []
  for (let at = 0; at < stored.length;) {
    const chunk = yield* download.next()
    chunks.push(chunk)
    at += chunk.length
  }
  return Buffer.concat(chunks)
})

afterEach(() => {
  vi.unstubAllGlobals()
  said.length = 0
})

describe("downloads of the viewer", () => {
  it.effect("give the chunks of a content, and go on where a connection was cut", () =>
    Effect.gen(function*() {
      expect(answerWith()).toEqual([])
      const ranges = answerWith(
        answered(sealedChunkSize + 100, "error"),
        answered(10),
        answered(stored.length)
      )
      expect(Buffer.compare(yield* readAll(), stored)).toBe(0)
      expect(ranges).toEqual([null, `bytes=${sealedChunkSize}-`, `bytes=${sealedChunkSize}-`])
    }))

  it.effect("fail where it was cut again and again, and where the service answers the whole instead of the rest", () =>
    Effect.gen(function*() {
      const short = answerWith(...Array.from({ length: 9 }, () => answered(7)))
      expect((yield* Effect.flip(readAll())).message).toBe("The file ended early. Try again.")
      expect(short).toHaveLength(4)
      answerWith(answered(sealedChunkSize), () => answered(stored.length)(0))
      expect((yield* Effect.flip(readAll())).code).toBe("service_unavailable")
    }))

  it.effect("requests that are too many wait as long as the service says, say so, and are made again", () =>
    Effect.gen(function*() {
      const ranges = answerWith(tooMany("7"), tooMany("no number"), () => Response.json({ object: "list" }))
      const fiber = yield* Effect.forkChild(ask(service, "get_archive_keys", {}))
      yield* TestClock.adjust("6 seconds")
      expect([ranges.length, said]).toEqual([1, [7]])
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toEqual({ object: "list" })
      expect(said).toEqual([7, 1])
      answerWith(...Array.from({ length: 9 }, () => tooMany("1")))
      const refused = yield* Effect.forkChild(Effect.flip(ask(service, "get_archive_keys", {})))
      for (let wait = 0; wait < 5; wait++) yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(refused)).code).toBe("rate_limited")
    }))
})

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

describe("media of the viewer", () => {
  it("are what their bytes say, and nothing that can run is one", () => {
    const known = [
      ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
      ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
      ["GIF89a", "image/gif"],
      ["RIFF\x10\0\0\0WEBPVP8 ", "image/webp"],
      ["RIFF\x10\0\0\0WAVEfmt ", "audio/wav"],
      ["OggS\0\x02", "audio/ogg"],
      ["ID3\x04", "audio/mpeg"],
      ["\0\0\0\x20ftypM4A ", "audio/mp4"],
      ["\0\0\0\x20ftypisom", "video/mp4"],
      ["\x1a\x45\xdf\xa3\x9f", "video/webm"]
    ] as const
    for (const [text, type] of known) expect(mediaOf(bytesOf(text))?.type).toBe(type)
    for (
      const text of [
        "",
        "<svg xmlns=\"http://www.w3.org/2000/svg\">",
        "<!doctype html>",
        "%PDF-1.7",
        "\xef\xbb\xbf<svg>",
        "#!/bin/sh",
        "MZ",
        " \x89PNG\r\n\x1a\n"
      ]
    ) {
      expect([text, mediaOf(bytesOf(text))]).toEqual([text, null])
    }
    expect(["image/svg+xml", "text/html", "application/pdf", "image/x-icon"].map(offeredAs)).toEqual([
      null,
      null,
      null,
      null
    ])
  })
})
