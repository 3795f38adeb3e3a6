/** Object Lock of an S3 store: a version of an object that nobody removes before a time. */
import { Duration } from "effect"
import type { Headers } from "effect/http"
import * as crypto from "node:crypto"
import { after } from "../../domain/Moments.ts"

/** The lock of each new object. A governance lock can be ended early with the store's permission to bypass it. */
export interface S3Lock {
  readonly mode: "compliance" | "governance"
  /** Its period from the beginning of the upload, in days or in calendar years. */
  readonly amount: number
  readonly unit: "day" | "year"
}

/** The end of a lock that begins now. */
const lockEnd = ({ amount, unit }: S3Lock, now: Date): Date => {
  if (unit === "day") return after(now, Duration.days(amount))
  const end = new Date(now)
  end.setUTCFullYear(end.getUTCFullYear() + amount)
  return end
}

/** The lock of an object, as its put sends it. */
export interface PutLock {
  readonly end: Date | null
  /** The headers of the object. */
  readonly object: Readonly<Record<string, string>>
  /** The headers of each body: a store demands a checksum of what is locked, beside that of the signature. */
  readonly body: (body: Uint8Array) => Readonly<Record<string, string>>
}

/** The lock of an object that is put now. */
export const putLock = (lock: S3Lock | null, now: Date): PutLock => {
  if (lock === null) return { end: null, object: {}, body: () => ({}) }
  const end = lockEnd(lock, now)
  return {
    end,
    object: {
      "x-amz-object-lock-mode": lock.mode.toUpperCase(),
      "x-amz-object-lock-retain-until-date": end.toISOString()
    },
    body: (body) => ({ "content-md5": crypto.createHash("md5").update(body).digest("base64") })
  }
}

/** The time after which an object that is held without an end is asked for again. */
const holdPause = Duration.days(1)

/** True if an answer says that the object has a lock or a hold, or had one. */
export const hasLock = (headers: Headers.Headers): boolean =>
  Object.keys(headers).some((name) => name.startsWith("x-amz-object-lock-"))

/** The time until which an answer says that the object is locked or held; null where it is neither now. */
export const lockedUntil = (headers: Headers.Headers, now: Date): Date | null => {
  const end = Date.parse(headers["x-amz-object-lock-retain-until-date"] ?? "")
  const held = headers["x-amz-object-lock-legal-hold"] === "ON" ? after(now, holdPause) : now
  const until = Math.max(Number.isNaN(end) ? 0 : end, held.getTime())
  return until > now.getTime() ? new Date(until) : null
}
