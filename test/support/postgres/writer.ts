/**
 * A process that changes things through the service on a database of its own, and acknowledges each change on a line.
 *
 * `node writer.ts <directory or url> [organization account live]`: the first start makes the organization. After
 * the word `hang` on its standard input it starts a change on the messenger, which never answers.
 */
import { Console, Effect, Layer } from "effect"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Migrate from "../../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../../src/layers/postgres/migrations.ts"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as World from "../world.ts"
import { postgresLayer } from "./databaseRoles.ts"

const [target = "", organizationId, accountId, liveId] = process.argv.slice(2)

const client = target.startsWith("postgres://")
  ? Layer.orDie(postgresLayer(target))
  : Layer.orDie(Pglite.layer({ directory: target }))
const database = Layer.provideMerge(Layer.effectDiscard(Effect.orDie(Migrate.run(migrations))), client)

let hang = false
process.stdin.setEncoding("utf8").on("data", () => {
  hang = true
})

const write = Effect.gen(function*() {
  const organization = organizationId ?? (yield* World.makeOrganization()).id
  const account = accountId ?? (yield* World.makeAccount(organization))
  const live = liveId ?? (yield* World.makeLiveAccount(organization)).id
  // The budget of one key is 120 requests a minute.
  const people = yield* Effect.forEach(Array.from({ length: 20 }), () => World.makePerson(organization, "superadmin"))
  yield* Console.log(JSON.stringify({ organization, account, live }))
  for (let number = 1;; number++) {
    const key = people[number % people.length]?.key ?? ""
    const profile = `/v1/accounts/${live}/messenger-profile`
    if (hang) {
      const platform = yield* SimulatedPlatform
      yield* platform.script({ operation: "update_profile", answer: { _tag: "Silent" } })
      yield* Effect.forkChild(World.patch(profile, key, { about: "never answered" }))
      yield* Effect.repeat(World.journal(organization), { until: (events) => events.at(-1)?.outcome === "pending" })
      yield* Console.log(JSON.stringify({ pending: true }))
      return yield* Effect.never
    }
    const text = `${process.pid}/${number}`
    const answer = yield* number % 5 === 0
      ? World.patch(profile, key, { about: text })
      : World.put(`/v1/accounts/${account}/role-label`, key, { role_label: text })
    if (answer.status !== 200) return yield* Effect.die(new Error(JSON.stringify(answer.body)))
    yield* Console.log(JSON.stringify({ text, request: answer.headers.get("request-id") }))
  }
})

await Effect.runPromise(Effect.provide(write, World.world(database)))
