/** The bounds of pages and frames. */

/** A page holds messages of one chat and UTC day, or edits of such messages as were seen on one day; at most so many. */
export const messagesPerPage = 100

/**
 * A vocabulary is made of so many pages of a quarter at least, and at most; their texts have at most so many characters.
 */
export const fewestPagesOfBlock = 16
export const pagesPerBlock = 512
export const charactersPerBlock = 8 * 1024 * 1024

/** An epoch's nonces are random: past so many frames it is closed (NIST SP 800-38D allows 2^32). */
export const framesPerEpoch = 16_777_216

/** Bytes of frames that are read and opened at a time where there may be any number of them. */
export const frameBytesAtOnce = 8 * 1024 * 1024

/** The largest size of a frame's columns, in bytes. */
export const inflatedLimit = 8 * 1024 * 1024

/** The UTC day of a time in Unix seconds: `YYYY-MM-DD`. */
export const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)

/** The last second of a UTC day, in Unix seconds. */
export const endOfDay = (day: string): number => Date.parse(`${day}T23:59:59Z`) / 1000

/** The calendar quarter of Unix seconds, such as 2026-1. */
export const quarterOf = (at: number): string => {
  const day = new Date(at * 1000)
  return `${day.getUTCFullYear()}-${Math.floor(day.getUTCMonth() / 3) + 1}`
}

/** Cuts a sequence into pieces of at most `size`, in its order. */
export const piecesOf = <A>(values: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, piece) => values.slice(piece * size, (piece + 1) * size))

/**
 * Cuts a sequence into pieces, in its order, whose weights are at most `most` together; a heavier value is a piece by
 * itself. A piece has at most `size` values.
 */
export const piecesWithin = <A>(
  values: ReadonlyArray<A>,
  weightOf: (value: A) => number,
  most: number,
  size = Infinity
): ReadonlyArray<ReadonlyArray<A>> => {
  const pieces: Array<Array<A>> = []
  let weight = 0
  for (const value of values) {
    const piece = pieces.at(-1)
    weight += weightOf(value)
    if (piece !== undefined && weight <= most && piece.length < size) piece.push(value)
    else {
      pieces.push([value])
      weight = weightOf(value)
    }
  }
  return pieces
}

/** The highest marked id of a channel or supergroup. */
const highestShared = -1_000_000_000_000n

/**
 * True where the chat and message ids are the platform's own, so that the copies of several accounts are one message. In
 * private chats and basic groups each account numbers the messages itself.
 */
export const isShared = (chatId: bigint): boolean => chatId <= highestShared
