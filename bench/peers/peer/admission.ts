/** Who asks, and whether they may: the checks that come before the input, in the interface's order. */
import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import { consume, findKey, useKey } from "../statements.ts"
import { type Database, directory } from "./database.ts"
import { insufficientScope, invalidKey, rateLimited, Refused } from "./failures.ts"
import type { KeyRow } from "./rows.ts"

export interface Caller {
  readonly organizationId: string
  readonly organizationClosed: boolean
  readonly adminId: string
  readonly adminName: string
  readonly role: string
  readonly readsArchive: boolean
  readonly scopes: ReadonlyArray<string>
  readonly key: { readonly id: string; readonly label: string }
}

/** What an operation asks of its caller. */
export interface Access {
  readonly scope: string
  readonly roles: ReadonlyArray<string>
}

export interface Rate {
  readonly limit: number
  readonly remaining: number
  readonly reset: number
}

const windowMillis = 60_000
const limit = 120
const usedGrain = 60_000

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const start = "osc_live_"
const length = start.length + 43 + 6

const checksum = (text: string): string => {
  let written = ""
  for (let rest = zlib.crc32(text); written.length < 6; rest = Math.floor(rest / 62)) {
    written = alphabet.charAt(rest % 62) + written
  }
  return written
}

const isWellFormed = (key: string): boolean =>
  key.length === length && key.startsWith(start) && checksum(key.slice(0, -6)) === key.slice(-6)

const scheme = /^bearer +([\x21-\x7e]+)$/i

const rateOf = (hits: ReadonlyArray<number>, now: number): Rate => ({
  limit,
  remaining: limit - hits.length,
  reset: Math.max(1, Math.ceil(((hits[0] ?? now) + windowMillis - now) / 1000))
})

/** Wrong keys by address, in memory. */
const wrongKeys = () => {
  const logs = new Map<string, ReadonlyArray<number>>()
  return (address: string) => {
    const now = Date.now()
    if (logs.size > 10_000) logs.clear()
    const hits = (logs.get(address) ?? []).filter((hit) => hit > now - windowMillis)
    if (hits.length >= limit) throw rateLimited(limit, rateOf(hits, now).reset)
    logs.set(address, [...hits, now])
  }
}

const readsArchive = (role: string, granted: boolean) => role === "admin" ? granted : role !== "billing"

/** The checks over a database, for keys kept under the pepper. */
export const makeAdmission = (database: Database, pepper: Buffer) => {
  const run = directory(database)
  const pepperKey = crypto.createSecretKey(pepper)
  const countWrong = wrongKeys()

  const find = async (authorization: string | undefined): Promise<Caller> => {
    const key = scheme.exec(authorization ?? "")?.[1] ?? ""
    if (!isWellFormed(key)) throw invalidKey()
    const digest = crypto.createHmac("sha256", pepperKey).update(key).digest("hex")
    const now = new Date()
    const usedBefore = new Date(now.getTime() - usedGrain)
    const [row] = await run<KeyRow>(findKey, [usedBefore, digest, now])
    if (row === undefined) throw invalidKey()
    if (row.stale) await run(useKey, [now, row.organization_id, row.id, usedBefore])
    return {
      organizationId: row.organization_id,
      organizationClosed: row.closed,
      adminId: row.admin_id,
      adminName: row.admin_name,
      role: row.role,
      readsArchive: readsArchive(row.role, row.archive_access),
      scopes: row.scopes,
      key: { id: row.id, label: row.label }
    }
  }

  return {
    authenticate: async (authorization: string | undefined, address: string): Promise<Caller> => {
      try {
        return await find(authorization)
      } catch (error) {
        if (error instanceof Refused && error.status === 401) countWrong(address)
        throw error
      }
    },

    /** Counts the request against the key's budget. */
    consume: async ({ key }: Caller): Promise<Rate> => {
      const now = Date.now()
      const [row] = await run<{ admitted: boolean; hits: ReadonlyArray<string> }>(
        consume,
        [key.id, now, limit, now, limit, now - windowMillis]
      )
      const rate = rateOf((row?.hits ?? []).map(Number), now)
      if (row?.admitted !== true) throw rateLimited(limit, rate.reset)
      return rate
    },

    /** Refuses a caller without the scope, of a closed organization, or whose role may not. */
    check: (caller: Caller, { roles, scope }: Access): void => {
      if (!caller.scopes.includes(scope)) throw insufficientScope(scope)
      if (caller.organizationClosed) {
        throw new Refused(403, "organization_closed", "The organization has been wound down.")
      }
      if (!roles.includes(caller.role)) throw new Refused(403, "role_forbidden", "The admin's role may not do this.")
    }
  }
}
