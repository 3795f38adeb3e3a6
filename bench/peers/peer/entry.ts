/** Who asks, and whether they may: the checks that come before the input, in the interface's order. */
import * as crypto from "node:crypto"
import * as zlib from "node:zlib"
import type { Database } from "./database.ts"
import { insufficientScope, invalidKey, rateLimited, Refused } from "./failures.ts"
import type { EntryRow, OrganizationRow } from "./rows.ts"
import { count, enter, limit, noteUses } from "./statements.ts"

export interface Caller {
  readonly organization: OrganizationRow
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
  readonly remaining: number
  readonly reset: number
}

const windowMillis = 60_000

/** How often it is written down when keys were used. */
const noteMillis = 1000

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

interface Counted {
  readonly admitted: boolean
  readonly used: number
  readonly oldest: number
}

/** How the budget stands after a hit; refuses where it was spent. */
const rateOf = ({ admitted, oldest, used }: Counted, now: number): Rate => {
  const reset = Math.max(1, Math.ceil((oldest + windowMillis - now) / 1000))
  if (!admitted) throw rateLimited(limit, reset)
  return { remaining: limit - used, reset }
}

/** Wrong keys by address, in memory. */
const wrongKeys = () => {
  const logs = new Map<string, ReadonlyArray<number>>()
  return (address: string): void => {
    const now = Date.now()
    if (logs.size > 10_000) logs.clear()
    const hits = (logs.get(address) ?? []).filter((hit) => hit > now - windowMillis)
    rateOf({ admitted: hits.length < limit, used: hits.length, oldest: hits[0] ?? now }, now)
    logs.set(address, [...hits, now])
  }
}

const readsArchive = (role: string, granted: boolean) => role === "admin" ? granted : role !== "billing"

/** The roles that reach what was granted to them, and no more. */
const bounded = ["admin", "archive"]

/** The admin whose grants bound what is reached; null where every account is. */
export const grantedTo = ({ adminId, role }: Caller): string | null => bounded.includes(role) ? adminId : null

/** Refuses a caller without the scope, of a closed organization, or whose role may not. */
export const check = ({ organization, role, scopes }: Caller, access: Access): void => {
  if (!scopes.includes(access.scope)) throw insufficientScope(access.scope)
  if (organization.closed) throw new Refused(403, "organization_closed", "The organization has been wound down.")
  if (!access.roles.includes(role)) throw new Refused(403, "role_forbidden", "The admin's role may not do this.")
}

/** The checks over a database, for keys kept under the pepper. */
export const makeEntry = (database: Database, pepper: Buffer) => {
  const pepperKey = crypto.createSecretKey(pepper)
  const countWrong = wrongKeys()
  let used = new Map<string, number>()

  const note = async () => {
    if (used.size === 0) return
    const noted = used
    used = new Map()
    try {
      await database.change(noteUses, [[...noted.keys()], [...noted.values()]])
    } catch {
      // They are noted with the next that are used.
      for (const [id, at] of noted) if (!used.has(id)) used.set(id, at)
    }
  }
  const noting = setInterval(() => void note(), noteMillis).unref()

  return {
    /** The caller, whose budget has counted the request. */
    enter: async (
      authorization: string | undefined,
      address: string
    ): Promise<{ readonly caller: Caller; readonly rate: () => Rate }> => {
      const key = scheme.exec(authorization ?? "")?.[1] ?? ""
      const now = Date.now()
      const [row] = isWellFormed(key)
        ? await database.run<EntryRow>(enter, [
          crypto.createHmac("sha256", pepperKey).update(key).digest(),
          now
        ])
        : []
      if (row === undefined) {
        countWrong(address)
        throw invalidKey()
      }
      used.set(row.key_id, now)
      const caller = {
        organization: row,
        adminId: row.admin_id,
        adminName: row.admin_name,
        role: row.role,
        readsArchive: readsArchive(row.role, row.archive_access),
        scopes: row.scopes,
        key: { id: row.key_id, label: row.key_label }
      }
      return { caller, rate: () => rateOf(row, now) }
    },

    /** Counts a further message of the same request. */
    count: async ({ key }: Caller): Promise<Rate> => {
      const now = Date.now()
      const [row] = await database.run<Counted>(count, [key.id, now])
      if (row === undefined) throw new Error("The budget was not counted")
      return rateOf(row, now)
    },

    close: async () => {
      clearInterval(noting)
      await note()
    }
  }
}
