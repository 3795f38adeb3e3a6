import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { LastUses } from "../../../../src/layers/sql/credentials/LastUses.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { recording } from "../../../support/postgres/statements.ts"
import { superuser, superuserUrlHere } from "../../../support/postgres/superuser.ts"
import * as World from "../../../support/world.ts"

const start = new Date("2026-11-20T12:00:00.000Z")

/** An organization with keys of its owner, and when each was used last. */
const withKeys = Effect.fnUntraced(function*(count: number) {
  yield* TestClock.setTime(start.getTime())
  const { admins, id } = yield* World.makeOrganization()
  const keys = yield* Effect.replicateEffect(World.makeKey(id, admins.owner.id, ["org:read"]), count)
  const lastUses = World.query<{ id: string; last_used_at: Date | null }>(
    id,
    (sql) => sql`select id, last_used_at from api_key where organization_id = ${id}`
  ).pipe(Effect.map((rows) => keys.map((key) => rows.find((row) => row.id === key.id)?.last_used_at ?? null)))
  return {
    organizationId: id,
    keys,
    lastUses,
    use: (key: { readonly key: World.Person["key"] }) => World.get("/v1/status", key.key)
  }
})

const written = LastUses.use((uses) => uses.written)

describe("4.2 when credentials were used last", () => {
  layer(World.world(postgres))((it) => {
    it.effect("the uses of a second are written by one statement, in the background", () =>
      Effect.gen(function*() {
        const { keys, lastUses, use } = yield* withKeys(5)
        const { said } = yield* recording(Effect.forEach(keys, use))
        expect(said.filter(({ sql }) => sql.startsWith("update"))).toEqual([])
        expect(yield* lastUses).toEqual(keys.map(() => null))
        const writing = yield* recording(written)
        expect(writing.said.map(({ params }) => params[1])).toEqual([keys.map(({ id }) => id)])
        expect(yield* lastUses).toEqual(keys.map(() => start))
      }))

    it.effect("what nobody asks for is written after a second", () =>
      Effect.gen(function*() {
        const { keys, lastUses, use } = yield* withKeys(2)
        yield* Effect.forEach(keys, use)
        yield* TestClock.adjust("1 second")
        while ((yield* lastUses).includes(null)) yield* Effect.yieldNow
        expect(yield* lastUses).toEqual([start, start])
      }))

    it.effect("a request waits for nobody who changes its key, whose next use is written", () =>
      Effect.gen(function*() {
        const { keys: [changed, other], lastUses, use } = yield* withKeys(2)
        const somebody = yield* superuser(yield* superuserUrlHere)
        yield* Effect.promise(() => somebody.query("begin"))
        yield* Effect.promise(() => somebody.query("select from api_key where id = $1 for update", [changed!.id]))
        expect([yield* use(changed!), yield* use(other!)].map(({ status }) => status)).toEqual([200, 200])
        yield* written
        yield* Effect.promise(() => somebody.query("rollback"))
        expect(yield* lastUses).toEqual([null, start])
        yield* use(changed!)
        yield* written
        expect(yield* lastUses).toEqual([start, start])
      }))

    it.effect("what cannot be written is forgotten, and what comes after it is written", () =>
      Effect.gen(function*() {
        const { keys: [key], lastUses, organizationId, use } = yield* withKeys(1)
        const { note } = yield* LastUses
        note("api_key", { organizationId, id: "no id of a key", at: start })
        yield* written
        note("ai_connection", { organizationId, id: "nor of a connection", at: start })
        yield* TestClock.adjust("1 second")
        yield* use(key!)
        yield* TestClock.adjust("1 second")
        while ((yield* lastUses).includes(null)) yield* Effect.yieldNow
      }))

    it.effect("what was not written yet is written when the service stops", () =>
      Effect.gen(function*() {
        const { keys: [key], lastUses, organizationId } = yield* withKeys(1)
        const scope = yield* Scope.make()
        const uses = Context.get(yield* Layer.buildWithScope(Layer.fresh(LastUses.layer), scope), LastUses)
        uses.note("api_key", { organizationId, id: key!.id, at: start })
        expect(yield* lastUses).toEqual([null])
        yield* Scope.close(scope, Exit.void)
        expect(yield* lastUses).toEqual([start])
      }))
  })
})
