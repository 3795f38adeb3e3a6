/** Opening of an archive on its reader's own machine: the password is derived there, and goes nowhere else. */
import { type Array as Arr, Effect, type Redacted } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { WrappedKey } from "../ports/archive/ArchiveKeys.ts"
import type { Unlocked } from "../ports/archive/ArchiveUnlock.ts"
import { eraseEpochKey, openEpoch } from "./EpochKeys.ts"
import { eraseSeed, openFirst } from "./KeyWraps.ts"

/** Opened epochs that are kept; the oldest go first. */
const epochsKept = 20_000

/** An archive that is open until its scope closes. */
export type LocalArchive = Pick<Unlocked, "epochKey" | "key">

/**
 * Opens the key pair whose password it is, and what is sealed to that one alone; the current one is the first. Fails for
 * another password, and for a wrap that was changed. The seed and kept epoch keys are zeroed with the scope.
 */
export const openLocally = Effect.fnUntraced(
  function*(keys: Arr.NonEmptyReadonlyArray<WrappedKey>, password: Redacted.Redacted) {
    const crypto = yield* ArchiveCrypto
    const { key, seed } = yield* Effect.acquireRelease(
      openFirst(keys, password),
      ({ seed }) => eraseSeed(seed)
    )
    const epochs = new Map<string, EpochKey>()
    yield* Effect.addFinalizer(() => Effect.forEach(epochs.values(), eraseEpochKey, { discard: true }))

    const epochKey: Unlocked["epochKey"] = Effect.fnUntraced(function*(ref, sealedKey) {
      if (ref.organizationId !== key.organizationId || ref.keyId !== key.keyId) {
        return yield* new ArchiveUnreadable({ part: "epoch" })
      }
      // Another sealed form under the same name is another key.
      const name = `${ref.accountId} ${ref.epochId} ${hex(sealedKey.subarray(-16))}`
      const known = epochs.get(name)
      if (known !== undefined) return known
      const opened = yield* Effect.provideService(openEpoch(ref, sealedKey, seed), ArchiveCrypto, crypto)
      epochs.set(name, opened)
      const [oldest] = epochs.keys()
      if (epochs.size > epochsKept && oldest !== undefined) epochs.delete(oldest)
      return opened
    })
    return { key: keys[0].key, epochKey } satisfies LocalArchive
  }
)
