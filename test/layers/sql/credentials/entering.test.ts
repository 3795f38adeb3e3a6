import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import type { OrganizationId } from "../../../../src/domain/people/Access.ts"
import * as Core from "../../../../src/layers/Core.ts"
import { ApiKeys } from "../../../../src/layers/crypto/credentials/ApiKeys.ts"
import * as OAuth from "../../../../src/layers/crypto/oauth/OAuthSecrets.ts"
import { Peppers } from "../../../../src/layers/crypto/Peppers.ts"
import * as Randomness from "../../../../src/layers/crypto/Randomness.ts"
import * as Bearers from "../../../../src/layers/sql/credentials/Bearers.ts"
import { LastUses } from "../../../../src/layers/sql/credentials/LastUses.ts"
import { organizationColumns } from "../../../../src/layers/sql/organization/Organizations.ts"
import { Entrance } from "../../../../src/ports/credentials/Authentication.ts"
import { OAuthSecrets } from "../../../../src/ports/oauth/OAuthPorts.ts"
import { sampled } from "../../../support/drawn.ts"
import { postgresUrl } from "../../../support/postgres/database.ts"
import { postgresLayer } from "../../../support/postgres/databaseRoles.ts"
import { superuser } from "../../../support/postgres/superuser.ts"
import { replica } from "../../../support/replicas.ts"
import * as World from "../../../support/world.ts"

const start = 1_700_000_000_000
const budget = 120
const newest = Buffer.alloc(32, 21).toString("base64")
const v1 = "https://console.test/v1"
const mcp = "https://console.test/mcp"

/** The entrance of one more process on the database, which makes digests under a newer pepper than what is stored. */
const entrance = (url: string) =>
  Bearers.layer.pipe(
    Layer.provide(LastUses.layer),
    Layer.provide(Layer.merge(ApiKeys.layer(Core.defaultKeyPrefix), OAuth.layer(Core.defaultKeyPrefix))),
    Layer.provide(Randomness.layer),
    Layer.provide(Peppers.layerText(Redacted.make(`${newest},${World.peppers}`))),
    Layer.provide(postgresLayer(url)),
    Layer.fresh,
    Layer.build,
    Effect.map((context) => Context.get(context, Entrance))
  )

/** A connection of the owner, with as many tokens for the address. */
const makeTokens = Effect.fnUntraced(function*({ admins, id }: World.Organization, resource: string, count: number) {
  const secrets = yield* OAuthSecrets
  const connection = crypto.randomUUID()
  yield* World.addRows("ai_connection", id, [{
    id: connection,
    admin_id: admins.owner.id,
    kind: "token",
    label: `for ${resource}`,
    mode: "cloud",
    resource,
    scopes: ["org:read"],
    scope_type: "accounts",
    all_accounts: true,
    created_at: new Date(start)
  }])
  const tokens = yield* Effect.replicateEffect(secrets.make("access"), count)
  yield* Effect.forEach(tokens, (token) => {
    const row = {
      organization_id: id,
      ...secrets.digest(token),
      connection_id: connection,
      kind: "access",
      scopes: ["org:read"],
      created_at: new Date(start),
      expires_at: new Date(start + 3_600_000)
    }
    return World.query(id, (sql) => sql`insert into oauth_token ${sql.insert(row)} returning digest`)
  })
  return tokens
})

interface Presented {
  readonly token: Redacted.Redacted
  readonly resource: string
  readonly only: OrganizationId | null
}

/** Everything that may be presented: right and wrong, of two organizations, at two addresses, on any host. */
const stage = Effect.fnUntraced(function*(url: string) {
  const world = yield* replica(url)
  return yield* world(Effect.gen(function*() {
    const [one, other] = [yield* World.makeOrganization(), yield* World.makeOrganization()]
    const revoked = yield* World.makeKey(one.id, one.admins.owner.id, ["org:read"], {
      facts: { revoked_at: new Date(start) }
    })
    const ended = yield* World.makeKey(one.id, one.admins.owner.id, ["org:read"], { expiresAt: new Date(start) })
    const first = yield* makeTokens(one, v1, 3)
    const second = yield* makeTokens(other, mcp, 2)
    const tokens = [
      ...[one, other].flatMap(({ admins }) => Object.values(admins).map(({ key }) => key)),
      ...first,
      ...second,
      revoked.key,
      ended.key,
      yield* (yield* ApiKeys).make,
      yield* (yield* OAuthSecrets).make("access"),
      Redacted.make("no token")
    ]
    return {
      one,
      other,
      tokens,
      presented: tokens.flatMap((token) =>
        [v1, mcp].flatMap((resource) => [null, one.id, other.id].map((only): Presented => ({ token, resource, only })))
      )
    }
  }))
})

type Entering = Effect.Success<ReturnType<typeof entrance>>

const facts = organizationColumns.match(/\w+(?=,|$)/g) ?? []

/** Who enters, or the refusal, and what is left of the budget, or that there is none. */
const enter = Effect.fnUntraced(function*(entering: Entering, { only, resource, token }: Presented) {
  const entered = yield* Effect.result(entering.enter(token, resource, only))
  if (entered._tag === "Failure") return { caller: entered.failure._tag, left: undefined, id: undefined }
  const { arrival, ...caller } = entered.success
  const rate = yield* Effect.result(arrival!.admitted)
  return {
    caller: { ...caller, organization: facts.map((name) => Reflect.get(arrival!.organization, name)) },
    left: rate._tag === "Success" ? rate.success.remaining : "none",
    id: caller.credential.id
  }
})

const nextTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("requests that come in together, on PostgreSQL", () => {
  it.effect("enter as each does alone, over two replicas, and each budget is exact", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const url = yield* postgresUrl
      const { presented } = yield* stage(url)
      const replicas = [yield* entrance(url), yield* entrance(url)]
      const alone = yield* Effect.forEach(presented, (each) => enter(replicas[0]!, each))
      const spent = new Map<string, number>()
      for (const { id } of alone) if (id !== undefined) spent.set(id, (spent.get(id) ?? 0) + 1)
      const arrivals = yield* Arbitrary.sampleEffect(
        Arbitrary.schema(
          Schema.Array(Schema.Struct({
            which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: presented.length - 1 })),
            replica: Schema.Literals([0, 1]),
            turn: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
          })).check(Schema.isMinLength(80), Schema.isMaxLength(160))
        ),
        sampled(8)
      )
      for (const burst of arrivals) {
        const answers = yield* Effect.forEach(burst, ({ replica, turn, which }) =>
          Effect.andThen(
            Effect.replicateEffect(nextTurn, turn, { discard: true }),
            enter(replicas[replica]!, presented[which]!)
          ), { concurrency: "unbounded" })
        expect(answers.map(({ caller }) => caller)).toEqual(burst.map(({ which }) => alone[which]!.caller))
        for (const id of new Set(answers.flatMap((answer) => answer.id ?? []))) {
          const left = answers.filter((answer) => answer.id === id).map((answer) => answer.left)
          const before = spent.get(id) ?? 0
          spent.set(id, before + left.length)
          const expected = left.map((_, index) => before + index < budget ? budget - 1 - before - index : "none")
          expect(left.toSorted()).toEqual(expected.toSorted())
        }
      }
      expect(Math.max(...spent.values())).toBeGreaterThan(budget)
    }))

  it.effect("are counted by one statement, but for the second token of a connection; one that is given up touches no other", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const url = yield* postgresUrl
      const { one, other, tokens } = yield* stage(url)
      const entering = yield* entrance(url)
      const observer = yield* superuser(url)
      yield* enter(entering, { token: one.admins.owner.key, resource: v1, only: null })
      const all = [one, other].flatMap(({ admins }) => Object.values(admins))
      const fibers = yield* Effect.forEach(
        [...all.map(({ key }) => key), ...tokens.slice(10, 13)],
        (token) => Effect.forkChild(enter(entering, { token, resource: v1, only: null }), { startImmediately: true })
      )
      yield* Fiber.interrupt(fibers[1]!)
      const answers = yield* Effect.forEach(fibers.toSpliced(1, 1), Fiber.join)
      const left = answers.map((answer) => answer.left)
      expect(left.splice(10).toSorted()).toEqual([117, 118])
      expect(left).toEqual([118, ...Array.from({ length: 8 }, () => 119), 119])
      const { rows } = yield* Effect.promise(() =>
        observer.query(
          "select xmin::text, array_agg(key) as keys from rate_limit group by xmin::text order by cardinality(array_agg(key))"
        )
      )
      expect(rows.map(({ keys }) => keys.length)).toEqual([1, 9])
      expect(rows[1].keys.toSorted()).toEqual(all.map(({ keyId }) => keyId).toSpliced(1, 1).toSorted())
    }))

  it.effect("wait for nobody who holds the budget of one of them", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(start)
      const url = yield* postgresUrl
      const { one } = yield* stage(url)
      const entering = yield* entrance(url)
      const somebody = yield* superuser(url)
      const { admin, owner, superadmin } = one.admins
      const presenting = [owner, admin, superadmin].map(({ key }): Presented => ({
        token: key,
        resource: v1,
        only: null
      }))
      yield* Effect.forEach(presenting, (each) => enter(entering, each))
      yield* Effect.promise(() => somebody.query("begin"))
      yield* Effect.promise(() => somebody.query("select from rate_limit where key = $1 for update", [owner.keyId]))
      const fibers = yield* Effect.forEach(presenting, (each) =>
        Effect.forkChild(enter(entering, each), { startImmediately: true }))
      yield* Effect.repeat(
        Effect.promise(() =>
          somebody.query("select from pg_locks where not granted")
        ),
        { until: ({ rowCount }) => rowCount === 1 }
      )
      yield* TestClock.adjust("2 seconds")
      expect((yield* Effect.forEach(fibers.slice(1), Fiber.join)).map(({ left }) => left)).toEqual([118, 118])
      yield* Effect.promise(() => somebody.query("rollback"))
      expect((yield* Fiber.join(fibers[0]!)).left).toBe(118)
    }))
})
