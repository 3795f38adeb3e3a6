/** A part that goes on after bytes that its client has already: proven by their hash before anything follows. */
import { Effect, Schema, Stream } from "effect"
import { hex } from "../../domain/archive/Bytes.ts"
import { ContentDigest } from "../../ports/archive/ContentDigest.ts"

/** The bytes that a client has of a part; the hash is in hexadecimal digits. */
export interface KnownStart {
  readonly bytes: number
  readonly sha256: string
}

/** The bytes that a client has are not those of the part as it is now. */
export class PartChanged extends Schema.TaggedError<PartChanged>()("PartChanged", {}) {}

/**
 * The rest of the part. It is made from its beginning, which nothing else can prove to be the same; no byte follows where
 * it is not, or where the part has fewer.
 */
export const resumed = <E, R>(part: Stream.Stream<Uint8Array, E, R>, known: KnownStart) =>
  Stream.unwrap(Effect.gen(function*() {
    const digest = yield* (yield* ContentDigest).start
    let left = known.bytes
    let isProven = false
    const proven = () => {
      isProven = hex(digest.digest()) === known.sha256
      return isProven
    }
    const after = (piece: Uint8Array): Effect.Effect<Uint8Array, PartChanged> => {
      if (left === 0) return Effect.succeed(piece)
      const start = piece.subarray(0, left)
      digest.update(start)
      left -= start.length
      return left > 0 || proven() ? Effect.succeed(piece.subarray(start.length)) : Effect.fail(new PartChanged({}))
    }
    const ended = Effect.suspend(() => isProven ? Effect.void : Effect.fail(new PartChanged({})))
    return part.pipe(
      Stream.mapEffect(after),
      Stream.filter((piece) => piece.length > 0),
      Stream.concat(Stream.fromEffectDrain(ended))
    )
  }))
