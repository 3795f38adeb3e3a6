import { describe, expect, layer } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import { asOwner, forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { connected, password, redeemWith, refreshWith, registerApplication, tokens, use } from "./support.ts"

/** Every row of every table, as text: what the organization sees of its own, and what is nobody's. */
const dump = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const read = Effect.fnUntraced(function*(tenant: boolean) {
    const tables = yield* sql<{ name: string; tenant: boolean }>`
      select c.relname::text as name, c.relname = 'organization' or exists (
        select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id') as tenant
      from pg_class c where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p') and not c.relispartition
      order by c.relname`
    const texts: Array<string> = []
    for (const { name } of tables.filter((table) => table.tenant === tenant)) {
      const rows = yield* sql<{ text: string }>`select to_jsonb(rows)::text as text from ${sql(name)} rows`
      texts.push(`${name}: ${rows.map(({ text }) => text).join("\n")}`)
    }
    return texts.join("\n")
  })
  const nobodys = yield* Tenant.directory(sql)(read(false))
  return `${nobodys}\n${yield* Tenant.transaction(sql, organizationId)(read(true))}`
})

describe("OAuth secrets", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 66: no table and no log holds a code, token, secret, key or password, and one that is planted is found", () =>
        Effect.gen(function*() {
          const logged: Array<string> = []
          const logger = Logger.make((options) => {
            logged.push(Logger.formatJson.log(options))
          })
          const secrets = yield* Effect.gen(function*() {
            const made = yield* connected({ params: { scope: "org:read accounts:write" } })
            const { application, connect, granted, owner } = made
            const second = tokens(yield* refreshWith(application, made.tokens.refresh_token, { scope: "org:read" }))
            yield* use(second.access_token)
            const unused = yield* connect()
            yield* redeemWith(unused, { code_verifier: "wrong" })
            yield* refreshWith(application, made.tokens.refresh_token)
            const confidential = yield* registerApplication({ token_endpoint_auth_method: "client_secret_post" })
            const theirs = yield* connect({}, confidential)
            const third = tokens(yield* redeemWith(theirs, { client_secret: confidential.client_secret }))
            return {
              organizationId: made.organization.id,
              clientId: application.client_id,
              texts: [
                granted.code,
                granted.verifier,
                unused.code,
                theirs.code,
                confidential.client_secret!,
                Redacted.value(owner.key),
                password,
                ...[made.tokens, second, third].flatMap((each) => [each.access_token, each.refresh_token])
              ]
            }
          }).pipe(Effect.provide(Logger.layer([logger])))
          const { clientId, organizationId, texts } = secrets
          const stored = yield* dump(organizationId)
          for (const table of ["oauth_token", "oauth_client", "ai_connection", "journal_event", "api_key", "admin"]) {
            expect(stored).toMatch(new RegExp(`^${table}: \\{`, "m"))
          }
          const logText = logged.join("\n")
          for (const text of texts) {
            for (const part of [text, text.slice(8, 51)]) {
              expect([part.slice(0, 4), stored.includes(part), logText.includes(part)]).toEqual([
                part.slice(0, 4),
                false,
                false
              ])
            }
          }
          yield* asOwner((sql) => sql`update oauth_client set name = ${texts[0]} where id = ${clientId}`)
          expect((yield* dump(organizationId)).includes(texts[0]!)).toBe(true)
        }))
    })
  })
})
