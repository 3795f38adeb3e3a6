/** The service as two processes, which share a database and nothing else but their keys. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Processes from "../mcp/processes.ts"
import * as Pages from "../support/http/pages.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import * as World from "../support/world.ts"
import { person } from "./person.ts"

/** Two processes of the service behind one address, each request to the other of them, and a person of theirs. */
export const replicas = Effect.gen(function*() {
  const database = yield* postgresUrl
  const within = yield* replica(database)
  const { admins, id } = yield* within(World.makeOrganization())
  yield* within(Pages.givePassword(id, admins.owner.id))
  const targets: Array<string> = []
  const base = yield* Processes.front(targets, undefined, true)
  const key = Buffer.alloc(32, 7).toString("base64")
  const env = {
    CONSOLE_DATABASE_URL: database,
    CONSOLE_BASE_URL: base,
    CONSOLE_PEPPERS: key,
    CONSOLE_CHECKPOINT_KEYS: key,
    CONSOLE_CSRF_KEYS: key
  }
  const services = yield* Effect.all([Processes.serve([], env), Processes.serve([], env)], { concurrency: 2 })
  targets.push(...services.map(({ url }) => url))
  expect(new Set([base, ...targets]).size).toBe(3)
  return {
    base,
    id,
    walk: person(base, id, yield* within(Pages.emailOf(id, admins.owner.id))),
    /** Ends every access token of the organization before its time. */
    expire: within(
      World.query<{ kind: string }>(id, (sql) =>
        sql`update oauth_token set expires_at = created_at
          where organization_id = ${id} and kind = 'access' returning kind`)
    )
  }
})
