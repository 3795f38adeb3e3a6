/** Opening of an archive on its reader's own machine: the password is derived there, and goes nowhere else. */
import { Effect, type Redacted } from "effect"
import { hex } from "../domain/archive/Bytes.ts"
import type { EpochKey } from "../domain/archive/Epoch.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import { ArchiveCrypto } from "../ports/archive/ArchiveCrypto.ts"
import type { ArchiveKey, StoredWrap } from "../ports/archive/ArchiveKeys.ts"
import type { Unlocked } from "../ports/archive/ArchiveUnlock.ts"
import { eraseEpochKey, openEpoch } from "./EpochKeys.ts"
import { eraseSeed, unwrapSeed } from "./KeyWraps.ts"

/** Opened epochs that are kept; the oldest go first. */
const epochsKept = 20_000

/** An archive that is open until its scope closes. */
export type LocalArchive = Pick<Unlocked, "epochKey" | "key">

/** Fails for another password, and for a wrap that was changed. The seed and kept epoch keys are zeroed with the scope. */
export const openLocally = Effect.fnUntraced(
  function*(key: ArchiveKey, wrap: StoredWrap, password: Redacted.Redacted) {
    const crypto = yield* ArchiveCrypto
    const seed = yield* Effect.acquireRelease(unwrapSeed({ ...key, kind: "password" }, wrap, password), eraseSeed)
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
    return { key, epochKey } satisfies LocalArchive
  }
)
