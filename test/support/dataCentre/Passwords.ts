/** The 2FA passwords of the accounts, and the requests about them. */
import { Redacted } from "effect"
import * as crypto from "node:crypto"
import type { MessengerUserId } from "../../../src/domain/messenger/Messenger.ts"
import type { SecurityChange } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { type Clients, type Handlers, kept, refuse } from "./Clients.ts"
import type * as DataCentre from "./DataCentre.ts"
import * as Proofs from "./Proofs.ts"
import { seconds } from "./Said.ts"
import type { Word } from "./Words.ts"

/** A 2FA password: what proves it, and what the simulated platform knows it as. */
interface Password {
  readonly verifier: Proofs.Verifier
  readonly known: Redacted.Redacted
}

const nothingHeld = { twoFaPasswords: [], passkeyIds: [] }

export const make = ({ ask, live }: Clients) => {
  const passwords = new Map<string, Password>()
  const addresses = new Map<string, string>()
  /** How often a password of an account was set from outside: it has other salts each time. */
  const turns = new Map<string, number>()

  /** Whose password a key is about: that of whoever is signed in, or is about to be. */
  const passwordOf = async (key: DataCentre.Key): Promise<Password | undefined> => {
    const { login, userId } = kept(key)
    if (userId !== undefined) return passwords.get(userId)
    return login === undefined ? undefined : passwords.get(`+${login.phone}`)
  }

  const proves = async (key: DataCentre.Key, proof: Word): Promise<Password | null> => {
    const own = kept(key)
    const password = await passwordOf(key)
    const { challenge } = own
    delete own.challenge
    if (password === undefined) return refuse(400, "PASSWORD_EMPTY")
    if (challenge === undefined || proof["srpId"]?.equals(challenge.id) !== true) return refuse(400, "SRP_ID_INVALID")
    return Proofs.isProof(password.verifier, challenge, proof) ? password : null
  }

  const remember = (userId: MessengerUserId, phone: string | undefined, password: Password | null): void => {
    for (const name of [userId, ...(phone === undefined ? [] : [`+${phone}`])]) {
      if (password === null) passwords.delete(name)
      else passwords.set(name, password)
    }
  }

  const handlers: Handlers = {
    "account.getPassword": async (key) => {
      const password = await passwordOf(key)
      const { login } = kept(key)
      const security = login === undefined ? await ask((await live(key)).security(nothingHeld)) : null
      const present = security === null ? password !== undefined : security.two_fa_present === true
      const challenge = present && password !== undefined ? Proofs.challenge(password.verifier) : undefined
      if (challenge !== undefined) kept(key).challenge = challenge
      return {
        _: "account.password",
        hasPassword: challenge !== undefined,
        hasRecovery: security?.has_recovery === true,
        ...(challenge === undefined || password === undefined
          ? {}
          : {
            currentAlgo: Proofs.algorithm(password.verifier.salt1, password.verifier.salt2),
            srpB: Proofs.offeredBytes(challenge),
            srpId: challenge.id
          }),
        ...(key.of["hint"] === undefined || key.of["hint"] === null ? {} : { hint: key.of["hint"] }),
        emailUnconfirmedPattern: security?.recovery_pending_pattern ?? undefined,
        loginEmailPattern: security?.login_email_pattern ?? undefined,
        pendingResetDate: seconds(security?.reset_at ?? null) || undefined,
        newAlgo: Proofs.algorithm(crypto.randomBytes(8), crypto.randomBytes(16)),
        newSecureAlgo: { _: "securePasswordKdfAlgoSHA512", salt: crypto.randomBytes(8) },
        secureRandom: crypto.randomBytes(256)
      }
    },
    "account.getPasswordSettings": async (key, { password }) => {
      const proved = await proves(key, password)
      if (proved === null) return refuse(400, "PASSWORD_HASH_INVALID")
      const held = { twoFaPasswords: [proved.known], passkeyIds: [] }
      const { recovery_email_pattern } = await ask((await live(key)).security(held))
      return {
        _: "account.passwordSettings",
        ...(recovery_email_pattern === null
          ? {}
          : { email: addresses.get(kept(key).userId!) ?? recovery_email_pattern })
      }
    },
    "account.updatePasswordSettings": async (key, { newSettings, password }) => {
      const session = await live(key)
      const { userId } = kept(key)
      const current = password._ === "inputCheckPasswordEmpty" ? null : await proves(key, password)
      if (password._ !== "inputCheckPasswordEmpty" && current === null) return refuse(400, "PASSWORD_HASH_INVALID")
      const known = current?.known ?? null
      const { email } = newSettings
      if (known !== null && email === "") {
        await ask(session.removeRecoveryEmail(known))
        return true
      }
      if (known !== null && email !== undefined) {
        const { codeLength } = await ask(session.setRecoveryEmail({ current: known, email }))
        addresses.set(userId!, email)
        return refuse(400, `EMAIL_UNCONFIRMED_${codeLength}`)
      }
      const { phone } = await ask(session.profile)
      if (newSettings.newAlgo._ === "passwordKdfAlgoUnknown") {
        if (known !== null) await ask(session.removePassword(known))
        remember(userId!, phone ?? undefined, null)
        return true
      }
      const { salt1, salt2 } = newSettings.newAlgo
      const value = Buffer.from(newSettings.newPasswordHash)
      const next = Redacted.make(`verified by ${value.toString("hex")}`)
      await ask(session.setPassword({ current: known, next }))
      const verifier = { salt1, salt2, value: BigInt(`0x${value.toString("hex")}`) }
      remember(userId!, phone ?? undefined, { verifier, known: next })
      return true
    }
  }

  const changed = (userId: MessengerUserId, phone: string | undefined, change: SecurityChange): void => {
    const { recovery_email, two_fa_password } = change
    if (typeof recovery_email === "string") addresses.set(userId, recovery_email)
    if (two_fa_password === undefined) return
    const turn = turns.get(userId) ?? 0
    turns.set(userId, turn + 1)
    remember(
      userId,
      phone,
      two_fa_password === null
        ? null
        : { verifier: Proofs.verifierOf(Redacted.value(two_fa_password), turn), known: two_fa_password }
    )
  }

  return { changed, handlers, passwordOf, proves }
}

export type Passwords = ReturnType<typeof make>
