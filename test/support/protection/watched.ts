/** Accounts that are watched in tests, with what the world does to them and what the service makes of it. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { paired } from "../../../src/layers/sql/Provisioning.ts"
import * as Fixtures from "../fixtures.ts"
import * as World from "../world.ts"
import { forgetOthers } from "./watching.ts"

const day = 86_400_000

/** When every test begins. */
export const start = Date.UTC(2026, 2, 2, 12)

/** Facts of an account that has been watched for longer than the messenger's 24 hours. */
export const established = {
  connected_at: new Date(start - 5 * day),
  enrolled_at: new Date(start - 5 * day),
  enforcement_active_at: new Date(start - 4 * day)
}

/** Facts of an account that has been connected just now. */
export const fresh = {
  connected_at: new Date(start),
  enrolled_at: new Date(start),
  enforcement_active_at: new Date(start + day)
}

/** Such an account, with a device of its holder. */
export const makeWatched = Effect.fnUntraced(function*(
  { admins, id }: World.Organization,
  facts: Record<string, unknown> = established
) {
  const platform = yield* SimulatedPlatform
  const { id: account, phone, sessionRef, userId } = yield* World.makeLiveAccount(id, {}, {
    facts: { ...facts, baselined: false }
  })
  yield* platform.logIn(userId, { device_model: "Holder's phone", created_at: new Date(start - 30 * day) })
  const events = Effect.map(
    World.journal(id),
    (all) => all.filter(({ account_id }) => account_id === account)
  )
  return {
    account,
    phone,
    sessionRef,
    userId,
    read: Effect.map(World.get(`/v1/accounts/${account}`, admins.owner.key), ({ body }) => body),
    /** The actions that are done, oldest first. */
    done: Effect.map(
      events,
      (all) => all.flatMap(({ action, outcome }) => outcome === "done" ? [action] : [])
    ),
    /** Somebody signs in, and the messenger says nothing of it. */
    stranger: Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => platform.logIn(userId, { device_model: "Pixel 9", app_name: "Messenger", created_at: new Date(now) })
    ),
    /** The service gets its second session. */
    pair: Effect.gen(function*() {
      const createdAt = new Date(start - 2 * day)
      const ref = yield* platform.connect(userId, { created_at: createdAt })
      const seenAs = yield* platform.authorizationId(ref)
      yield* Fixtures.within(id, paired(id, account, { sessionRef: ref, seenAs, createdAt }))
      yield* World.set(id, "account", account, { paired_state: "active", paired_since: createdAt })
      return ref
    }),
    /** The holder signs the session of the service out. */
    revoke: (ref: typeof sessionRef) =>
      Effect.flatMap(platform.authorizationId(ref), (authorization) => platform.logOut(userId, authorization))
  }
})

/** An organization with one account that is watched. */
export const arrange = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const organization = yield* World.makeOrganization(facts)
  const platform = yield* SimulatedPlatform
  return { ...organization, ...(yield* makeWatched(organization)), platform }
})
