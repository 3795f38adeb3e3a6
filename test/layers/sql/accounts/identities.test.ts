import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AccountId } from "../../../../src/domain/accounts/Account.ts"
import { MessengerUserId } from "../../../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { Identities } from "../../../../src/ports/accounts/Identities.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import { replicas } from "../../../support/replicas.ts"
import * as World from "../../../support/world.ts"

/** An account of a new organization that nobody on the messenger is claimed for. */
const make = Effect.gen(function*() {
  const { id } = yield* World.makeOrganization()
  const account = AccountId.make(yield* World.makeAccount(id))
  const organization = OrganizationId.make(id)
  return {
    id,
    claim: (userId: MessengerUserId) =>
      Fixtures.within(id, Effect.flatMap(Identities, (identities) => identities.claim(organization, userId, account))),
    release: Fixtures.within(id, Effect.flatMap(Identities, (all) => all.release(organization, account)))
  }
})

const claims = (id: string) => World.query(id, (sql) => sql`select account_id from messenger_identity`)

describe("a person on the messenger", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("is protected by one account of all organizations, which does not say whose", () =>
        Effect.gen(function*() {
          const [one, other] = [yield* make, yield* make]
          const ada = MessengerUserId.make(World.freshId())
          assert.isTrue(yield* one.claim(ada))
          assert.isTrue(yield* one.claim(ada))
          assert.isFalse(yield* other.claim(ada))
          assert.deepStrictEqual([(yield* claims(one.id)).length, (yield* claims(other.id)).length], [1, 0])
          yield* other.release
          assert.isFalse(yield* other.claim(ada))
          // Nobody is claimed beside the person whom the account has.
          assert.isFalse(yield* one.claim(MessengerUserId.make(World.freshId())))
          yield* one.release
          assert.isTrue(yield* other.claim(ada))
        }))

      it.effect("is claimed with each account that is made with a session", () =>
        Effect.gen(function*() {
          const { id } = yield* World.makeOrganization()
          const { userId } = yield* World.makeLiveAccount(id)
          assert.isFalse(yield* (yield* make).claim(userId))
        }))
    })
  })

  it.effect("is claimed once, however many claim at the same moment", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const made = [yield* one(make), yield* one(make)] as const
      for (let round = 0; round < 20; round++) {
        const ada = MessengerUserId.make(World.freshId())
        const won = yield* Effect.all([one(made[0].claim(ada)), two(made[1].claim(ada))], { concurrency: 2 })
        assert.lengthOf(won.filter((claimed) => claimed), 1)
        yield* Effect.all([one(made[0].release), two(made[1].release)])
      }
    }))
})
