/** The parameters of a request to the authorization server, and which of them are given twice. */
import { Result } from "effect"
import { maxFormSize, maxParameters } from "../domain/oauth/OAuth.ts"
import { refuse, type Refused } from "./OAuthRefusal.ts"

export interface Parameters {
  /** The value; undefined when the parameter is missing or empty, which is the same (RFC 6749, section 3.1). */
  get(name: string): string | undefined
  all(name: string): ReadonlyArray<string>
  /** The names that are given more than once. */
  readonly repeated: ReadonlyArray<string>
}

const refused = refuse(
  "invalid_request",
  `The parameters are more than ${maxParameters}, or larger than ${maxFormSize} bytes.`
)

/** Reads `application/x-www-form-urlencoded` text, unless it is larger than any request has to be. */
export const parse = (text: string): Result.Result<Parameters, Refused> => {
  if (text.length > maxFormSize) return Result.fail(refused)
  const members = new Map<string, Array<string>>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1
    if (count > maxParameters) return Result.fail(refused)
    const values = members.get(name)
    if (values === undefined) members.set(name, [value])
    else values.push(value)
  }
  return Result.succeed({
    get: (name) => members.get(name)?.[0] || undefined,
    all: (name) => (members.get(name) ?? []).filter((value) => value !== ""),
    repeated: [...members].filter(([, values]) => values.length > 1).map(([name]) => name)
  })
}

/** The address with further members of its query. The address is kept as it is, character by character. */
export const append = (address: string, members: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) query.append(name, value)
  }
  return `${address}${address.includes("?") ? (/[?&]$/.test(address) ? "" : "&") : "?"}${query}`
}
