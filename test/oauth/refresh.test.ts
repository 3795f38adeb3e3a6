import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { crc32 } from "node:zlib"
import { forgetOAuth } from "../../src/jobs/oauth/forget_oauth.ts"
import { OAuthSecrets } from "../../src/ports/oauth/OAuthPorts.ts"
import { asOwner, forEachDatabase } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"
import {
  connected,
  connections,
  invalidGrant,
  invalidToken,
  mcp,
  ok,
  redeemWith,
  refreshWith,
  refused,
  registerApplication,
  tokens,
  use,
  v1
} from "./support.ts"

const hour = Duration.toMillis(Duration.hours(1))

/** The text with the checksum that makes it a secret of ours by its form. */
const withChecksum = (text: string): string => {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  let [rest, checksum] = [crc32(text), ""]
  while (checksum.length < 6) {
    checksum = alphabet.charAt(rest % 62) + checksum
    rest = Math.floor(rest / 62)
  }
  return text + checksum
}

/** Lets the database fail at the organization's next refresh token, after the old one was marked as used. */
const breakTokens = Effect.fnUntraced(function*(organizationId: string) {
  const name = `planted_${crypto.randomUUID().replaceAll("-", "")}`
  yield* asOwner((sql) =>
    sql`
    alter table oauth_token add constraint ${sql(name)}
    check (organization_id <> ${sql.literal(`'${organizationId}'`)} or kind <> 'refresh') not valid`
  )
  return { mend: asOwner((sql) => sql`alter table oauth_token drop constraint ${sql(name)}`) }
})

describe("OAuth refresh", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("case 54, S5.2-13: a refresh gives a new pair, and the old access token lives to its hour", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected()
          yield* TestClock.adjust("30 minutes")
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          expect(new Set([first.access_token, second.access_token, first.refresh_token, second.refresh_token]).size)
            .toBe(4)
          expect(second).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: first.scope })
          yield* TestClock.adjust(hour / 2 - 1)
          expect([yield* use(first.access_token), yield* use(second.access_token)]).toEqual([ok, ok])
          yield* TestClock.adjust("1 millis")
          expect([yield* use(first.access_token), yield* use(second.access_token)]).toEqual([invalidToken, ok])
        }))

      it.effect("case 55, S5.2-14: a used refresh token disconnects the whole connection, and the journal says so", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          const third = tokens(yield* refreshWith(application, second.refresh_token))
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          for (const { access_token, refresh_token } of [first, second, third]) {
            expect(yield* use(access_token)).toEqual(invalidToken)
            expect(refused(yield* refreshWith(application, refresh_token))).toEqual(invalidGrant)
          }
          const [connection] = yield* connections(organization.id)
          expect(connection?.revoked_at).not.toBeNull()
          const entries = (yield* World.changes(organization.id)).filter(({ action }) => action !== "oauth.connected")
          expect(entries).toMatchObject([{
            action: "refresh_token.reused",
            outcome: "done",
            actor_type: "service",
            credential_kind: "oauth",
            credential_id: connectionId,
            target_type: "ai_connection",
            target_id: connectionId,
            details: { client_name: "An app" }
          }])
        }))

      it.effect("case 55, S5.2-14: a used refresh token is recognised to its last millisecond, and is not kept for it", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const rows = Effect.map(
            World.query<{ kind: string }>(
              organization.id,
              (sql) => sql`select kind from oauth_token where connection_id = ${connectionId} order by kind`
            ),
            (found) => found.map(({ kind }) => kind)
          )
          yield* TestClock.adjust("1 hour")
          let last = first
          for (let count = 0; count < 30; count++) {
            yield* TestClock.adjust("30 minutes")
            last = tokens(yield* refreshWith(application, last.refresh_token))
          }
          expect(yield* rows).toEqual(["access", "access", "refresh"])
          yield* TestClock.adjust(90 * 24 * hour - 16 * hour - 1)
          yield* forgetOAuth.run
          expect(yield* rows).toEqual(["refresh"])
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
          expect(refused(yield* refreshWith(application, last.refresh_token))).toEqual(invalidGrant)
        }))

      it.effect("case 60: a used refresh token that has ended disconnects nothing", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected()
          yield* TestClock.adjust("1 hour")
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          yield* TestClock.adjust(90 * 24 * hour - hour)
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* refreshWith(application, second.refresh_token)).status).toBe(200)
        }))

      it.effect("a refresh token whose generation, end, connection or seal is another proves nothing", () =>
        Effect.gen(function*() {
          const { application, connectionId, tokens: first } = yield* connected()
          const secrets = yield* OAuthSecrets
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          const now = yield* Clock.currentTimeMillis
          const reference = secrets.reference(Redacted.make(second.refresh_token))
          expect(reference).toEqual({ connectionId, generation: 2, expiresAt: new Date(now + 90 * 24 * hour) })
          const payload = (token: string) => token.slice("osc_ort_".length, -6)
          const [before, current] = [payload(first.refresh_token), payload(second.refresh_token)]
          const forged = Array.from({ length: current.length }, (_, at) => [
            current.slice(0, at) + (current[at] === "0" ? "1" : "0") + current.slice(at + 1),
            current.slice(0, at) + before.slice(at)
          ]).flat().filter((text) => text !== current && text !== before)
          for (const text of forged) {
            const token = withChecksum(`osc_ort_${text}`)
            expect(secrets.isWellFormed("refresh", Redacted.make(token))).toBe(false)
          }
          expect(refused(yield* refreshWith(application, withChecksum(`osc_ort_${forged[0]}`)))).toEqual(invalidGrant)
          // One of a later generation is of a database that was restored since: nothing can be said about it.
          const later = yield* secrets.makeRefresh({ ...reference!, generation: 3 })
          expect(refused(yield* refreshWith(application, Redacted.value(later)))).toEqual(invalidGrant)
          expect((yield* refreshWith(application, second.refresh_token)).status).toBe(200)
        }))

      it.effect("a refresh token of before it said which one it is works once, and is recognised when it comes again", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization } = yield* connected()
          const secrets = yield* OAuthSecrets
          const [code, now] = [yield* secrets.make("code"), yield* Clock.currentTimeMillis]
          const former = withChecksum(`osc_ort_${Redacted.value(code).slice("osc_oac_".length, -6)}`)
          const row = {
            organization_id: organization.id,
            ...secrets.digest(Redacted.make(former)),
            connection_id: connectionId,
            kind: "refresh",
            scopes: ["org:read"],
            created_at: new Date(now),
            expires_at: new Date(now + hour)
          }
          yield* World.query(organization.id, (sql) => sql`insert into oauth_token ${sql.insert(row)} returning digest`)
          const next = tokens(yield* refreshWith(application, former))
          expect((yield* refreshWith(application, next.refresh_token)).status).toBe(200)
          expect(refused(yield* refreshWith(application, former))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
        }))

      it.effect("a connection gets ten pairs of tokens in a minute and sixty in an hour, and a refusal writes and uses up nothing", () =>
        Effect.gen(function*() {
          const { application, connectionId, organization, tokens: first } = yield* connected()
          const rows = World.query(
            organization.id,
            (sql) => sql`select * from oauth_token where connection_id = ${connectionId} order by digest`
          )
          let last = first
          const refreshTimes = Effect.fnUntraced(function*(times: number) {
            for (let count = 0; count < times; count++) {
              last = tokens(yield* refreshWith(application, last.refresh_token))
            }
          })
          const refusedFor = Effect.fnUntraced(function*(seconds: string) {
            const before = yield* rows
            const answer = yield* refreshWith(application, last.refresh_token)
            expect([answer.status, answer.body.error, answer.headers.get("retry-after")]).toEqual([
              429,
              "rate_limited",
              seconds
            ])
            expect(yield* rows).toEqual(before)
            const { answer: again, said } = yield* recording(refreshWith(application, last.refresh_token))
            expect([again.status, again.body, said]).toEqual([429, answer.body, []])
          })
          yield* refreshTimes(9)
          yield* refusedFor("60")
          yield* TestClock.adjust(59_999)
          yield* refusedFor("1")
          yield* TestClock.adjust(1)
          yield* refreshTimes(10)
          for (let minute = 0; minute < 4; minute++) {
            yield* TestClock.adjust("1 minute")
            yield* refreshTimes(10)
          }
          yield* TestClock.adjust("1 minute")
          expect((yield* rows).length).toBe(61)
          yield* refusedFor(String(54 * 60))
          expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).not.toBeNull()
        }))

      it.effect("case 57: another connection of the same application and admin is untouched", () =>
        Effect.gen(function*() {
          const { application, connect, tokens: first } = yield* connected()
          const other = tokens(yield* redeemWith(yield* connect()))
          yield* refreshWith(application, first.refresh_token)
          yield* refreshWith(application, first.refresh_token)
          expect([yield* use(first.access_token), yield* use(other.access_token)]).toEqual([invalidToken, ok])
          expect((yield* refreshWith(application, other.refresh_token)).status).toBe(200)
        }))

      it.effect("case 58: a narrower scope narrows the access token alone; a wider one gives nothing and uses nothing up", () =>
        Effect.gen(function*() {
          const { application, tokens: first } = yield* connected({ params: { scope: "archive:read org:read" } })
          for (const scope of ["org:read accounts:write", "everything", "archive:read org:read archive:delete"]) {
            expect([scope, ...refused(yield* refreshWith(application, first.refresh_token, { scope }))]).toEqual([
              scope,
              400,
              "invalid_scope"
            ])
          }
          const narrow = tokens(yield* refreshWith(application, first.refresh_token, { scope: "archive:read" }))
          expect(narrow.scope).toBe("archive:read")
          expect(yield* use(narrow.access_token)).toEqual([403, "insufficient_scope"])
          const full = tokens(yield* refreshWith(application, narrow.refresh_token))
          expect(full.scope).toBe("archive:read org:read")
          expect(yield* use(full.access_token)).toEqual(ok)
        }))

      it.effect("case 59: another resource or another application gives nothing, uses nothing up and disconnects nothing", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const other = yield* registerApplication()
          const resource = yield* refreshWith(application, first.refresh_token, { resource: mcp })
          expect(refused(resource)).toEqual([400, "invalid_target"])
          expect(refused(yield* refreshWith(other, first.refresh_token))).toEqual(invalidGrant)
          const second = tokens(yield* refreshWith(application, first.refresh_token, { resource: v1 }))
          expect(refused(yield* refreshWith(other, first.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
          expect(yield* use(second.access_token)).toEqual(ok)
        }))

      it.effect("case 60, S5.2-12: a refresh token lasts 90 days, and not at their end; each rotation starts them anew", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const almost = Duration.toMillis(Duration.days(90)) - 1
          yield* TestClock.adjust(almost)
          const second = tokens(yield* refreshWith(application, first.refresh_token))
          yield* TestClock.adjust(almost)
          const third = tokens(yield* refreshWith(application, second.refresh_token))
          const [connection] = yield* connections(organization.id)
          expect(connection?.expires_at?.getTime()).toBe((yield* Clock.currentTimeMillis) + almost + 1)
          yield* TestClock.adjust(almost + 1)
          expect(refused(yield* refreshWith(application, third.refresh_token))).toEqual(invalidGrant)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
        }))

      it.effect("case 61: a failure of the database in the middle of a refresh uses nothing up", () =>
        Effect.gen(function*() {
          const { application, organization, tokens: first } = yield* connected()
          const { mend } = yield* breakTokens(organization.id)
          const answer = yield* refreshWith(application, first.refresh_token)
          expect(refused(answer)).toEqual([500, "server_error"])
          expect(JSON.stringify(answer.body)).not.toContain("planted")
          yield* mend
          expect((yield* refreshWith(application, first.refresh_token)).status).toBe(200)
          expect((yield* connections(organization.id))[0]?.revoked_at).toBeNull()
        }))
    })
  })
})
