import { describe, expect, layer } from "@effect/vitest"
import { Effect, Logger, Redacted, References, Schema } from "effect"
import { inspect } from "node:util"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { NotActive } from "../../src/domain/Failure.ts"
import { Caller, everyone } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import { operations, ServedOperations } from "../../src/operations/index.ts"
import * as Ports from "../../src/ports/index.ts"
import { RequestLines } from "../../src/transport/TransportSettings.ts"
import * as Mcp from "../mcp/support.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const password = "pässword of the archive 🗝"
const header = (text: string) => ({ "archive-password": Buffer.from(text, "utf8").toString("base64url") })

const said = (account: string, action: string) => ({ object: "account_action", account_id: account, action })

/** Declared here and nowhere else: it answers the password that it is asked with, or fails in some way. */
const openArchive = Operation.write(
  "open_archive",
  {
    summary: "Answer the password.",
    method: "POST",
    path: "/v1/accounts/:account_id/open-archive",
    toolset: "archive",
    scope: "org:read",
    roles: everyone,
    destructive: true,
    idempotent: false,
    params: { account_id: TargetAccount },
    body: {
      then: Schema.Literals(["answer", "break", "keep", "refuse"]).annotateKey({ description: "What it does." })
    },
    success: AccountAction,
    failures: [NotActive],
    sample: {
      request: { account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", then: "answer" },
      answer: { object: "account_action", account_id: "019bc0e2-1280-7691-9060-dc1c794fba00", action: "none" }
    },
    journal: { action: "archive.opened", target: "account" }
  },
  ({ then }, { account, caller }) => {
    if (then === "refuse") return Effect.fail(new NotActive({}))
    if (then === "break") return Effect.die(new Error(inspect(caller, { depth: 9 }) + JSON.stringify(caller)))
    if (then === "keep") {
      return Effect.succeed(
        Operation.changed({ object: "account_action" as const, account_id: account.id, action: "kept" }, { then })
      )
    }
    const given = caller.extras?.archivePassword
    return Effect.succeed(
      Operation.unchanged({
        object: "account_action" as const,
        account_id: account.id,
        action: given === undefined ? "none" : `password ${Redacted.value(given)}`
      })
    )
  }
)

const list: Operation.List = [...operations, openArchive]
const serving = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, ServedOperations, list)

/** What is answered, and all that is logged meanwhile, with the causes. */
const logging = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
  return Effect.map(effect, (answer) => ({ answer, log: lines.join("\n") })).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(RequestLines, true),
    Effect.provideService(References.MinimumLogLevel, "Trace")
  )
}

const make = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeAccount(id)
  const { key } = admins.owner
  const open = (headers: Record<string, string>, then: typeof openArchive.input.Type["then"] = "answer") =>
    serving(World.send("POST", `/v1/accounts/${account}/open-archive`, { key, headers, body: { then } }))
  const call = (meta: object, headers: Record<string, string>, legacy: boolean) => {
    const params = { name: "open_archive", arguments: { account_id: account, then: "answer" }, _meta: meta }
    return Effect.map(
      serving(
        legacy
          ? Mcp.send({ key, headers, body: Mcp.legacy("tools/call", params) })
          : Mcp.ask("tools/call", params, { key, headers })
      ),
      (answer) => Mcp.resultOf(answer).body
    )
  }
  return { account, call, id, key, open }
})

describe("the archive password", () => {
  layer(World.world(postgres))((it) => {
    it.effect("reaches an operation beside its input: by the header, _meta of a call, and the caller of a program", () =>
      Effect.gen(function*() {
        const { account, call, key, open } = yield* make
        const opened = said(account, `password ${password}`)
        expect((yield* open({})).body).toEqual(said(account, "none"))
        expect((yield* open(header(password))).body).toEqual(opened)
        for (const legacy of [true, false]) {
          expect(yield* call({}, {}, legacy)).toEqual(said(account, "none"))
          expect(yield* call({ archive_password: password }, {}, legacy)).toEqual(opened)
          expect(yield* call({}, header(password), legacy)).toEqual(opened)
          expect(yield* call({ archive_password: password }, header("another"), legacy)).toEqual(opened)
        }
        const credentials = yield* Ports.Credentials
        const known = yield* credentials.authenticate(key, `${World.baseUrl}/v1`)
        const extras = { archivePassword: Redacted.make(password) }
        const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null, extras })
        const embedded = openArchive.call({ account_id: account, then: "answer" })
        expect(yield* Effect.provideService(embedded, Caller, caller)).toMatchObject({ action: `password ${password}` })
      }))

    it.effect("is one that is wrong where it cannot be read", () =>
      Effect.gen(function*() {
        const { account, call, open } = yield* make
        const wrong = said(account, "password ")
        for (const sent of ["", "a", "*", "a b"]) {
          expect([sent, (yield* open({ "archive-password": sent })).body]).toEqual([sent, wrong])
        }
        for (const legacy of [true, false]) {
          expect(yield* call({ archive_password: 1 }, {}, legacy)).toEqual(wrong)
          expect(yield* call({ archive_password: null }, header(password), legacy)).toEqual(wrong)
        }
      }))

    it.effect("is in no log and no answer, and nothing of it is kept, however the operation ends", () =>
      Effect.gen(function*() {
        const { id, open } = yield* make
        const texts = [password, header(password)["archive-password"]]
        for (const [then, status] of [["keep", 200], ["refuse", 409], ["break", 500]] as const) {
          const { answer, log } = yield* logging(open({ ...header(password), "idempotency-key": then }, then))
          expect([then, answer.status, log.includes(then === "break" ? "<redacted" : "Request answered")]).toEqual([
            then,
            status,
            true
          ])
          const said = inspect([log, answer.body, [...answer.headers]], { depth: 9 })
          for (const text of texts) expect(said).not.toContain(text)
        }
        const kept = JSON.stringify([yield* World.snapshot(id), yield* World.journal(id)])
        expect(kept).toContain("archive.opened")
        for (const text of texts) expect(kept).not.toContain(text)
      }))

    it.effect("is no member of the tool, and pages of every origin may send the header", () =>
      Effect.gen(function*() {
        const { key } = yield* make
        const listed = yield* serving(Mcp.ask("tools/list", {}, { key, path: "/mcp?toolsets=archive" }))
        const tool = listed.body.result.tools.find(({ name }: { readonly name: string }) => name === "open_archive")
        expect(Object.keys(tool.inputSchema.properties).toSorted()).toEqual(["account_id", "then"])
        const asked = { origin: "https://elsewhere.example", "access-control-request-method": "POST" }
        const answer = yield* World.send("OPTIONS", "/v1/organization", { headers: asked })
        expect(answer.headers.get("access-control-allow-headers")).toContain("Archive-Password")
      }))
  })
})
