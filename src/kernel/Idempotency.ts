/** A change that runs once for each `Idempotency-Key`, however often it is requested. */
import { Context, Effect, Predicate, Redacted, Schema } from "effect"
import { type IdempotencyInProgress, ParameterInvalid } from "../domain/Failure.ts"
import { Caller } from "../domain/people/Access.ts"
import { IdempotencyKeys } from "../ports/IdempotencyKeys.ts"

/** Called when the answer is a stored one. */
export const Replayed = Context.Reference<() => void>("org-security-console/kernel/Idempotency/Replayed", {
  defaultValue: () => () => {}
})

/** Keeps the answer within the transaction of the change. */
export type KeepAnswer = (answer: unknown) => Effect.Effect<void, IdempotencyInProgress>

/** The answer without what was shown once: a secret is never kept, and null in its place. */
const withoutSecrets = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return null
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(member)]))
}

/** The form of a key over every transport: what a header could carry, which has no space around it. */
export const keyPattern = /^[!-~](?:[ -~]{0,253}[!-~])?$/
export const keyText = "1 to 255 printable ASCII characters without a space around them"

const codecOf = (success: Schema.Codec<unknown, unknown>) => Schema.fromJsonString(Schema.toCodecJson(success))

/** The kept answer as it is given again. */
const replay = (answer: Effect.Effect<unknown, Schema.SchemaError>) =>
  Effect.flatMap(Replayed, (replayed) => {
    replayed()
    return Effect.orDie(answer)
  })

/** Gives the answer again that is kept of an earlier request with the caller's key; null where none is kept. */
export const answered = (operation: string, success: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownEffect(codecOf(success))
  return Effect.fnUntraced(function*(input: unknown) {
    const caller = yield* Caller
    const key = caller.extras?.idempotencyKey
    if (key === undefined || !keyPattern.test(key)) return null
    const answer = yield* (yield* IdempotencyKeys).answer({ caller, operation, key, input })
    return answer === null ? null : replay(decode(answer))
  })
}

/**
 * The part of a request that a repetition has to match: its members without its secrets, or the answer to a repetition
 * would reveal if a guess was right.
 */
export const matched = (raw: unknown, decoded: Readonly<Record<string, unknown>>): unknown =>
  Predicate.isObject(raw)
    ? Object.fromEntries(Object.entries(raw).filter(([name]) => !Redacted.isRedacted(decoded[name])))
    : raw

/**
 * Runs the change of an operation that is not idempotent: without a key as it is, with one at most once.
 *
 * Checks before the change, such as that of a password, come before that of the key, each time. Whatever fails or is
 * interrupted after that and before the change has committed releases the key.
 */
export const once = (operation: string, success: Schema.Codec<unknown, unknown>) => {
  const codec = codecOf(success)
  const encode = Schema.encodeUnknownEffect(codec)
  const decode = Schema.decodeUnknownEffect(codec)

  return <A, E, R, E2, R2>(
    input: unknown,
    check: Effect.Effect<void, E2, R2>,
    run: (keep: KeepAnswer | undefined) => Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function*() {
      const caller = yield* Caller
      const key = caller.extras?.idempotencyKey
      if (key === undefined) return yield* Effect.andThen(check, run(undefined))
      if (!keyPattern.test(key)) {
        return yield* new ParameterInvalid({
          param: "Idempotency-Key",
          message: `Idempotency-Key: expected ${keyText}.`
        })
      }
      yield* check
      const keys = yield* IdempotencyKeys
      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const state = yield* keys.claim({ caller, operation, key, input })
          if (state._tag === "Answered") return yield* replay(decode(state.answer))
          const keep: KeepAnswer = (answer) =>
            Effect.flatMap(Effect.orDie(encode(withoutSecrets(answer))), (text) => keys.keep(state.claim, text))
          return yield* restore(run(keep)).pipe(
            Effect.onExit((exit) => exit._tag === "Success" ? Effect.void : Effect.ignore(keys.release(state.claim)))
          )
        })
      )
    })
}
