/** What happens to what a data centre is asked, by script. */
import type { Key } from "./DataCentre.ts"
import type { Word } from "./Words.ts"

/** What the data centre refuses, as the platform words it. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

/** What happens to the next requests that it matches. */
export interface Fault {
  /** The name of the request; absent, any. */
  readonly request?: string
  /** Which ones, of those under a key; absent, any. */
  readonly which?: (key: Key, request: Word) => boolean
  /**
   * Drops the connection before or after the request is done, does it without an answer, or does not do it and refuses
   * or answers it so. A step of a handshake, which has no key yet, is dropped.
   */
  readonly does: "drop before" | "drop after" | "stay silent" | Refusal | { readonly answers: Word }
  /** The answer waits for it. */
  readonly after?: Promise<void>
  times: number
}

/** The fault that happens to the request, which happens once less then. */
export const happening = (faults: Array<Fault>, key: Key | null, asked: Word): Fault | undefined => {
  const at = faults.findIndex(({ request, which }) =>
    (request === undefined || request === asked._) && (which === undefined || key !== null && which(key, asked))
  )
  const fault = faults[at]
  if (fault === undefined) return undefined
  fault.times--
  if (fault.times === 0) faults.splice(at, 1)
  return fault
}
