/** The message ids of a page as they are stored beside it: varints of differences, 1.1 bytes an id. */
import { Order } from "effect"

const last7 = 0x7fn

/** Ascending ids. */
export const byId = Order.mapInput(Order.BigInt, ({ id }: { readonly id: bigint }) => id)

/** The ids, ascending and each once; none is negative. */
export const encodeIds = (ids: ReadonlyArray<bigint>): Uint8Array => {
  const bytes: Array<number> = []
  let before = 0n
  for (const id of ids) {
    let rest = id - before
    before = id
    while (rest > last7) {
      bytes.push(Number(rest & last7) | 0x80)
      rest >>= 7n
    }
    bytes.push(Number(rest))
  }
  return Uint8Array.from(bytes)
}

/** The ids; the last one is left out where the bytes are cut. */
export const decodeIds = (bytes: Uint8Array): ReadonlyArray<bigint> => {
  const ids: Array<bigint> = []
  let before = 0n
  let id = 0n
  let shift = 0n
  for (const byte of bytes) {
    id |= BigInt(byte & 0x7f) << shift
    shift += 7n
    if (byte < 0x80) {
      before += id
      ids.push(before)
      id = 0n
      shift = 0n
    }
  }
  return ids
}

/** Ids ascending, each once. */
export const sortedIds = (ids: Iterable<bigint>): ReadonlyArray<bigint> => [...new Set(ids)].sort(Order.BigInt)
