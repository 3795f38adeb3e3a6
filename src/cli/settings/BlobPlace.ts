/** The place of the files of archived messages, and the lock of its objects, as the settings name them. */
import type { S3Lock } from "../../layers/blobs/S3Locks.ts"
import type { S3Place } from "../../layers/blobs/S3Requests.ts"

export type BlobPlace =
  | { readonly kind: "directory"; readonly directory: string }
  | { readonly kind: "s3"; readonly place: S3Place }

/** The forms of the setting, for its refusal. */
export const blobPlaces =
  "a directory such as file:/srv/files, or a bucket such as s3:https://host/bucket/prefix?region=name (http on this machine alone)"

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const prefixPart = /^(?!\.{1,2}$)[\w.-]{1,100}$/
const regionName = /^[a-z0-9-]{1,40}$/

/** Stores that know no regions take this one. */
const anyRegion = "us-east-1"

const bucketOf = (text: string): S3Place | null => {
  if (!URL.canParse(text)) return null
  const { hash, hostname, origin, password, pathname, protocol, searchParams, username } = new URL(text)
  const isSafe = protocol === "https:" || (protocol === "http:" && loopback.test(hostname))
  if (!isSafe || hash !== "" || username !== "" || password !== "") return null
  const [bucket = "", ...parts] = pathname.replace(/^\//, "").replace(/\/$/, "").split("/")
  const region = searchParams.get("region") ?? anyRegion
  const isKnown = [...searchParams.keys()].every((name) => name === "region") && searchParams.size <= 1
  if (!bucketName.test(bucket) || !parts.every((part) => prefixPart.test(part)) || !regionName.test(region)) return null
  return isKnown ? { endpoint: origin, bucket, prefix: parts.map((part) => `${part}/`).join(""), region } : null
}

/** Null for a text that names no place. */
export const blobPlace = (text: string): BlobPlace | null => {
  const [, directory] = /^file:(?:\/\/)?(\/.+)$/.exec(text) ?? []
  if (directory !== undefined) return { kind: "directory", directory }
  const [, address] = /^s3:(.+)$/.exec(text) ?? []
  const place = address === undefined ? null : bucketOf(address)
  return place === null ? null : { kind: "s3", place }
}

/** The forms of the setting of a lock, for its refusal. */
export const blobLocks =
  "governance or compliance with a period of 1 to 10950 days or 1 to 30 years, such as governance:365d or compliance:7y"

const units = { d: { unit: "day", most: 10_950 }, y: { unit: "year", most: 30 } } as const

/** Null for a text that is no lock. */
export const blobLock = (text: string): S3Lock | null => {
  const [, mode, number, letter] = /^(governance|compliance):([1-9]\d{0,4})([dy])$/.exec(text) ?? []
  const { most, unit } = units[letter === "y" ? "y" : "d"]
  const amount = Number(number)
  if (!(amount <= most)) return null
  return { mode: mode === "compliance" ? "compliance" : "governance", amount, unit }
}
