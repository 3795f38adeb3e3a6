import { assert, describe, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import * as crypto from "node:crypto"
import { drawnOn } from "../support/drawn.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import { at, hour } from "../support/stored.ts"
import * as World from "../support/world.ts"

const Few = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))

/** What an account can be besides, without taking or freeing a seat. */
const Drawn = Schema.Struct({
  offboarded: Schema.Boolean,
  paused: Schema.Boolean,
  stopped: Schema.Boolean,
  sessions: Few,
  granted: Schema.Boolean
})

const Accounts = Arbitrary.array(Arbitrary.schema(Drawn), { maxLength: 8 })

describe("2.2 seats", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      it.effect.prop(
        "S1-01, S2.2-10, S2.2-11, S2.2-12, S2.2-13, S3.1-06: every account that is not offboarded takes one seat, every unused link holds one",
        {
          accounts: Accounts,
          used: Few,
          unused: Few,
          limit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
        },
        ({ accounts, limit, unused, used }) =>
          Effect.gen(function*() {
            const { admins, id } = yield* World.makeOrganization({ seat_limit: limit })
            const elsewhere = yield* World.makeOrganization()
            yield* World.makeAccount(elsewhere.id)
            yield* World.addRows("sign_up_link", elsewhere.id, [{ id: crypto.randomUUID(), created_at: at(0) }])
            const ids: Array<string> = []
            for (const drawn of accounts) {
              const account = yield* World.makeAccount(id, {
                facts: {
                  offboarded_at: drawn.offboarded ? at(-hour) : null,
                  paused_at: drawn.paused ? at(-hour) : null,
                  stopped_at: drawn.stopped ? at(-hour) : null
                }
              })
              ids.push(account)
              yield* World.addRows(
                "session",
                id,
                Array.from({ length: drawn.sessions }, (_, index) => ({
                  account_id: account,
                  id: String(index),
                  service: index < 2,
                  current: index === 0,
                  seen_at: at(0)
                }))
              )
              if (drawn.granted) {
                yield* World.grant(id, admins.admin.id, { accounts: [account] })
                yield* World.grant(id, admins.archive.id, { accounts: [account] })
              }
            }
            yield* World.addRows(
              "sign_up_link",
              id,
              Array.from({ length: used + unused }, (_, index) => ({
                id: crypto.randomUUID(),
                created_at: at(0),
                used_at: index < used ? at(1) : null
              }))
            )
            const taken = accounts.filter(({ offboarded }) => !offboarded).length
            const expected = { limit, used: taken, reserved: unused, free: limit - taken - unused }
            assert.deepStrictEqual((yield* World.get("/v1/organization", admins.billing.key)).body.seats, expected)
            for (const [index, account] of ids.entries()) {
              const { body } = yield* World.get(`/v1/accounts/${account}`, admins.owner.key)
              assert.deepStrictEqual(body.licence, { uses_licence: accounts[index]?.offboarded === false, ...expected })
            }
          }),
        drawnOn(name, 15)
      )
    })
  })
})
