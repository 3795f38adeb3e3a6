/**
 * The secrets of an account that the service holds: which of several the messenger takes, and what becomes of the
 * others.
 */
import type { Redacted } from "effect"
import type { AccountSecurity, HeldSecrets } from "../messenger/Messenger.ts"

export type SecretKind = "two_fa" | "passkey"

/**
 * The state of a secret: the messenger takes the one that is `held`; one that is about to be set, or may have been, is
 * `next`; one that it took before is `retired`, and kept for a while.
 */
export type SecretSlot = "held" | "next" | "retired"

/** A secret that is kept. */
export interface StoredSecret {
  readonly id: string
  readonly slot: SecretSlot
  /** The time when it is forgotten; null where that is not decided. */
  readonly erase_at: Date | null
}

/** A 2FA password that may be the account's. */
export interface PasswordCandidate extends StoredSecret {
  readonly password: Redacted.Redacted
}

/** A passkey that may be the account's. */
export interface PasskeyCandidate extends StoredSecret {
  /** The messenger's id of it. */
  readonly passkeyId: string
}

/** The secrets of an account that the service holds, the likeliest first. */
export interface Candidates {
  readonly passwords: ReadonlyArray<PasswordCandidate>
  readonly passkeys: ReadonlyArray<PasskeyCandidate>
}

/** Nothing is held. */
export const noCandidates: Candidates = { passwords: [], passkeys: [] }

/** The part that is requested from the messenger. */
export const heldOf = ({ passkeys, passwords }: Candidates): HeldSecrets => ({
  twoFaPasswords: passwords.map(({ password }) => password),
  passkeyIds: passkeys.map(({ passkeyId }) => passkeyId)
})

/** The state of a secret from now on; one that is retired is forgotten after a while. */
export interface SlotChange {
  readonly id: string
  readonly slot: SecretSlot
}

/** The one that the messenger takes is held and the others are retired; where it takes none, what is held stays. */
const judged = (kept: ReadonlyArray<StoredSecret>, taken: string | undefined): ReadonlyArray<SlotChange> =>
  kept.flatMap(({ erase_at, id, slot }): ReadonlyArray<SlotChange> => {
    if (id === taken) return slot === "held" ? [] : [{ id, slot: "held" }]
    if (taken === undefined && slot === "held") return []
    return slot === "retired" && erase_at !== null ? [] : [{ id, slot: "retired" }]
  })

/** The password that the messenger takes, as far as it was read. */
export const takenPassword = (
  { passwords }: Candidates,
  { two_fa_held }: Pick<AccountSecurity, "two_fa_held">
): PasswordCandidate | undefined => two_fa_held === null ? undefined : passwords[two_fa_held]

/** The consequences for the secrets of what a poll has read; nothing where it could not. */
export const judge = (candidates: Candidates, security: AccountSecurity): ReadonlyArray<SlotChange> => {
  const { passkey_ids, two_fa_present } = security
  return [
    ...(two_fa_present === null ? [] : judged(candidates.passwords, takenPassword(candidates, security)?.id)),
    ...(passkey_ids === null
      ? []
      : judged(
        candidates.passkeys,
        candidates.passkeys.find(({ passkeyId }) => passkey_ids.includes(passkeyId))?.id
      ))
  ]
}
