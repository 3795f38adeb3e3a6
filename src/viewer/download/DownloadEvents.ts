/** The events of an export's page: a stream is open while a download may be under way. */

/** A part as the service says that it is now. */
export interface PartState {
  readonly number: number
  readonly running: boolean
  /** Words about a download that is under way or ended early; empty where there is none. */
  readonly text: string
  /** Code of what ended it early. */
  readonly reason: string | null
  readonly done: number
  readonly total: number
  /** Words about the last time that it was sent to its end, with its hash and its moment. */
  readonly sent: string | null
  readonly sha256: string | null
  readonly at: number
}

interface Listener {
  readonly parts: (states: ReadonlyArray<PartState>) => void
  readonly say: (text: string) => void
}

/** Streams in a row that are refused. */
const attempts = 5

/** Opens a stream where none is open. */
export const makeEvents = (address: string, { parts, say }: Listener): () => void => {
  let source: EventSource | null = null
  let refused = 0
  const open = (): void => {
    if (source !== null) return
    const made = new EventSource(address)
    source = made
    made.addEventListener("parts", ({ data }: MessageEvent<string>) => {
      refused = 0
      parts(JSON.parse(data))
    })
    made.addEventListener("end", ({ data }: MessageEvent<string>) => {
      made.close()
      source = null
      if (data !== "") say(data)
    })
    made.addEventListener("error", () => {
      // After an end of the connection alone, the browser opens the next stream by itself.
      if (source !== made || made.readyState !== EventSource.CLOSED) return
      source = null
      refused += 1
      if (refused < attempts) setTimeout(open, 1000 * refused)
      else say("The progress of downloads cannot be shown now: load this page again.")
    })
  }
  return open
}
