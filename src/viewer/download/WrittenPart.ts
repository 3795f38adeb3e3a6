/** A part of an export, written to a file while it comes; what breaks off is gone on with, by the hash of what is there. */
import { sha256 } from "@noble/hashes/sha2.js"
import { hex } from "../../domain/archive/Bytes.ts"
import type { Part, Writable } from "../page/SavedFile.ts"

/** A part as it is asked for. */
export interface PartRequest {
  readonly address: string
  readonly fields: URLSearchParams
  /** Code of what ended the part's latest download early, as the service has said it last. */
  readonly reason: () => string | null
  readonly say: (text: string) => void
}

/** Attempts in a row that bring nothing. */
const attempts = 5
/** Seconds before the next attempt, where the service does not say. */
const pause = 3
const longestPause = 61

const refusals: ReadonlyMap<number, string> = new Map([
  [403, "This is not the archive password, or this page is too old: load it again."],
  [404, "The part is not there any more."],
  [409, "The export cannot be downloaded any more: load this page again."],
  [429, "There were too many attempts, or too many downloads run: try again later."]
])

/** A page, such as that of a sign-in, is no part. */
const mediaType = "application/zip"

const waited = (seconds: number) =>
  new Promise((resolve) => {
    // @effect-diagnostics-next-line globalTimers:off -- the page's script has nothing of Effect
    setTimeout(resolve, seconds * 1000)
  })

const pauseOf = (answer: Response | null): number => {
  const seconds = Number(answer?.headers.get("retry-after") ?? pause)
  return seconds >= 1 ? Math.min(seconds, longestPause) : pause
}

/** Writes the part; the answer is null once it is whole, and else why it is not. */
export const writePart = async (writable: Writable, request: PartRequest): Promise<string | null> => {
  let hash = sha256.create()
  let bytes = 0
  let left = attempts

  const ask = (): Promise<Response | null> => {
    const body = new URLSearchParams(request.fields)
    if (bytes > 0) {
      body.set("after_bytes", String(bytes))
      body.set("after_sha256", hex(hash.clone().digest()))
    }
    // @effect-diagnostics-next-line globalFetch:off -- the page's script has nothing of Effect
    return fetch(request.address, { method: "POST", body }).catch(() => null)
  }

  /** Takes pieces as far as they come; true at the end of the part. */
  const take = async (reader: ReadableStreamDefaultReader<Part>): Promise<boolean> => {
    while (true) {
      const { done, value } = await reader.read().catch(() => ({ done: false, value: undefined }))
      if (done) return true
      if (value === undefined) return false
      await writable.write(value)
      hash.update(value)
      bytes += value.length
    }
  }

  while (left > 0) {
    const before = bytes
    const answer = await ask()
    if (answer?.headers.get("content-type") === mediaType && answer.body !== null) {
      if (await take(answer.body.getReader())) return null
    } else if (answer !== null && answer.status < 500) {
      return refusals.get(answer.status) ?? "The service does not send the part: load this page again."
    }
    left = bytes > before ? attempts : left - 1
    request.say("The connection broke off. The download goes on in a moment.")
    await waited(pauseOf(answer))
    if (before > 0 && bytes === before && request.reason() === "changed") {
      await writable.truncate(0)
      bytes = 0
      hash = sha256.create()
    }
  }
  return "The part breaks off again and again: try again later, or use the command below."
}
