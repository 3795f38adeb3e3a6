/** Bytes and frames as a service sends them. */
import { Effect } from "effect"
import { readBase64 } from "../../domain/archive/Bytes.ts"
import type { SealedPageList } from "../../domain/archive/SealedArchive.ts"
import type { SealedFrames } from "../../ports/archive/ArchivePages.ts"

/** Bytes that are not base64 open nowhere: they are as good as none. */
export const bytesOf = (text: string): Uint8Array => readBase64(text) ?? new Uint8Array()

export const framesOf = (
  { day, number, sealed }: Pick<SealedPageList["frames"][number], "day" | "number" | "sealed">
): SealedFrames => ({ number: BigInt(number), day, sealed: bytesOf(sealed) })

/** A remote archive is read, and never written. */
export const unwritable = () => Effect.die(new Error("A remote archive cannot be written"))
