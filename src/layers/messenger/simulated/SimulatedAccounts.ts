/** The public facts of an account of the simulated platform, and its stored password. */
import { Redacted, type Redacted as Secret } from "effect"
import { createHash, scryptSync } from "node:crypto"
import type { AccountSecurity, Authorization, HeldSecrets, Profile } from "../../../domain/messenger/Messenger.ts"
import { unlockedAt } from "./PlatformRules.ts"
import type { SimulatedAccount, SimulatedAuthorization } from "./SimulatedStore.ts"

/** A 64-bit id that looks like the platform's and depends only on the number. */
export const platformId = (kind: string, number: number): string =>
  BigInt.asUintN(63, createHash("sha256").update(`${kind}/${number}`).digest().readBigUInt64BE()).toString()

/** A salt of its own for each setting of the password. */
const saltOf = ({ two_fa_version, user_id }: SimulatedAccount): string =>
  two_fa_version === 0 ? user_id : `${user_id}/${two_fa_version}`

/** The costs are the lowest because the password guards nothing but a simulation. */
const digestOf = (account: SimulatedAccount, password: Secret.Redacted): string =>
  scryptSync(Redacted.value(password).normalize("NFC"), saltOf(account), 32, { N: 2, r: 1, p: 1 }).toString("hex")

/** The account with another 2FA password, or none; a recovery email needs one. */
export const withPassword = (account: SimulatedAccount, password: Secret.Redacted | null): SimulatedAccount => {
  const next = { ...account, two_fa_version: account.two_fa_version + 1 }
  return password === null
    ? {
      ...next,
      two_fa_digest: null,
      two_fa_hint: null,
      recovery_email_pattern: null,
      recovery_pending_pattern: null,
      reset_at: null,
      email_codes: { login: next.email_codes.login }
    }
    : { ...next, two_fa_digest: digestOf(next, password) }
}

/** True if the candidate is the account's 2FA password. */
export const isPassword = (account: SimulatedAccount, candidate: Secret.Redacted): boolean =>
  account.two_fa_digest !== null && digestOf(account, candidate) === account.two_fa_digest

/** The account as it is at `now`: a reset that has come due has removed the password. */
export const asOf = (account: SimulatedAccount, now: Date): SimulatedAccount =>
  account.reset_at !== null && account.reset_at.getTime() <= now.getTime() ? withPassword(account, null) : account

export const profileOf = (account: SimulatedAccount): Profile => ({
  user_id: account.user_id,
  first_name: account.first_name,
  last_name: account.last_name,
  username: account.username,
  about: account.about,
  phone: account.phone,
  photo_id: account.photo_id,
  premium: account.premium
})

/** The authorization as it is listed to `asking`, which is active now, whatever was recorded of it. */
export const listedTo = (
  asking: SimulatedAuthorization,
  account: SimulatedAccount,
  authorization: SimulatedAuthorization,
  now: Date
): Authorization => {
  const current = authorization.id === asking.id
  return {
    id: current ? authorization.shown_as : authorization.id,
    current,
    device_model: authorization.device_model,
    platform: authorization.platform,
    app_name: authorization.app_name,
    app_version: authorization.app_version,
    ip: authorization.ip,
    country: authorization.country,
    last_active_at: current && !account.frozen ? now : authorization.last_active_at,
    created_at: authorization.created_at,
    password_pending: authorization.password_pending,
    unconfirmed: authorization.unconfirmed
  }
}

export const securityOf = (
  account: SimulatedAccount,
  asking: SimulatedAuthorization,
  held: HeldSecrets,
  now: Date
): AccountSecurity => {
  const place = held.twoFaPasswords.findIndex((candidate) => isPassword(account, candidate))
  const present = account.two_fa_digest !== null
  return {
    login_email_pattern: account.login_email_pattern,
    recovery_email_pattern: place === -1 ? null : account.recovery_email_pattern,
    recovery_pending_pattern: account.recovery_pending_pattern,
    has_recovery: account.recovery_email_pattern !== null,
    two_fa_present: present,
    two_fa_mark: present ? createHash("sha256").update(saltOf(account)).digest("hex") : null,
    two_fa_held: place === -1 ? null : place,
    two_fa_managed: place !== -1,
    reset_at: account.reset_at,
    passkey_present: account.passkey_ids.length > 0,
    passkey_ids: account.passkey_ids,
    passkey_managed: held.passkeyIds.some((id) => account.passkey_ids.includes(id)),
    passkey_eligible_at: unlockedAt(asking.signed_in_at, now)
  }
}
