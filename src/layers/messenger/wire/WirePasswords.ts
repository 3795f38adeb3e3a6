/** The account's 2FA password, proved and set without sending it (SRP). */
import { Effect, Redacted } from "effect"
import { PasswordInvalid, PlatformUnavailable } from "../../../ports/messenger/MessengerSession.ts"
import { Cipher } from "./Cipher.ts"
import { computeNewPasswordHash, computeSrpParams, type wire } from "./Protocol.ts"
import type { Client, Meanings } from "./WireClient.ts"

/** The random bits of a proof's secret number: RFC 5054 asks for 256. */
const secretBytes = 32

/**
 * Draws a proof's secret number, of which the library takes 2048 bits: they add no strength to the password's group, and
 * their powers would hold up the process, with every account that it watches, for a tenth of a second.
 */
class ProofCipher extends Cipher {
  override randomBytes(size: number): Uint8Array {
    const number = new Uint8Array(size)
    this.randomFill(number.subarray(Math.max(0, size - secretBytes)))
    return number
  }
}

const cipher = new ProofCipher()

/** The proof of a password for the platform, by the account's settings of the moment. */
const proof = (settings: wire.account.RawPassword, password: Redacted.Redacted) =>
  Effect.tryPromise({
    try: () => computeSrpParams(cipher, settings, Redacted.value(password)),
    catch: () => new PlatformUnavailable()
  })

/** The proof was made with parameters that hold no longer: they serve once, and change with the password. */
export class Stale {
  readonly _tag = "Stale"
}

const stale = () => new Stale()

/** The meaning of the platform's refusals of a proof. */
export const meanings: Meanings<PasswordInvalid | Stale> = {
  PASSWORD_HASH_INVALID: () => new PasswordInvalid(),
  SRP_ID_INVALID: stale,
  SRP_PASSWORD_CHANGED: stale
}

export const settings = (client: Client) => client.call({ _: "account.getPassword" })

/** A proof with the settings that it was made by. */
export interface PasswordProof {
  readonly proof: wire.RawInputCheckPasswordSRP
  readonly settings: wire.account.RawPassword
}

/**
 * Asks what needs the password, with a fresh proof of it. Where the parameters have become stale meanwhile they are
 * fetched again, once. An account without a password has none that is right.
 */
export const proved = <A, E>(
  client: Client,
  password: Redacted.Redacted,
  ask: (proved: PasswordProof) => Effect.Effect<A, E | Stale>
) => {
  const once = Effect.gen(function*() {
    const current = yield* settings(client)
    if (current.hasPassword !== true) return yield* new PasswordInvalid()
    return yield* ask({ proof: yield* proof(current, password), settings: current })
  })
  return once.pipe(
    Effect.catchIf(isStale, () => once),
    Effect.catchIf(isStale, () => Effect.fail(new PlatformUnavailable()))
  )
}

const isStale = (failure: unknown): failure is Stale => failure instanceof Stale

/** The settings that replace the password by another one. */
export const replacing = (current: wire.account.RawPassword, next: Redacted.Redacted) =>
  Effect.map(
    Effect.tryPromise({
      try: () => computeNewPasswordHash(cipher, current.newAlgo, Redacted.value(next)),
      catch: () => new PlatformUnavailable()
    }),
    (hash): wire.account.RawPasswordInputSettings => ({
      _: "account.passwordInputSettings",
      newAlgo: current.newAlgo,
      newPasswordHash: hash,
      hint: ""
    })
  )

/** The settings that remove the password. */
export const removing: wire.account.RawPasswordInputSettings = {
  _: "account.passwordInputSettings",
  newAlgo: { _: "passwordKdfAlgoUnknown" },
  newPasswordHash: new Uint8Array(),
  hint: ""
}
