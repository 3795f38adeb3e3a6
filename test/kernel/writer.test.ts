import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as fc from "fast-check"
import { CheckAnswers, writer } from "../../src/kernel/Encoding.ts"
import * as Iso from "../../src/kernel/InstantText.ts"
import * as Writer from "../../src/kernel/JsonWriter.ts"
import { api, operations } from "../added/index.ts"
import { drawn, tried } from "../support/drawn.ts"

/** The checked answer as JSON.stringify writes it: the schemas encode dates alone otherwise, and as it does. */
const expected = (success: Schema.Codec<unknown, unknown>) => {
  const check = Schema.decodeUnknownSync(Schema.toType(success))
  return (answer: unknown) => JSON.stringify(check(answer))
}

const write = (success: Schema.Codec<unknown, unknown>) => {
  const compiled = Writer.compile(Schema.toType(success).ast)
  if (compiled === undefined) throw new Error("This schema has no writer")
  return compiled
}

describe("answers as they are written", () => {
  it("every operation has a writer, but the one that answers a secret", () => {
    const without = operations.filter(({ success }) => Writer.compile(Schema.toType(success).ast) === undefined)
    expect(without.map(({ id }) => id)).toEqual(["create_api_key"])
  })

  for (const { id, success } of operations) {
    if (id === "create_api_key") continue
    const [writes, encodes] = [write(success), expected(success)]
    it.prop(`${id} is written as its schema encodes it`, [Arbitrary.schema(success)], ([answer]) => {
      expect(writes(answer)).toBe(encodes(answer))
    }, drawn())
  }

  it("every text is written as JSON.stringify does, whatever its code units", () => {
    const writes = write(Schema.String)
    const same = (text: string) => {
      expect(writes(text)).toBe(JSON.stringify(text))
    }
    for (let unit = 0; unit < 0x1_0000; unit += 64) {
      const near = Array.from({ length: 64 }, (_, at) => `a${String.fromCharCode(unit + at)}b`)
      expect(near.map(writes)).toEqual(near.map((text) => JSON.stringify(text)))
    }
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), same), tried())
  })

  it("every instant is written as toISOString does", () => {
    const same = (date: Date) => {
      expect(Iso.format(date)).toBe(date.toISOString())
    }
    for (const time of [0, -1, 1, 8.64e15, -8.64e15, 951_782_400_000]) same(new Date(time))
    fc.assert(fc.property(fc.date({ noInvalidDate: true }), same), tried(1000))
  })

  it("what an answer has beside the members of its schema is not written", () => {
    const writes = write(api.get_notification_recipients.success)
    expect(writes({ recipients: "owner", secret: "x", object: "notification_settings" })).toBe(
      "{\"object\":\"notification_settings\",\"recipients\":\"owner\"}"
    )
  })

  it("what is not of the schema is a defect, and names no value", () => {
    const writes = write(api.get_notification_recipients.success)
    for (const answer of [null, [], {}, { object: "notification_settings", recipients: "everyone-else" }]) {
      expect(() => writes(answer)).toThrow(/^An answer is not of its schema: (?!.*everyone-else)/)
    }
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, "1", 1n]) {
      expect(() => write(Schema.Finite)(number)).toThrow("expected a finite number")
    }
  })

  it.effect("an answer that only the whole schema refuses is a defect where answers are checked", () =>
    Effect.gen(function*() {
      const writes = writer(Schema.Struct({ count: Schema.Int }))
      expect((yield* writes({ count: 0.5 })).text).toBe("{\"count\":0.5}")
      const checked = yield* Effect.exit(Effect.provideService(writes({ count: 0.5 }), CheckAnswers, true))
      expect(checked._tag).toBe("Failure")
    }))
})
