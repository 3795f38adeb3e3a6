/** Files that a page writes while their content comes, in browsers that let it. */

export type Part = Uint8Array<ArrayBuffer>

export interface Writable {
  readonly write: (part: Part) => Promise<void>
  readonly truncate: (size: number) => Promise<void>
  readonly close: () => Promise<void>
  readonly abort: () => Promise<void>
}

declare global {
  /** Some browsers ask where to store a file, and let the page write it. */
  var showSaveFilePicker:
    | ((options: { readonly suggestedName: string }) => Promise<{ readonly createWritable: () => Promise<Writable> }>)
    | undefined
}

const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

/** Asks where to write, and writes; undefined where the browser has no such way, false where its user has cancelled. */
export const picked = async (name: string): Promise<Writable | false | undefined> => {
  try {
    const handle = await globalThis.showSaveFilePicker?.({ suggestedName: name })
    return await handle?.createWritable()
  } catch (error) {
    if (isCancelled(error)) return false
    throw error
  }
}
