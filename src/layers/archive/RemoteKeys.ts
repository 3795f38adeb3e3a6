/** The archive's key pair, from a service elsewhere. */
import { Effect, Layer } from "effect"
import { wrapIdOf } from "../../domain/archive/KeyWrap.ts"
import type { ArchiveKeyList } from "../../domain/archive/SealedArchive.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveKeys, type WrappedKey } from "../../ports/archive/ArchiveKeys.ts"
import { SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { bytesOf, unwritable } from "./RemoteBytes.ts"

const wrappedKey = (
  organizationId: OrganizationId,
  shown: (typeof ArchiveKeyList.Type)["keys"][number]
): WrappedKey => {
  const { nonce, proof, sealed } = shown.wrapped_private_key
  const wrap = {
    kind: "password" as const,
    kdf: shown.kdf,
    nonce: bytesOf(nonce),
    sealed: bytesOf(sealed),
    proof: bytesOf(proof),
    madeAt: shown.password_set_at
  }
  const key = {
    organizationId,
    keyId: shown.key_id,
    suite: shown.suite,
    publicKey: bytesOf(shown.public_key),
    madeAt: shown.made_at,
    passwordSetAt: shown.password_set_at,
    wrapId: wrapIdOf(wrap)
  }
  return { key, wrap }
}

export const layer = Layer.effect(
  ArchiveKeys,
  Effect.map(SealedArchive, (service) => {
    const wrapped = Effect.map(
      Effect.orDie(service.keys),
      ({ keys, organization_id }) => keys.map((key) => wrappedKey(OrganizationId.make(organization_id), key))
    )

    return ArchiveKeys.of({
      current: () => Effect.map(wrapped, ([current]) => current?.key ?? null),
      sealing: unwritable,
      wrapped: () => wrapped,
      wrap: unwritable,
      isRetired: unwritable,
      lock: unwritable,
      add: unwritable,
      dropAll: unwritable,
      rewrap: unwritable
    })
  })
)
