/** Streams of bytes as pieces of one size, whatever the sizes in which they come. */
import { Stream } from "effect"

/** A piece, with its place. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly place: number
  readonly isLast: boolean
}

interface Filling {
  /** A whole piece, until it is known whether bytes follow. */
  full: Uint8Array | null
  buffer: Uint8Array
  filled: number
  place: number
}

/**
 * Pieces of the size; the last one has 1 byte or more, or none where there are none at all. A stream that fails has no
 * last piece. A piece that comes whole is not copied.
 */
export const inPieces = (size: number) => <E, R>(stream: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Piece, E, R> =>
  Stream.mapAccum(
    Stream.concat(stream, Stream.succeed(null)),
    (): Filling => ({ full: null, buffer: new Uint8Array(0), filled: 0, place: 0 }),
    (filling, bytes) => {
      if (bytes === null) {
        const { buffer, filled, full, place } = filling
        return [filling, [{ bytes: full ?? buffer.subarray(0, filled), place, isLast: true }]]
      }
      const pieces: Array<Piece> = []
      for (let at = 0; at < bytes.length;) {
        if (filling.full !== null) {
          pieces.push({ bytes: filling.full, place: filling.place++, isLast: false })
          filling.full = null
        }
        const part = bytes.subarray(at, at + size - filling.filled)
        at += part.length
        if (part.length === size) {
          filling.full = part
          continue
        }
        if (filling.filled === 0) filling.buffer = new Uint8Array(size)
        filling.buffer.set(part, filling.filled)
        filling.filled += part.length
        if (filling.filled === size) {
          filling.full = filling.buffer
          filling.filled = 0
        }
      }
      return [filling, pieces]
    }
  )
