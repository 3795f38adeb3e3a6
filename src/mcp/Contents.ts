/** Contents over MCP: whole, within the message that answers the call. */
import { Cause, Effect, Predicate, Stream } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { sealedSize } from "../domain/archive/Blob.ts"
import { type Content, ContentBroken } from "../domain/Content.ts"
import { ContentUnreadable, FileTooLarge } from "../domain/Failure.ts"
import { maxHeldContent } from "../domain/Limits.ts"
import { Caller } from "../domain/people/Access.ts"
import type * as Operation from "../kernel/Operation.ts"
import { CurrentContentTurns } from "../transport/ContentTurns.ts"
import type { EmbeddedResource } from "./DirectCalls.ts"

/** The address of what the call asked for: no server is named, since a model does not load it from there. */
const uriOf = ({ params, path }: Operation.Any, input: unknown): string => {
  const members = Predicate.isObject(input) ? input : {}
  const filled = path.replaceAll(
    /:(\w+)/g,
    (_, name: string) =>
      Object.hasOwn(params, name) && Predicate.hasProperty(members, name)
        ? encodeURIComponent(String(members[name]))
        : ""
  )
  return `org-security-console:${filled}`
}

/** The bytes of a content that may be held; a sealed one may be of a content of as many. */
const mostHeld = (operation: Operation.Any): number =>
  operation.kind === "sealed_stream" ? sealedSize(maxHeldContent) : maxHeldContent

/** All bytes; more than `most` are refused as soon as they are noticed. */
const collect = (content: Content, most: number): Effect.Effect<Uint8Array, FileTooLarge | ContentUnreadable> =>
  Effect.suspend(() => {
    const { size } = content
    let held = 0
    return content.bytes().pipe(
      Stream.mapEffect((chunk): Effect.Effect<Uint8Array, FileTooLarge> => {
        held += chunk.length
        return held > most ? Effect.fail(new FileTooLarge({})) : Effect.succeed(chunk)
      }),
      Stream.mkUint8Array,
      Effect.filterOrFail(
        ({ length }) => size === null || length === size,
        () => new ContentBroken({ reason: "there was less of it than its size" })
      ),
      Effect.catchTag("ContentBroken", (failure) =>
        Effect.andThen(
          Effect.logWarning("A content ended early", Cause.fail(failure)),
          new ContentUnreadable({})
        ))
    )
  })

/** The content as a part of the call's answer. */
export const embed = Effect.fnUntraced(function*(operation: Operation.Any, input: unknown, content: Content) {
  const most = mostHeld(operation)
  if (content.size !== null && content.size > most) return yield* new FileTooLarge({})
  const resource: EmbeddedResource = {
    uri: uriOf(operation, input),
    mimeType: content.media_type,
    blob: Base64.encode(yield* collect(content, most))
  }
  return resource
})

/** Embeds in the caller's turn: so many contents are held at a time. */
export const embedInTurn = Effect.fnUntraced(function*(operation: Operation.Any, input: unknown, content: Content) {
  const caller = yield* Caller
  const turns = yield* CurrentContentTurns
  return yield* Effect.acquireUseRelease(
    turns.take(caller.credential.id, "held"),
    () => embed(operation, input, content),
    ({ release }) => release
  )
})
