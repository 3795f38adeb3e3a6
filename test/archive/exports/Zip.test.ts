import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import * as zlib from "node:zlib"
import { zip, type ZipEntry } from "../../../src/archive/exports/Zip.ts"
import { concat, utf8 } from "../../../src/domain/archive/Bytes.ts"
import { entriesOfZip } from "../../support/archive/zips.ts"
import { tried } from "../../support/drawn.ts"

const collected = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.runPromise(Effect.map(Stream.runCollect(stream), (pieces) => Buffer.from(concat(...pieces))))

const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 })

const files = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-zé日][a-z0-9/ é]{0,20}[a-z]$/), pieces), {
  selector: ([path]) => path,
  maxLength: 5
})

const entriesFrom = (made: ReadonlyArray<readonly [string, ReadonlyArray<Uint8Array>]>) =>
  Stream.fromIterable(made.map(([path, content]): ZipEntry => ({ path, content: Stream.fromIterable(content) })))

describe("a ZIP that is sent while it is made", () => {
  it("has every file as it was given, in its order, with its checksum, and the same bytes each time", () =>
    fc.assert(
      fc.asyncProperty(files, async (made) => {
        const bytes = await collected(zip(entriesFrom(made)))
        assert.isTrue(bytes.equals(await collected(zip(entriesFrom(made)))))
        const found = entriesOfZip(bytes)
        expect(found.map(({ path }) => path)).toEqual(made.map(([path]) => path))
        for (const [index, [, content]] of made.entries()) {
          const whole = Buffer.from(concat(...content))
          assert.isTrue(found[index]?.content.equals(whole))
          expect(found[index]?.crc).toBe(zlib.crc32(whole))
        }
      }),
      tried(60)
    ))

  it("fails where an entry fails, and ends the entry that is read where nobody reads on", async () => {
    const broken: ZipEntry<"broken"> = {
      path: "b",
      content: Stream.concat(Stream.succeed(utf8("x")), Stream.fail("broken"))
    }
    const failed = await Effect.runPromise(Effect.flip(Stream.runDrain(zip(Stream.make(broken)))))
    expect(failed).toBe("broken")
    let ended = 0
    const endless: ZipEntry = {
      path: "e",
      content: Stream.ensuring(
        Stream.forever(Stream.succeed(utf8("x"))),
        Effect.sync(() => {
          ended += 1
        })
      )
    }
    const listed = Stream.ensuring(
      Stream.make(endless),
      Effect.sync(() => {
        ended += 1
      })
    )
    await Effect.runPromise(Stream.runDrain(Stream.take(zip(listed), 5)))
    expect(ended).toBe(2)
  })

  it("holds one piece at a time: nothing is read ahead of who takes it", async () => {
    let read = 0
    const counted: ZipEntry = {
      path: "c",
      content: Stream.tap(
        Stream.fromIterable(Array.from({ length: 100 }, () => utf8("x"))).pipe(Stream.rechunk(1)),
        () =>
          Effect.sync(() => {
            read += 1
          })
      )
    }
    await Effect.runPromise(Stream.runDrain(Stream.take(Stream.rechunk(zip(Stream.make(counted)), 1), 4)))
    expect(read).toBeLessThan(10)
  })
})
