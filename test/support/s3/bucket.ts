/** The objects of a bucket. One with Object Lock keeps every version, and removes none that is locked. */
import * as crypto from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

interface ObjectLock {
  readonly mode: string
  readonly until: number
}

export interface NewObject {
  readonly bytes: Buffer
  readonly put: string
  readonly lock: ObjectLock | null
}

export interface Version extends Omit<NewObject, "lock"> {
  /** The bucket's owner may prolong it. */
  lock: ObjectLock | null
  readonly name: string
  readonly id: string
  /** It hides the versions before it, and holds nothing. */
  readonly isMarker: boolean
  /** Somebody holds it, for no certain time. */
  isHeld: boolean
}

const marker: NewObject = { bytes: Buffer.alloc(0), put: "", lock: null }

/** The lock that a put asks for, or the code that it is refused with. */
export const lockOf = (headers: IncomingHttpHeaders, hasLocks: boolean, now: number): ObjectLock | string | null => {
  const mode = headers["x-amz-object-lock-mode"]
  const date = headers["x-amz-object-lock-retain-until-date"]
  if (mode === undefined && date === undefined) return null
  const until = Date.parse(String(date))
  if (!hasLocks) return "InvalidRequest"
  return (mode === "COMPLIANCE" || mode === "GOVERNANCE") && until > now ? { mode, until } : "InvalidArgument"
}

/** The code that the body of a put or of a part is refused with: of what is to be locked there has to be a checksum. */
export const checksumRefusal = (headers: IncomingHttpHeaders, body: Buffer, isLocked: boolean): string | null => {
  const sent = headers["content-md5"]
  if (sent === undefined) return isLocked ? "InvalidRequest" : null
  return sent === crypto.createHash("md5").update(body).digest("base64") ? null : "BadDigest"
}

export const makeBucket = (hasLocks: boolean, now: () => number) => {
  const versions: Array<Version> = []
  const newest = (name: string) => versions.findLast((version) => version.name === name)
  const isLocked = ({ isHeld, lock }: Version) => isHeld || (lock !== null && lock.until > now())

  const remove = (version: Version | undefined) => {
    if (version !== undefined) versions.splice(versions.indexOf(version), 1)
  }

  const add = (name: string, object: NewObject, isMarker = false): Version => {
    if (!hasLocks) remove(newest(name))
    const version = { ...object, name, id: hasLocks ? crypto.randomUUID() : "null", isMarker, isHeld: false }
    versions.push(version)
    return version
  }

  return {
    hasLocks,
    versions,
    add,
    /** The version of the id, or the newest one where it is no marker. */
    find: (name: string, id: string | null): Version | undefined => {
      const found = id === null ? newest(name) : versions.find((version) => version.name === name && version.id === id)
      return found?.isMarker === true ? undefined : found
    },
    /** Removes a version, or hides all of the name; the code that it is refused with. */
    remove: (name: string, id: string | null): string | null => {
      if (id === null && hasLocks) {
        add(name, marker, true)
        return null
      }
      const found = id === null ? newest(name) : versions.find((version) => version.name === name && version.id === id)
      if (found !== undefined && isLocked(found)) return "AccessDenied"
      remove(found)
      return null
    }
  }
}
