/** ZIP files that are sent while they are made: entries are stored as they are, in their order, and have one fixed time. */
import { makeZip } from "client-zip"
import { Cause, Effect, Exit, Stream } from "effect"

/** A file of a ZIP. */
export interface ZipEntry<E = never, R = never> {
  readonly path: string
  readonly content: Stream.Stream<Uint8Array, E, R>
}

/** Entries of one ZIP: beyond 65,535 readers would need more than the library writes. */
export const maxZipEntries = 65_000

/** The library writes local time: this one is the same bytes in every zone. */
const fixedTime = new Date(1980, 0, 1, 12)

interface InputOfEntry {
  readonly name: string
  readonly input: AsyncIterable<Uint8Array>
  readonly lastModified: Date
}

/**
 * The bytes of a ZIP. It reads ahead by one piece at most. A failure of an entry fails the whole, and the end of the
 * whole, whatever it is by, ends the entry that is being read.
 */
export const zip = <E, R>(entries: Stream.Stream<ZipEntry<E, R>, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.unwrap(Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    let failed: Cause.Cause<E> | undefined
    const noticed = <A>(stream: Stream.Stream<A, E, R>) =>
      Stream.tapCause(stream, (cause) =>
        Effect.sync(() => {
          failed ??= cause
        }))
    const list = Stream.toAsyncIterableWith(noticed(entries), context)[Symbol.asyncIterator]()
    let current: AsyncIterator<Uint8Array> | undefined
    const end = Effect.promise(async () => {
      await current?.return?.()
      await list.return?.()
    })
    const next = async (): Promise<IteratorResult<InputOfEntry>> => {
      const { done, value } = await list.next()
      if (done === true) return { done, value: undefined }
      const pieces = Stream.toAsyncIterableWith(noticed(value.content), context)[Symbol.asyncIterator]()
      current = pieces
      const input = { [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) }
      return { done: false, value: { name: value.path, input, lastModified: fixedTime } }
    }
    const files = { [Symbol.asyncIterator]: () => ({ next }) }
    return Stream.fromReadableStream({
      evaluate: () => makeZip(files, { buffersAreUTF8: true }),
      onError: (error) => failed ?? Cause.die(error)
    }).pipe(
      Stream.catch((cause) => Stream.fromEffect(Exit.failCause(cause))),
      Stream.ensuring(end)
    )
  }))
