import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeRule } from "../support/archive/rules.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** Rules of the organization, of two accounts, and of a reader of the archive of the first one. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const granted = yield* World.makeAccount(id)
  const other = yield* World.makeAccount(id)
  yield* World.grant(id, admins.archive.id, { accounts: [granted] })
  return {
    admins,
    granted,
    rules: {
      everybody: yield* makeRule(id, "any"),
      granted: yield* makeRule(id, "any", { target: granted }),
      other: yield* makeRule(id, "any", { target: other })
    }
  }
})

describe("the rules of the archive", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are seen by every admin who can access an account that they concern, alone and of all accounts", () =>
      Effect.gen(function*() {
        const { admins, granted, rules } = yield* stage()
        const list = (role: "archive" | "owner", query: string) =>
          Effect.map(
            World.get(`/v1/archive/rules${query}`, admins[role].key),
            ({ body }) => body.data.map(({ id }: { id: string }) => id).toSorted()
          )
        for (const query of ["", `?account_id=${granted}`]) {
          expect(yield* list("archive", query)).toEqual([rules.everybody, rules.granted].toSorted())
        }
        expect(yield* list("owner", "")).toEqual(Object.values(rules).toSorted())
      }))

    it.effect("are forbidden to change where they are seen, and missing where they are not", () =>
      Effect.gen(function*() {
        const { admins, rules } = yield* stage()
        const change = (rule: string) =>
          Effect.map(
            World.send("PATCH", `/v1/archive/rules/${rule}`, { key: admins.archive.key, body: { live: false } }),
            ({ body, status }) => [status, body.error?.code]
          )
        expect(yield* change(rules.everybody)).toEqual([403, "role_forbidden"])
        expect(yield* change(rules.granted)).toEqual([200, undefined])
        expect(yield* change(rules.other)).toEqual([404, "resource_missing"])
      }))
  })
})
