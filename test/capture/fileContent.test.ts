import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { contentOf, partSize } from "../../src/capture/FileContent.ts"
import { FileExpired } from "../../src/ports/messenger/MessengerArchive.ts"
import { PlatformBusy, PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"

const content = Uint8Array.from({ length: 2 * partSize + 5 }, (_, at) => at % 251)
const atOnce = { take: Effect.void }

/** A platform that loses the connection after so many bytes of each of the first readings. */
const losing = (after: ReadonlyArray<number>) => {
  const begun: Array<number> = []
  const file = (_: string, from: number) => {
    const ends = after[begun.length]
    begun.push(from)
    const part = Stream.make(content.subarray(from, ends === undefined ? content.length : from + ends))
    return ends === undefined ? part : Stream.concat(part, Stream.fail(new PlatformUnavailable({})))
  }
  return { begun, reader: { file } }
}

const collect = (reader: Parameters<typeof contentOf>[0]) =>
  Effect.gen(function*() {
    const reading = yield* Effect.forkChild(
      Effect.exit(Stream.runFold(contentOf(reader, { location: "here" }, atOnce), () =>
        new Uint8Array(), (all, bytes) =>
        Buffer.concat([all, bytes])))
    )
    for (let pause = 0; pause < 20; pause++) {
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(reading)
  })

describe("the content of a file", () => {
  it.effect("goes on from the last whole part where the connection was lost, and nothing is doubled", () =>
    Effect.gen(function*() {
      const { begun, reader } = losing([partSize + 7, 3, 0, partSize])
      const read = yield* collect(reader)
      expect(read._tag === "Success" && Buffer.compare(read.value, content)).toBe(0)
      expect(begun).toEqual([0, partSize, partSize, partSize, 2 * partSize])
    }))

  it.effect("fails where the connection is lost again and again without progress", () =>
    Effect.gen(function*() {
      const { begun, reader } = losing([0, 0, 0, 0, 0, 0])
      expect((yield* collect(reader))._tag).toBe("Failure")
      expect(begun).toHaveLength(4)
    }))

  it.effect("fails at once where its location has expired", () =>
    Effect.gen(function*() {
      const read = yield* collect({ file: () => Stream.fail(new FileExpired()) })
      expect(read._tag).toBe("Failure")
    }))
})

describe("a wait that the messenger demands inside a file", () => {
  const demanding = (seconds: number, times: number) => {
    const begun: Array<number> = []
    const file = (_: string, from: number) => {
      begun.push(from)
      const isBusy = begun.length <= times
      const part = Stream.make(content.subarray(from, isBusy ? from + partSize : content.length))
      return isBusy ? Stream.concat(part, Stream.fail(new PlatformBusy({ retryAfterSeconds: seconds }))) : part
    }
    return { begun, reader: { file } }
  }

  it.effect("is slept through, and the file goes on after the parts that were read", () =>
    Effect.gen(function*() {
      const { begun, reader } = demanding(5, 2)
      const read = yield* collect(reader)
      expect(read._tag === "Success" && Buffer.compare(read.value, content)).toBe(0)
      expect(begun).toEqual([0, partSize, 2 * partSize])
    }))

  it.effect("ends the reading where it is long", () =>
    Effect.gen(function*() {
      const { begun, reader } = demanding(61, 1)
      expect((yield* collect(reader))._tag).toBe("Failure")
      expect(begun).toEqual([0])
    }))
})
