import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TargetAccount } from "../../src/domain/accounts/Account.ts"
import { Caller, everyone } from "../../src/domain/people/Access.ts"
import { journalArchiveReads } from "../../src/jobs/archive/journal_archive_reads.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { operations, ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import * as Mcp from "../mcp/support.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const Opened = Schema.Struct({ object: Schema.Literal("opened_archive"), key_id: Schema.String })

/** Declared here and nowhere else: it answers which key it was given. */
const openArchive = Operation.unlocked(
  "open_archive",
  {
    summary: "Answer the key of the opened archive.",
    method: "GET",
    path: "/v1/accounts/:account_id/opened-archive",
    toolset: "archive",
    scope: "archive:read",
    roles: everyone,
    params: { account_id: TargetAccount },
    success: Opened,
    messages: () => 2,
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00" },
      answer: { object: "opened_archive", key_id: "019bc0e2-1280-7691-9060-dc1c794fba00" }
    }
  },
  (_, { archive }) => Effect.succeed({ object: "opened_archive" as const, key_id: archive.key.keyId })
)

const list: Operation.List = [...operations, openArchive]
const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, ServedOperations, list)

const pathOf = (account: string) => `/v1/accounts/${account}/opened-archive`
const absent = "00000000-0000-7000-8000-000000000000"

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_first_record_at: new Date(0) })
  const account = yield* World.makeAccount(id)
  const open = (headers: Record<string, string>, key = admins.owner.key, of: string = account) =>
    Effect.map(
      serving(World.send("GET", pathOf(of), { key, headers })),
      ({ body, status }) => [status, body.error?.code ?? body.object]
    )
  return { account, admins, id, open }
})

const journalReads = Effect.flatMap(journalArchiveReads.start, ({ run }) => run)

const failures = (id: string) =>
  Effect.map(World.journal(id), (events) => events.filter(({ action }) => action === "archive_password.failed"))

describe("operations that open the archive", () => {
  layer(World.world(postgres))((it) => {
    it.effect("answer over REST, MCP and to a program, with the password beside the input", () =>
      Effect.gen(function*() {
        const { account, admins, id, open } = yield* make
        yield* setArchiveKey(id)
        const { key } = admins.owner
        expect(yield* open(passwordHeader())).toEqual([200, "opened_archive"])
        const params = {
          name: "open_archive",
          arguments: { account_id: account },
          _meta: { archive_password: archivePassword }
        }
        const called = Mcp.resultOf(yield* serving(Mcp.ask("tools/call", params, { key })))
        expect(called.body).toMatchObject({ object: "opened_archive" })
        const known = yield* (yield* Ports.Credentials).authenticate(
          typeof key === "string" ? Redacted.make(key) : key,
          `${World.baseUrl}/v1`
        )
        const extras = { archivePassword: Redacted.make(archivePassword) }
        const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null, extras })
        expect(yield* Effect.provideService(openArchive.call({ account_id: account }), Caller, caller)).toMatchObject({
          object: "opened_archive"
        })
      }))

    it.effect("check the password before the account, and the archive's state after it", () =>
      Effect.gen(function*() {
        const { admins, id, open } = yield* make
        const { key } = admins.owner
        expect(yield* open({}, key, absent)).toEqual([404, "resource_missing"])
        expect(yield* open(passwordHeader())).toEqual([409, "no_archive_key"])
        yield* setArchiveKey(id)
        expect(yield* open({}, key, absent)).toEqual([403, "archive_password_required"])
        for (const wrong of ["", "*", "a b"]) {
          expect(yield* open({ "archive-password": wrong })).toEqual([403, "archive_password_invalid"])
        }
        expect(yield* failures(id)).toEqual([])
        expect(yield* open(passwordHeader("another"), key, absent)).toEqual([403, "archive_password_invalid"])
        expect(yield* open(passwordHeader(), key, absent)).toEqual([404, "resource_missing"])
        yield* World.set(id, "organization", id, { archive_deletion_started_at: new Date(0) })
        expect(yield* open(passwordHeader(), key, absent)).toEqual([404, "resource_missing"])
        expect(yield* open(passwordHeader())).toEqual([409, "archive_closed"])
      }))

    it.effect("refuse admins without access to the archive, and list no tool for them", () =>
      Effect.gen(function*() {
        const { account, admins, id, open } = yield* make
        yield* setArchiveKey(id)
        const { id: adminId, key } = admins.admin
        yield* World.grant(id, adminId, { accounts: [account] })
        const listed = Effect.map(
          serving(Mcp.ask("tools/list", {}, { key, path: "/mcp?toolsets=archive" })),
          (answer) => JSON.stringify(answer.body).includes("open_archive")
        )
        yield* World.set(id, "admin", adminId, { archive_access: false })
        expect([yield* open({}, key), yield* listed]).toEqual([[403, "role_forbidden"], false])
        yield* World.set(id, "admin", adminId, { archive_access: true })
        expect([yield* open(passwordHeader(), key), yield* listed]).toEqual([[200, "opened_archive"], true])
      }))

    it.effect("refuse a connection of mode local, whatever it sends", () =>
      Effect.gen(function*() {
        const { account, admins, id } = yield* make
        yield* setArchiveKey(id)
        const { key } = admins.owner
        const known = yield* (yield* Ports.Credentials).authenticate(
          typeof key === "string" ? Redacted.make(key) : key,
          `${World.baseUrl}/v1`
        )
        const caller = Caller.of({
          ...known,
          limit: { scopeType: "all", connectionId: absent, local: true },
          via: "embedded",
          ip: null,
          requestId: null,
          extras: { archivePassword: Redacted.make(archivePassword) }
        })
        const refused = Effect.flip(openArchive.call({ account_id: account }))
        expect((yield* Effect.provideService(refused, Caller, caller))._tag).toBe("bridge_required")
      }))

    it.effect("journal every wrong password, and refuse the eleventh of a credential in an hour unread", () =>
      Effect.gen(function*() {
        const { admins, id, open } = yield* make
        yield* setArchiveKey(id)
        for (let tries = 0; tries < 10; tries++) {
          expect(yield* open(passwordHeader(`wrong ${tries}`))).toEqual([403, "archive_password_invalid"])
        }
        const journaled = yield* failures(id)
        expect(
          journaled.map(({ actor_admin_id, credential_kind, outcome }) => [actor_admin_id, credential_kind, outcome])
        ).toEqual(
          journaled.map(() => [admins.owner.id, "api_key", "refused"])
        )
        expect(journaled).toHaveLength(10)
        expect(yield* open(passwordHeader())).toEqual([429, "too_many_attempts"])
        expect(yield* failures(id)).toHaveLength(10)
        expect(yield* open(passwordHeader(), admins.superadmin.key)).toEqual([200, "opened_archive"])
        yield* TestClock.adjust("1 hours")
        expect(yield* open(passwordHeader())).toEqual([200, "opened_archive"])
      }))

    it.effect("refuse the eleventh wrong password of an admin, and the fifty-first of an organization", () =>
      Effect.gen(function*() {
        const { id, open } = yield* make
        yield* setArchiveKey(id)
        const people = yield* Effect.forEach([1, 2, 3, 4, 5], () => World.makePerson(id, "superadmin"))
        for (const { id: admin, key } of people) {
          for (let tries = 0; tries < 10; tries++) {
            expect(yield* open(passwordHeader(`wrong ${tries}`), key)).toEqual([403, "archive_password_invalid"])
          }
          const another = yield* World.makeKey(id, admin, ["archive:read"])
          expect(yield* open(passwordHeader(), another.key)).toEqual([429, "too_many_attempts"])
        }
        expect(yield* open(passwordHeader())).toEqual([429, "too_many_attempts"])
        expect(yield* failures(id)).toHaveLength(50)
      }))

    it.effect("are journaled as one read of a credential, an account and an hour once it is over", () =>
      Effect.gen(function*() {
        const { account, admins, id, open } = yield* make
        yield* setArchiveKey(id)
        yield* TestClock.setTime(Date.UTC(2027, 0, 5, 10, 10))
        yield* open(passwordHeader())
        yield* open(passwordHeader())
        yield* open(passwordHeader(), admins.superadmin.key)
        yield* TestClock.adjust("55 minutes")
        yield* open(passwordHeader("another"))
        yield* open(passwordHeader())
        const reads = Effect.map(
          World.journal(id),
          (events) =>
            events.flatMap(({ account_id, action, actor_admin_id, details }) =>
              action === "archive.read" ? [[account_id, actor_admin_id, details]] : []
            )
        )
        const of = (admin: string, since: string, messages: number) => [
          account,
          admin,
          { since: `2027-01-05T${since}:00:00.000Z`, messages, files: 0, searches: 0 }
        ]
        yield* journalReads
        const first = yield* reads
        expect(first).toHaveLength(2)
        expect(first).toEqual(expect.arrayContaining([of(admins.owner.id, "10", 4), of(admins.superadmin.id, "10", 2)]))
        yield* TestClock.adjust("1 hours")
        yield* journalReads
        yield* journalReads
        expect((yield* reads).slice(2)).toEqual([of(admins.owner.id, "11", 2)])
      }))

    it.effect("open with the new password, and with that of the key that the operator has replaced", () =>
      Effect.gen(function*() {
        const { id, open } = yield* make
        yield* setArchiveKey(id)
        expect(yield* open(passwordHeader())).toEqual([200, "opened_archive"])
        expect(yield* setArchiveKey(id)).toContain("--replace")
        yield* setArchiveKey(id, { password: "meadow copper violin", replace: true })
        for (const password of [undefined, "meadow copper violin"]) {
          expect(yield* open(passwordHeader(password))).toEqual([200, "opened_archive"])
        }
        expect(yield* open(passwordHeader("a third password"))).toEqual([403, "archive_password_invalid"])
      }))
  })
})
