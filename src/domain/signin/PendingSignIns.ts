/** The choice of an admin's sign-ins that wait for a second factor which give way to others. */
import { pendingSignInsKept, strangersSignInsKept } from "../Limits.ts"
import { addressGroup, addressShares } from "../NetworkAddress.ts"
import { surplus } from "./Fairness.ts"

/** A sign-in as far as others may displace it. */
export interface WaitingSignIn {
  readonly id: string
  readonly address: string | null
  /** The digest of a browser that the admin has signed in with before; null for any other browser. */
  readonly browser: string | null
}

const originOf = ({ address, browser }: WaitingSignIn): string =>
  browser === null ? `address ${address === null ? "unknown" : addressGroup(address)}` : `browser ${browser}`

/**
 * Those that end, given the newest first: the oldest of an address or a known browser that has many, and where too many
 * wait in unknown browsers, the oldest of the network with the most. So an attacker who has the password, and not the
 * second factor, ends none of another network, and none of a known browser.
 */
export const displaced = (waiting: ReadonlyArray<WaitingSignIn>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  const crowded = waiting.filter((each) => {
    const count = (counts.get(originOf(each)) ?? 0) + 1
    counts.set(originOf(each), count)
    return count > pendingSignInsKept
  })
  let strangers = waiting
    .filter((each) => each.browser === null && !crowded.includes(each))
    .map(({ address, id }) => ({ id, groups: address === null ? ["unknown"] : addressShares(address) }))
  const ended = crowded.map(({ id }) => id)
  while (strangers.length > strangersSignInsKept) {
    const given = surplus(strangers)
    if (given === undefined) break
    ended.push(given.id)
    strangers = strangers.filter((each) => each !== given)
  }
  return ended
}
