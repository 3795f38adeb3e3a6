/** Derivations of archive passwords in turn: each takes 128 MiB, and none of a process runs beside more than one other. */
import { Effect, Layer, Semaphore } from "effect"
import { archiveUnlocksAtOnce } from "../../domain/Limits.ts"
import { PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"

export const layer = Layer.effect(
  PasswordDerivation,
  Effect.map(PasswordDerivation, ({ cost, derive }) => {
    const turns = Semaphore.makeUnsafe(archiveUnlocksAtOnce)
    return {
      cost,
      derive: (password, parameters) => turns.withPermit(derive(password, parameters))
    } satisfies PasswordDerivation["Service"]
  })
)
