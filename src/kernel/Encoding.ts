/** Turns an operation's answer into the JSON that every transport sends. */
import { Context, Effect, Schema } from "effect"
import type { Content } from "../domain/Content.ts"
import * as Writer from "./JsonWriter.ts"

/**
 * True if every answer is checked by the whole of its schema before it is written; off by default, for it costs more
 * than all else about an answer. Tests do, and a host may.
 */
export const CheckAnswers = Context.Reference<boolean>("org-security-console/kernel/Encoding/CheckAnswers", {
  defaultValue: () => false
})

/** An answer with its JSON: what its schema knows and nothing else. */
export interface EncodedAnswer {
  readonly answer: unknown
  readonly text: string
  /** The bytes that are the answer, where its JSON only describes them. */
  readonly content?: Content
}

/** Writes answers of the schema; one that is not of it is a defect, as far as it is checked. */
export const writer = (success: Schema.Codec<unknown, unknown>): (answer: unknown) => Effect.Effect<EncodedAnswer> => {
  const type = Schema.toType(success)
  const write = Writer.compile(type.ast)
  if (write === undefined) {
    const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(success))
    return (answer) =>
      Effect.map(Effect.orDie(encode(answer)), (encoded) => ({ answer: encoded, text: JSON.stringify(encoded) }))
  }
  const check = Schema.decodeUnknownEffect(type)
  return (answer) =>
    Effect.withFiber((fiber) => {
      const text = write(answer)
      const written = Effect.succeed({ answer, text })
      if (!fiber.getRef(CheckAnswers)) return written
      return Effect.flatMap(Effect.orDie(check(answer)), (checked) => {
        const expected = JSON.stringify(checked)
        return text === expected
          ? written
          : Effect.die(new Error(`An answer was written as ${text} instead of ${expected}.`))
      })
    })
}
