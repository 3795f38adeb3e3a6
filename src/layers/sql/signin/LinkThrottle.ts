/** Wrong links are counted for the address that they come from, those of invitations and of passwords together. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { freeAddressFailures } from "../../../domain/Limits.ts"
import { addressGroup, addressNetwork } from "../../../domain/NetworkAddress.ts"
import type { Attempt } from "../../../ports/signin/ConsolePasswords.ts"
import { countAll, type Counter, takeBack } from "./PasswordThrottle.ts"

const digest = (text: string): string => crypto.createHash("sha256").update(text).digest("hex")

/** The stored origin of an attempt. */
export const originOf = ({ ip }: Attempt) => ({
  address: digest(ip === null ? "nowhere" : addressGroup(ip)),
  network: digest(ip === null ? "nowhere" : addressNetwork(ip))
})

/** The counter of attempts of a kind from the address. */
export const counterOf = (kind: string, attempt: Attempt, free: number): Counter => ({
  key: `${kind}:${originOf(attempt).address}`,
  free
})

/** Looks up a link: the attempt is counted before, and uncounted if the link is valid. */
export const counted =
  (sql: SqlClient.SqlClient, attempt: Attempt) => <A, E, R>(find: Effect.Effect<A | null, E, R>) => {
    const counters = [counterOf("link", attempt, freeAddressFailures)]
    return Effect.gen(function*() {
      yield* countAll(sql, counters)
      const found = yield* Effect.tapError(find, () => takeBack(sql, counters))
      if (found !== null) yield* takeBack(sql, counters)
      return found
    })
  }
