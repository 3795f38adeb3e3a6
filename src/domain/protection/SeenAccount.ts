/** The changes of the account itself by a good poll and the reading of its settings. */
import type { AccountSecurity, Profile } from "../messenger/Messenger.ts"
import type { AccountChange } from "./Decision.ts"
import type { Facets, GuardedAccount, ProtectionFacts } from "./Facts.ts"
import { accountEvent, type Notice } from "./JournalNotices.ts"

/** The ways of recovery as the API shows them. */
export const recoveryOf = (
  { login_email, passkeys, recovery, reset_at, two_fa }: Facets
): GuardedAccount["recovery"] => ({
  email: recovery?.pattern ?? null,
  login_email: login_email ?? null,
  passkeys: passkeys?.length ?? null,
  two_fa: two_fa === undefined ? null : two_fa !== null,
  reset_at: reset_at ?? null
})

/** True if two objects of plain values are equal, whatever the order of their members. */
const sameMembers = (one: object | null, other: object | null): boolean =>
  JSON.stringify(Object.entries(one ?? {}).toSorted()) === JSON.stringify(Object.entries(other ?? {}).toSorted())

const seenRecovery = (account: GuardedAccount, facets: Facets): AccountChange => {
  const recovery = recoveryOf(facets)
  return sameMembers(recovery, account.recovery) ? {} : { recovery }
}

const seenNames = (account: GuardedAccount, { first_name, last_name, phone, username }: Profile): AccountChange => ({
  ...(account.first_name === first_name ? {} : { first_name }),
  ...(account.last_name === last_name ? {} : { last_name }),
  ...(account.username === username ? {} : { username }),
  ...(phone === null || account.phone_number === `+${phone}` ? {} : { phone_number: `+${phone}` })
})

/** True if none of the 2FA passwords that the service holds is the account's; as before where that was not read. */
export const twoFaLost = ({ account, facets }: ProtectionFacts, security: AccountSecurity | undefined): boolean =>
  security === undefined || security.two_fa_present === null
    ? facets.two_fa_lost === true
    : account.two_fa_managed && !security.two_fa_managed

/** The columns that change. */
export const seenAccount = (
  { account }: ProtectionFacts,
  facets: Facets,
  security: AccountSecurity | undefined,
  profile: Profile | undefined
): AccountChange => ({
  ...(account.baselined ? {} : { baselined: true }),
  ...(account.monitoring_state === "unknown" ? { monitoring_state: "active" } : {}),
  ...(profile === undefined ? {} : seenNames(account, profile)),
  ...(security === undefined ? {} : seenRecovery(account, facets))
})

export const accountNotices = (facts: ProtectionFacts, lost: boolean): ReadonlyArray<Notice> => [
  ...(facts.account.monitoring_state === "unknown" && facts.facets.away !== true && facts.facets.silent !== true
    ? [[accountEvent("monitoring.restored", "service"), null] as const]
    : []),
  ...(lost && facts.facets.two_fa_lost !== true
    ? [[accountEvent("two_fa.lost", "external"), { kind: "two_fa.lost" }] as const]
    : [])
]
