/** Streams of bytes as pieces of one size, whatever the sizes in which they come. */
import { Stream } from "effect"

/** A piece, with its place. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly place: number
  readonly isLast: boolean
}

interface Filling {
  buffer: Uint8Array
  filled: number
  place: number
}

/**
 * Pieces of the size; the last one has 1 byte or more, or none where there are none at all. A stream that fails has no
 * last piece.
 */
export const inPieces = (size: number) => <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Piece, E, R> =>
  Stream.mapAccum(
    Stream.concat(stream, Stream.succeed(null)),
    (): Filling => ({ buffer: new Uint8Array(size), filled: 0, place: 0 }),
    (filling, bytes) => {
      if (bytes === null) {
        const { buffer, filled, place } = filling
        return [filling, [{ bytes: buffer.subarray(0, filled), place, isLast: true }]]
      }
      const pieces: Array<Piece> = []
      let at = 0
      while (at < bytes.length) {
        if (filling.filled === size) {
          pieces.push({ bytes: filling.buffer, place: filling.place++, isLast: false })
          filling.buffer = new Uint8Array(size)
          filling.filled = 0
        }
        const part = bytes.subarray(at, at + size - filling.filled)
        filling.buffer.set(part, filling.filled)
        filling.filled += part.length
        at += part.length
      }
      return [filling, pieces]
    }
  )
