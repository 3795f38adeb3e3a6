/** The archive's key pair, from a service elsewhere. */
import { Effect, Layer } from "effect"
import { wrapIdOf } from "../../domain/archive/KeyWrap.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveKeys, type StoredWrap } from "../../ports/archive/ArchiveKeys.ts"
import { SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { bytesOf, unwritable } from "./RemoteBytes.ts"

export const layer = Layer.effect(
  ArchiveKeys,
  Effect.map(SealedArchive, (service) => {
    const asked = Effect.map(Effect.orDie(service.keys), ({ current_key_id, keys, organization_id }) => ({
      organizationId: OrganizationId.make(organization_id),
      key: keys.find(({ key_id }) => key_id === current_key_id)
    }))

    return ArchiveKeys.of({
      current: () =>
        Effect.map(asked, ({ key, organizationId }) =>
          key === undefined ? null : {
            organizationId,
            keyId: key.key_id,
            suite: key.suite,
            publicKey: bytesOf(key.public_key),
            madeAt: key.made_at,
            passwordSetAt: key.password_set_at,
            wrapId: wrapIdOf({ nonce: bytesOf(key.wrapped_private_key.nonce) })
          }),
      wrap: ({ keyId }, kind) =>
        Effect.map(
          asked,
          ({ key }): StoredWrap | null =>
            key === undefined || key.key_id !== keyId || kind !== "password" ? null : {
              kind,
              kdf: key.kdf,
              nonce: bytesOf(key.wrapped_private_key.nonce),
              sealed: bytesOf(key.wrapped_private_key.sealed),
              proof: bytesOf(key.wrapped_private_key.proof),
              madeAt: key.password_set_at
            }
        ),
      isRetired: unwritable,
      lock: unwritable,
      add: unwritable,
      dropAll: unwritable,
      rewrap: unwritable
    })
  })
)
