/** Sessions on a messenger whose keys the database holds, as if the service had signed in to the accounts itself. */
import { Effect, Layer, Redacted } from "effect"
import type { SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import * as Randomness from "../../src/layers/crypto/Randomness.ts"
import { Vault } from "../../src/layers/crypto/Vault.ts"
import * as Keys from "../../src/layers/sql/messenger/MessengerKeys.ts"
import { MessengerKeys } from "../../src/ports/messenger/MessengerKeys.ts"
import { postgresLayer } from "../../test/support/postgres/databaseRoles.ts"

/** The name under which the adapter keeps the key of the one data centre. */
const keyName = "key:1"

/** The keys that are being stored at the same time. */
const together = 8

export interface HeldSession {
  readonly ref: SessionRef
  readonly secret: Uint8Array
}

/** Seals and stores the keys of sessions under the pepper. */
export const storeKeys = (url: string, pepper: string, sessions: ReadonlyArray<HeldSession>): Promise<void> =>
  MessengerKeys.use((keys) =>
    Effect.forEach(sessions, ({ ref, secret }) => keys.save(ref, keyName, Redacted.make(secret), 0), {
      concurrency: together,
      discard: true
    })
  ).pipe(
    Effect.provide(
      Keys.layer.pipe(
        Layer.provide(Layer.provideMerge(Vault.layer, Peppers.layerText(Redacted.make(pepper)))),
        Layer.provide(Randomness.layer),
        Layer.provide(postgresLayer(url))
      )
    ),
    Effect.runPromise
  )
