import { Effect, Option } from "effect"
import { KeyEncryption } from "../../../ports/security/KeyEncryption.ts"
import { Vault } from "../Vault.ts"

/** Seals data keys under the peppers. */
const ofVault = (vault: Vault["Service"]): KeyEncryption["Service"] => ({
  seal: (key, context) => Effect.sync(() => vault.sealBytes(key, context)),
  open: (sealed, context) => vault.openBytes(sealed, context),
  isCurrent: (sealed) => vault.isCurrent(sealed)
})

/** The host's key encryption, otherwise the vault. */
export const keyEncryption = Effect.gen(function*() {
  const given = yield* Effect.serviceOption(KeyEncryption)
  return Option.isSome(given) ? given.value : ofVault(yield* Vault)
})
