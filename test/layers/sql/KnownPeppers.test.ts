import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Peppers } from "../../../src/layers/crypto/Peppers.ts"
import * as KnownPeppers from "../../../src/layers/sql/KnownPeppers.ts"
import { forEachDatabase } from "../../support/database.ts"
import * as World from "../../support/world.ts"

const another = Peppers.layerText(Redacted.make(Buffer.alloc(32, 99).toString("base64")))

describe("the peppers that a database was written under", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("are all given, or the start names each with what depends on it, until it is given up by its id", () =>
        Effect.gen(function*() {
          const [pepper] = yield* Peppers
          yield* Effect.provide(KnownPeppers.check([]), another, { local: true })
          const { id } = yield* World.makeOrganization()
          yield* KnownPeppers.check([])
          const refusal = yield* Effect.flip(Effect.provide(KnownPeppers.check([]), another, { local: true }))
          expect(refusal.message).toContain(`(5 API keys under ${pepper.id})`)
          expect(refusal.message).toMatch(new RegExp(`CONSOLE_FORGET_PEPPERS=${pepper.id}\\.$`))
          expect(refusal.message).not.toContain("\n")
          yield* Effect.provide(KnownPeppers.check([pepper.id]), another, { local: true })
          yield* World.query(
            id,
            (sql) => sql`update api_key set revoked_at = created_at where organization_id = ${id} returning id`
          )
          yield* Effect.provide(KnownPeppers.check([]), another, { local: true })
        }))
    })
  })
})
