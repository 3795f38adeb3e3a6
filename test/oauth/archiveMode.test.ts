import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../../src/operations/index.ts"
import * as Consenting from "../http/pages/oauth/consenting.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { passwordHeader } from "../support/archive/archivePassword.ts"
import * as Pages from "../support/http/pages.ts"
import { inputOf, requestOf } from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import { callback, challengeOf, makeVerifier, query, redeemWith, registerApplication, tokens } from "./support.ts"

const onThisMachine = "http://127.0.0.1:33418/callback"

/** An admin before the consent page of an application on the same machine. */
const stage = Effect.fnUntraced(function*(params: Readonly<Record<string, string>>) {
  const made = yield* Consenting.stage()
  yield* setArchiveKey(made.id)
  const application = yield* registerApplication({ redirect_uris: [onThisMachine, callback] })
  const verifier = makeVerifier()
  const scope = "archive:read org:read"
  const asked = { scope, redirect_uri: onThisMachine, ...params }
  const url = `${Consenting.path}?${query(application, challengeOf(verifier), asked)}`
  const visit = Pages.visit("GET", url, { cookie: made.cookie })
  const allow = Effect.gen(function*() {
    const { hidden } = yield* Consenting.consent(url, made.cookie)
    const form = {
      ...hidden,
      decision: "allow",
      scope_type: "all",
      scope: scope.split(" "),
      archive_password: "anything"
    }
    const code = new URL(Pages.ledTo(yield* Pages.visit("POST", url, { cookie: made.cookie, form }))).searchParams.get(
      "code"
    )
    const redirect_uri = onThisMachine
    return tokens(yield* redeemWith({ application, verifier, code: code ?? "" }, { redirect_uri }))
  })
  return { ...made, allow, visit }
})

const bridged: ReadonlyArray<Operation.Any> = operations.filter(({ kind }) => kind === "unlocked")

describe("the archive mode of an application", () => {
  layer(World.world(postgres))((it) => {
    it.effect("local is asked for by a program on its user's machine alone, and the page says what it means", () =>
      Effect.gen(function*() {
        const local = yield* stage({ archive_mode: "local" })
        const { text } = yield* local.visit
        expect(text).toContain("Archived chats are opened on your computer")
        expect(text).not.toContain("name=\"archive_password\"")
        for (const params of [{}, { archive_mode: "cloud" }]) {
          const cloud = yield* (yield* stage(params)).visit
          expect(cloud.text).toContain("name=\"archive_password\"")
          expect(cloud.text).not.toContain("Archived chats are opened on your computer")
        }
        for (const params of [{ archive_mode: "other" }, { archive_mode: "local", redirect_uri: callback }]) {
          const refused = new URL(Pages.ledTo(yield* (yield* stage(params)).visit))
          expect([params, refused.searchParams.get("error")]).toEqual([params, "invalid_request"])
        }
      }))

    it.effect("is kept with the connection, whose tokens open nothing here, whatever they send, and read what is sealed", () =>
      Effect.gen(function*() {
        const { accounts, admins, allow, id } = yield* stage({ archive_mode: "local" })
        const { access_token } = yield* allow
        const { body } = yield* World.send("GET", "/v1/ai-connections", { key: admins.owner.key })
        expect(body.connections.map((one: any) => [one.mode, one.has_stored_password])).toEqual([["local", false]])
        const [entry] = (yield* World.journal(id)).filter(({ action }) => action === "oauth.connected")
        expect(entry?.details).toMatchObject({ archive_mode: "local" })
        for (const operation of bridged) {
          const { body, method, path } = requestOf(operation, inputOf(operation, { account: accounts[0]! }))
          const answer = yield* World.send(method, path, {
            key: access_token,
            headers: passwordHeader(),
            ...(body === undefined ? {} : { body })
          })
          expect([operation.id, answer.status, answer.body.error.code]).toEqual([operation.id, 403, "bridge_required"])
        }
        const keys = yield* World.send("GET", "/v1/archive/keys", { key: access_token })
        expect([keys.status, keys.body.organization_id]).toEqual([200, id])
        const loose = { loose: { below: "2026-01-01T00:00:00Z", limit: 10 } }
        const blocks = yield* World.send("POST", "/v1/archive/sealed/blocks", { key: access_token, body: loose })
        expect([blocks.status, blocks.body.pages]).toEqual([200, []])
      }))
  })
})
