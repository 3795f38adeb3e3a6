import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeKeyPair } from "../../src/archive/KeyWraps.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import * as Captured from "../support/archive/captured.ts"
import { makeRule } from "../support/archive/rules.ts"
import { asOwner } from "../support/journal/forging.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

interface KeyRow {
  readonly key_id: string
  readonly public_key: Uint8Array
  readonly public_key_proof: string
}

/** An account that was archived, and whose organization then had another key row put in the place of its own. */
const stage = Effect.gen(function*() {
  const staged = yield* Captured.stageCapture()
  yield* makeRule(staged.id, "any")
  const { chats, where } = yield* Captured.converse(staged, 2)
  yield* Captured.runs
  yield* Captured.passes("1 second")
  const { id } = staged
  const { key } = staged.admins.owner
  const current = Effect.flatMap(
    World.query<KeyRow>(
      id,
      (sql) =>
        sql`
          select key_id, public_key, public_key_proof from archive_key
          where organization_id = ${id} and retired_at is null`
    ),
    ([row]) => Effect.fromNullishOr(row)
  )
  const put = ({ public_key, public_key_proof }: Omit<KeyRow, "key_id">) =>
    asOwner(
      SqlClient.SqlClient.use((sql) =>
        sql`
          update archive_key set public_key = ${public_key}, public_key_proof = ${public_key_proof}
          where organization_id = ${id} and retired_at is null`
      )
    )
  return {
    id,
    current,
    put,
    say: (text: string) => chats.send(where, { from: Captured.grace, text }),
    runAgain: Effect.gen(function*() {
      yield* World.send("POST", `/v1/accounts/${staged.account.id}/archive/backup`, { key })
      yield* Captured.runs
      yield* Captured.passes("2 seconds")
    }),
    archive: Effect.map(World.get(`/v1/accounts/${staged.account.id}`, key), ({ body }) => body.archive),
    /** The messages of the chat, or the refusal of them. */
    read: Effect.map(
      World.send("GET", `/v1/archive/accounts/${staged.account.id}/chats/${where.chatId}/messages`, {
        key,
        headers: passwordHeader()
      }),
      ({ body, status }) => status === 200 ? body.data.length : body.error.code
    ),
    /** The epochs that are there. */
    epochs: World.query<{ epoch: string }>(
      id,
      (sql) => sql`select epoch_id::text as epoch from archive_epoch where organization_id = ${id} order by epoch_id`
    ),
    events: Effect.map(
      World.journal(id),
      (events) =>
        events.filter(({ action }) => action === "backup.failed" || action === "archive_password.failed")
          .map(({ action, details }) => [action, details])
    )
  }
})

const another = Effect.map(Effect.provide(makeKeyPair, NodeCrypto.layer), ({ publicKey }) => publicKey)

describe("a public key of an archive that the service has not stored", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("has nothing sealed to it: pushes wait, the run fails, and both go on once the organization's own is back", () =>
      Effect.gen(function*() {
        const { archive, current, epochs, events, put, read, runAgain, say } = yield* stage
        const [before, own] = [yield* epochs, yield* current]
        yield* put({ ...own, public_key: yield* another })
        yield* say("while it is another's")
        yield* Captured.passes("2 seconds")
        yield* runAgain
        expect(yield* epochs).toEqual(before)
        expect(yield* archive).toMatchObject({ error: "archive_key_unproven", saving: { reason: "error" } })
        expect(yield* events).toEqual([["backup.failed", { error: "archive_key_unproven" }]])
        expect(yield* read).toBe("archive_password_invalid")
        expect((yield* events).at(-1)).toEqual(["archive_password.failed", { key: "unproven" }])

        yield* put(own)
        expect(yield* read).toBe(2)
        yield* TestClock.adjust("1 minute")
        yield* runAgain
        expect([yield* read, (yield* archive).error]).toEqual([3, null])
      }))

    it.effect("is refused with the proof of another organization's, of the key before, and of none", () =>
      Effect.gen(function*() {
        const { archive, current, epochs, id, put, runAgain, say } = yield* stage
        const first = yield* current
        yield* setArchiveKey(id, { replace: true })
        yield* runAgain
        const [before, own] = [yield* epochs, yield* current]
        expect([own.key_id === first.key_id, (yield* archive).error]).toEqual([false, null])
        const elsewhere = yield* (yield* stage).current
        for (const row of [elsewhere, first, { ...own, public_key_proof: "" }]) {
          yield* put(row)
          yield* say("to nobody")
          yield* runAgain
          expect([(yield* archive).error, yield* epochs]).toEqual(["archive_key_unproven", before])
        }
        // The row of the key before has no proof any more.
        const [retired] = yield* World.query<{ proof: string | null }>(
          id,
          (sql) => sql`select public_key_proof as proof from archive_key where key_id = ${first.key_id}`
        )
        expect(retired).toEqual({ proof: null })
      }))
  })
})
