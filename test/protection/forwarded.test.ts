/** Operations on accounts that another process watches. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as childProcess from "node:child_process"
import * as path from "node:path"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotCount, slotOf } from "../../src/domain/accounts/Slot.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import type * as Forwarding from "../../src/layers/cluster/Forwarding.ts"
import * as Peers from "../../src/layers/cluster/Peers.ts"
import { Seals } from "../../src/layers/cluster/Sealed.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { type Moment, moments, started } from "../support/protection/forwarding.ts"
import { makeWatched } from "../support/protection/watched.ts"
import { flags } from "../support/run/program.ts"
import * as World from "../support/world.ts"

/** A process that watches all accounts until it is killed at the moment; it has them when this ends. */
const dyingOwner = (url: string, moment: Moment) =>
  Effect.acquireRelease(
    Effect.callback<childProcess.ChildProcess>((resume) => {
      const program = path.join(import.meta.dirname, "../support/protection/dyingOwner.ts")
      const child = childProcess.fork(program, [url, moment], { execArgv: [...flags] })
      child.once("message", () => resume(Effect.succeed(child)))
      child.once("exit", (code) => resume(Effect.die(new Error(`The owner ended with ${code}`))))
    }),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

const until = <A, R>(ask: Effect.Effect<A, never, R>, holds: (answer: A) => boolean) =>
  Effect.timeout(Effect.repeat(ask, { until: holds, schedule: Schedule.spaced(50) }), 15_000)

const callerOf = (organizationId: string, adminId: string): Omit<Forwarding.Perform["caller"], "credential"> => ({
  organizationId: OrganizationId.make(organizationId),
  organizationClosed: false,
  adminId,
  adminName: null,
  role: "owner",
  readsArchive: false,
  scopes: ["accounts:write"],
  limit: null,
  via: "rest",
  ip: null,
  requestId: null,
  extras: {}
})

/** The end of a message that is sent to the process that has the account. */
const delivered = Effect.fnUntraced(function*(message: Forwarding.Perform) {
  const ownerOf = Peers.findOwner(yield* SqlClient.SqlClient, Duration.seconds(3))
  const owner = yield* ownerOf(slotOf(message.accountId))
  return yield* Peers.send(new Seals(yield* Peppers), owner!, message)
})

describe("12.4 requests at a process that does not watch the account", () => {
  it.live(
    "are answered as by the one that does, once; and with 503 only while nobody does",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const { run: worker, stop } = yield* started(url, true)
        const { run: api } = yield* started(url, false)
        yield* until(worker(Effect.map(Ownership, ({ owned }) => owned())), ({ size }) => size === slotCount)
        const organization = yield* worker(World.makeOrganization())
        const { account } = yield* worker(makeWatched(organization))
        const path = `/v1/accounts/${account}/messenger-profile`
        const { key } = organization.admins.owner

        const [there, here] = [yield* worker(World.get(path, key)), yield* api(World.get(path, key))]
        assert.strictEqual(here.status, 200)
        assert.deepStrictEqual(here.body, there.body)

        const changed = yield* api(World.patch(path, key, { first_name: "Grace" }))
        assert.strictEqual(changed.status, 200)
        assert.strictEqual((yield* worker(World.get(path, key))).body.first_name, "Grace")
        const entries = (yield* api(World.journal(organization.id))).filter(({ action }) =>
          action === "profile.updated"
        )
        const { id } = organization.admins.owner
        assert.deepStrictEqual(
          entries.map(({ actor_admin_id, outcome, via }) => [actor_admin_id, outcome, via]),
          [[id, "pending", "rest"], [id, "done", "rest"]]
        )

        const refused = yield* api(World.patch(path, key, { about: "a".repeat(2000) }))
        const refusedThere = yield* worker(World.patch(path, key, { about: "a".repeat(2000) }))
        assert.deepStrictEqual([refused.status, refused.body.error?.code], [
          refusedThere.status,
          refusedThere.body.error?.code
        ])
        const unknown = yield* api(World.get(path.replace(account, crypto.randomUUID()), key))
        assert.strictEqual(unknown.status, 404)

        const now = yield* api(Clock.currentTimeMillis)
        const message = (name: string, within: number): Forwarding.Perform => ({
          operation: "update_messenger_profile",
          accountId: AccountId.make(account),
          caller: { ...callerOf(organization.id, id), credential: { kind: "api_key", id, label: "Key" } },
          input: { account_id: account, first_name: name },
          until: now + within
        })
        const [late, early] = [
          yield* api(delivered(message("Late", -1))),
          yield* api(delivered(message("Early", 60_000)))
        ]
        assert.deepInclude(late, { _tag: "Answered", value: { _tag: "NotBegun" } })
        assert.deepInclude(early, { _tag: "Answered" })
        assert.strictEqual((yield* api(World.get(path, key))).body.first_name, "Early")

        yield* stop
        const away = yield* api(World.get(path, key))
        assert.deepStrictEqual([away.status, away.body.error?.code], [503, "messenger_unavailable"])
        const { run: next } = yield* started(url, true)
        yield* until(
          next(Effect.map(Ownership, ({ term }) => term(slotOf(AccountId.make(account))))),
          (term) => term !== null
        )
        assert.strictEqual((yield* api(World.get(path, key))).status, 200)
      }),
    60_000
  )

  it.live(
    "are made at most once where that one is killed with them, and their caller learns that the outcome is not known",
    () =>
      Effect.gen(function*() {
        const url = yield* postgresUrl
        const { run: api } = yield* started(url, false)
        const organization = yield* api(World.makeOrganization())
        const { key } = organization.admins.owner
        const change = (account: string, about: string) =>
          api(World.send("PATCH", `/v1/accounts/${account}/messenger-profile`, {
            key,
            body: { about },
            headers: { "idempotency-key": about }
          }))
        const accounts = yield* Effect.forEach(moments, (moment) =>
          Effect.gen(function*() {
            const { account } = yield* api(makeWatched(organization))
            const owner = yield* dyingOwner(url, moment)
            const answer = yield* change(account, moment)
            assert.deepStrictEqual([answer.status, answer.body.error?.code], [503, "messenger_unavailable"])
            yield* until(Effect.sync(() => owner.signalCode), (signal) => signal === "SIGKILL")
            return account
          }))
        const { run: next } = yield* started(url, true)
        yield* until(next(Effect.map(Ownership, ({ owned }) => owned())), ({ size }) => size === slotCount)
        yield* next(closeAllIntents)
        const journal = yield* api(World.journal(organization.id))
        const found = yield* Effect.forEach(accounts, (account) =>
          Effect.map(api(World.get(`/v1/accounts/${account}/messenger-profile`, key)), ({ body }) => ({
            about: body.about,
            journaled: journal.flatMap(({ account_id, action, outcome }) =>
              account_id === account && action === "profile.updated" ? [outcome] : []
            )
          })))
        assert.deepStrictEqual(found, [
          { about: null, journaled: [] },
          { about: "made", journaled: ["pending", "failed"] },
          { about: "stored", journaled: ["pending", "done"] }
        ])
        assert.strictEqual((yield* change(accounts[2] ?? "", "stored")).status, 200)
        const calls = yield* api(Effect.flatMap(SimulatedPlatform, (platform) =>
          platform.calls))
        assert.strictEqual(
          calls.filter(({ operation }) =>
            operation === "update_profile"
          ).length,
          2
        )
      }),
    90_000
  )
})
