import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Deletions from "../../support/archive/deletions.ts"
import { addOld, applied, day, list, messages } from "../../support/archive/retentions.ts"
import { pglite } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

/** Accounts with messages of 40 and 35 days ago, and the number of messages that each of them has. */
const stageOld = Effect.fnUntraced(function*(accounts: number) {
  const staged = yield* Deletions.stage(accounts)
  yield* addOld(staged)
  const ids = staged.archives.map(({ account }) => account.accountId)
  return { staged, id: staged.id, admins: staged.admins, accounts: ids, kept: yield* messages(staged.id, ids[0]!) }
})

describe("the retention of an archive by licence", () => {
  layer(World.world(pglite))((it) => {
    it.effect("keeps the accounts of a licence for longer, or for good, and of the others what is not as old", () =>
      Effect.gen(function*() {
        const { accounts, admins, id, kept, staged } = yield* stageOld(3)
        const tiers = ["archive", "governance", null]
        yield* Effect.forEach(accounts, (account, at) => World.set(id, "account", account, { licence_tier: tiers[at] }))
        const { body } = yield* World.send("PUT", "/v1/archive/retention", {
          key: admins.owner.key,
          body: { days: 33, tier_days: { protect: 30, archive: 45, governance: null } }
        })
        expect(body).toMatchObject({
          days: 33,
          tier_days: { protect: 33, archive: 45, governance: null },
          begins_at: day(7)
        })
        yield* applied
        const criteria = (yield* list(staged)).map((cleanup: { criteria: object }) => cleanup.criteria)
        expect(criteria).toHaveLength(2)
        expect(criteria).toEqual(expect.arrayContaining([
          expect.objectContaining({
            account_ids: [accounts[0]],
            before: day(7 - 45).slice(0, 10) + "T00:00:00.000Z"
          }),
          expect.objectContaining({
            account_ids: [accounts[2]],
            before: day(7 - 33).slice(0, 10) + "T00:00:00.000Z"
          })
        ]))
        yield* TestClock.adjust("7 days")
        yield* applied
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept - 1, kept, kept - 2])
        yield* Deletions.recount(id)
      }))

    it.effect("leaves out an account whose licence keeps it for longer by the time that its cleanup begins", () =>
      Effect.gen(function*() {
        const { accounts, admins, id, kept, staged } = yield* stageOld(2)
        yield* World.send("PUT", "/v1/archive/retention", {
          key: admins.owner.key,
          body: { days: 36, tier_days: { governance: 3650 } }
        })
        yield* applied
        yield* World.set(id, "account", accounts[1]!, { licence_tier: "governance" })
        yield* TestClock.adjust("7 days")
        yield* applied
        expect((yield* list(staged)).at(0)).toMatchObject({ state: "done", criteria: { account_ids: [accounts[0]] } })
        expect(yield* Effect.forEach(accounts, (account) => messages(id, account))).toEqual([kept - 2, kept])
        yield* Deletions.recount(id)
      }))
  })
})
