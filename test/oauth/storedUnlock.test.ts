import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { makeKeyPair, unwrapSeed } from "../../src/archive/KeyWraps.ts"
import { openStoredSeed, storeSeed } from "../../src/archive/StoredUnlocks.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import { Vault } from "../../src/layers/crypto/Vault.ts"
import * as Tenant from "../../src/layers/postgres/Tenant.ts"
import { ArchiveKeys } from "../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../src/ports/Db.ts"
import * as Consenting from "../http/pages/oauth/consenting.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import { keyOf } from "../support/archive/deletions.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { openedByThief } from "../support/archive/stolen.ts"
import * as Pages from "../support/http/pages.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { redeemWith, refreshWith, revokeWith, tokens } from "./support.ts"

const other = "meadow copper violin"

/** An admin before the consent page of an organization with an archive, and what follows from the form. */
const stage = Effect.fnUntraced(function*(role: "owner" | "billing" = "owner", scope = "archive:read org:read") {
  const made = yield* Consenting.stage({ scope }, role)
  yield* setArchiveKey(made.id)
  yield* World.set(made.id, "organization", made.id, { archive_first_record_at: new Date(0) })
  const { hidden, page } = yield* Consenting.consent(made.url, made.cookie)
  const allow = (archive_password: string, granted: ReadonlyArray<string> = scope.split(" "), access = {}) =>
    Pages.visit("POST", made.url, {
      cookie: made.cookie,
      form: { ...hidden, decision: "allow", scope_type: "all", scope: granted, archive_password, ...access }
    })
  const connect = Effect.fnUntraced(function*(text: string, granted?: ReadonlyArray<string>, access = {}) {
    const code = new URL(Pages.ledTo(yield* allow(text, granted, access))).searchParams.get("code") ?? ""
    return tokens(yield* redeemWith({ application: made.application, verifier: made.verifier, code }))
  })
  /** The answer of an operation that reads messages: 404 for a chat that is not there, after the password. */
  const read = (key: string, headers = {}) =>
    Effect.map(
      World.send("GET", `/v1/archive/accounts/${made.accounts[0]}/chats/7/messages`, { key, password: false, headers }),
      ({ body, status }) => `${status} ${body.error?.code}`
    )
  const kept = Effect.map(
    World.send("GET", "/v1/ai-connections", { key: made.admins.owner.key }),
    ({ body }) => body.connections.map((each: any) => each.has_stored_password)
  )
  return { ...made, page, allow, connect, read, kept }
})

const opens = "404 resource_missing"
const asks = "403 archive_password_required"

const stored = (id: OrganizationId) =>
  SqlClient.SqlClient.use((sql) =>
    Tenant.transaction(sql, id)(sql<{ bytes: Uint8Array }>`
      select unlock as bytes from oauth_token where unlock is not null
      union all select unlock from oauth_code where unlock is not null`)
  )

describe("2.8 the archive password that is kept with a connection", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.8-10, S5.3-05: opens the archive for its tokens, through every rotation, and is shown", () =>
        Effect.gen(function*() {
          const { application, connect, id, kept, read } = yield* stage()
          const first = yield* connect(archivePassword)
          expect(yield* kept).toEqual([true])
          expect(yield* read(first.access_token)).toBe(opens)
          let last = first
          for (let rotation = 0; rotation < 3; rotation++) {
            last = tokens(yield* refreshWith(application, last.refresh_token))
            expect(yield* read(last.access_token)).toBe(opens)
          }
          const narrow = tokens(yield* refreshWith(application, last.refresh_token, { scope: "org:read" }))
          // The four access tokens that may read the archive, and the refresh token.
          expect(yield* stored(id)).toHaveLength(5)
          const wide = tokens(yield* refreshWith(application, narrow.refresh_token))
          expect(yield* read(wide.access_token)).toBe(opens)
          expect((yield* World.journal(id)).filter(({ action }) => action === "archive_password.failed")).toEqual([])
        }))

      it.effect("opens the archive for a connection that is limited to accounts, and is forgotten with a changed password", () =>
        Effect.gen(function*() {
          const { accounts, connect, id, kept, read } = yield* stage()
          const first = yield* connect(archivePassword, undefined, { scope_type: "accounts", account: accounts[0]! })
          expect(yield* read(first.access_token)).toBe(opens)
          const [db, keys] = [yield* Db, yield* ArchiveKeys]
          const key = (yield* db.read(id, keys.current(id)))!
          const wrap = (yield* db.read(id, keys.wrap(key, "password")))!
          yield* db.transaction(
            id,
            keys.rewrap(key, { ...wrap, nonce: wrap.nonce.with(0, wrap.nonce[0]! ^ 1) }, new Date(0))
          )
          expect([yield* kept, yield* stored(id)]).toEqual([[false], []])
          expect(yield* read(first.access_token)).toBe(asks)
        }))

      it.effect("S5.3-05: without it the application sends one with each request, which counts before what is kept", () =>
        Effect.gen(function*() {
          const { connect, id, kept, read } = yield* stage()
          const without = yield* connect("")
          expect(yield* kept).toEqual([false])
          expect(yield* stored(id)).toEqual([])
          expect(yield* read(without.access_token)).toBe(asks)
          expect(yield* read(without.access_token, passwordHeader())).toBe(opens)
          const kind = yield* connect(archivePassword)
          expect(yield* read(kind.access_token, passwordHeader(other))).toBe("403 archive_password_invalid")
        }))

      it.effect("is not kept where the archive may not be read, and not asked of those who do not read it", () =>
        Effect.gen(function*() {
          const made = yield* stage()
          expect(made.page.text).toContain("Archive password (optional)")
          yield* made.connect(archivePassword, ["org:read"])
          expect([yield* made.kept, yield* stored(made.id)]).toEqual([[false], []])
          const billing = yield* stage("billing")
          expect(billing.page.text).not.toContain("archive_password")
          yield* billing.connect(archivePassword)
          expect([yield* billing.kept, yield* stored(billing.id)]).toEqual([[false], []])
          const narrow = yield* stage("owner", "org:read")
          expect(narrow.page.text).not.toContain("archive_password")
        }))

      it.effect("a wrong one connects nothing, is journaled, and the eleventh of an hour is not tried", () =>
        Effect.gen(function*() {
          const { allow, id, kept } = yield* stage()
          for (let attempt = 0; attempt < 10; attempt++) {
            const page = yield* allow(other)
            expect([page.status, page.text.includes("This is not the archive password")]).toEqual([422, true])
          }
          const limited = yield* allow(archivePassword)
          expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3600"])
          expect(yield* kept).toEqual([])
          const failed = (yield* World.journal(id)).filter(({ action }) => action === "archive_password.failed")
          expect(failed).toHaveLength(10)
        }))

      it.effect("a stolen database opens nothing of the archive with every key of the service, and with the password all of it", () =>
        Effect.gen(function*() {
          const { accounts, admin, connect, id, read } = yield* stage()
          yield* connect(archivePassword)
          yield* sealChats(id, accounts[0] ?? "", "Harbour")
          const thief = yield* openedByThief(id)
          expect(thief).toMatchObject({ opened: [], epochs: 1, unlocks: 2, wraps: 2 })
          expect(thief.tried).toBeGreaterThan(20)
          expect(thief.sealed).toBeGreaterThan(5)
          // With the peppers a thief makes keys that the service takes, and still has to give the password.
          const { key } = yield* World.makeKey(id, admin.id)
          expect(yield* read(Redacted.value(key))).toBe(asks)
          expect(yield* read(Redacted.value(key), passwordHeader(World.peppers))).toBe("403 archive_password_invalid")
          // The password opens it, and so would its seed, were it anywhere.
          const archiveKey = yield* keyOf(id)
          const wrap = yield* (yield* Db).read(id, (yield* ArchiveKeys).wrap(archiveKey, "password"))
          if (wrap === null) return yield* Effect.die(new Error("No archive password"))
          const seed = yield* unwrapSeed({ ...archiveKey, kind: "password" }, wrap, Redacted.make(archivePassword))
          const text = Redacted.make(Buffer.from(Redacted.value(seed.bytes)).toString("hex"))
          const { seal, sealBytes } = yield* Vault
          for (const name of [Redacted.value(text), seal(text, ["anywhere"]), sealBytes(seed.bytes, [])]) {
            yield* World.set(id, "organization", id, { name })
            const robbed = yield* openedByThief(id)
            expect(robbed.opened).toEqual(["epoch", "file", "file key", "page"])
            for (const text of ["Harbour 12", "Harbour edited", fileContent]) {
              expect(robbed.texts.join("\n")).toContain(text)
            }
          }
        }))

      it.effect("of a key that was replaced opens what is sealed to that one, through every rotation, and nothing else", () =>
        Effect.gen(function*() {
          const { accounts, application, connect, id } = yield* stage()
          const account = accounts[0] ?? ""
          yield* sealChats(id, account, "Harbour")
          yield* setArchiveKey(id, { password: other, replace: true })
          const list = (key: string) =>
            Effect.map(
              World.send("GET", `/v1/archive/accounts/${account}/chats/${archivedIds.chat[0]}/messages`, {
                key,
                password: false
              }),
              ({ body, status }) => [status, body.data?.length, body.unreadable]
            )
          const [before, after] = [yield* connect(archivePassword), yield* connect(other)]
          expect([yield* list(before.access_token), yield* list(after.access_token)]).toEqual([[200, 2, 0], [
            200,
            0,
            2
          ]])
          let last = before
          for (let rotation = 0; rotation < 2; rotation++) {
            last = tokens(yield* refreshWith(application, last.refresh_token))
            expect(yield* list(last.access_token)).toEqual([200, 2, 0])
          }
        }))

      it.effect("ends with another archive password, with the connection, and with a used refresh token", () =>
        Effect.gen(function*() {
          const { application, connect, id, kept, read } = yield* stage()
          const [revoked, reused, lasting] = [
            yield* connect(archivePassword),
            yield* connect(archivePassword),
            yield* connect(archivePassword)
          ]
          expect((yield* revokeWith(application, revoked.refresh_token)).status).toBe(200)
          yield* refreshWith(application, reused.refresh_token)
          expect((yield* refreshWith(application, reused.refresh_token)).status).toBe(400)
          expect(yield* stored(id)).toHaveLength(2)
          expect(yield* read(lasting.access_token)).toBe(opens)
          yield* setArchiveKey(id, { password: other, replace: true })
          expect([yield* kept, yield* stored(id)]).toEqual([[false, false, false], []])
          expect(yield* read(lasting.access_token)).toBe(asks)
          const next = tokens(yield* refreshWith(application, lasting.refresh_token))
          expect(yield* read(next.access_token)).toBe(asks)
          expect(yield* read(next.access_token, passwordHeader(other))).toBe(opens)
        }))
    })
  })

  layer(NodeCrypto.layer)((it) => {
    it.effect("opens for its own token, connection, key and password alone, and not once it was changed", () =>
      Effect.gen(function*() {
        const { seed } = yield* makeKeyPair
        const ref = {
          organizationId: OrganizationId.make("harbour"),
          connectionId: "one",
          keyId: seed.keyId,
          wrapId: "first"
        }
        const token = Redacted.make(crypto.randomUUID())
        const sealed = yield* storeSeed(ref, token, seed)
        expect(sealed).toHaveLength(60)
        expect(Buffer.from(sealed).includes(Buffer.from(Redacted.value(seed.bytes)))).toBe(false)
        const whole = yield* openStoredSeed(ref, token, sealed)
        expect(Redacted.value(whole.bytes)).toEqual(Redacted.value(seed.bytes))
        const another = (yield* makeKeyPair).keyId
        const refused = [
          openStoredSeed(ref, Redacted.make(crypto.randomUUID()), sealed),
          openStoredSeed({ ...ref, organizationId: OrganizationId.make("quay") }, token, sealed),
          openStoredSeed({ ...ref, connectionId: "two" }, token, sealed),
          openStoredSeed({ ...ref, keyId: another }, token, sealed),
          openStoredSeed({ ...ref, wrapId: "second" }, token, sealed),
          ...Array.from(sealed, (byte, at) => openStoredSeed(ref, token, sealed.with(at, byte ^ 1))),
          openStoredSeed(ref, token, sealed.subarray(0, 40)),
          openStoredSeed(ref, token, new Uint8Array())
        ]
        for (const attempt of refused) expect(Result.isFailure(yield* Effect.result(attempt))).toBe(true)
      }))
  })
})
