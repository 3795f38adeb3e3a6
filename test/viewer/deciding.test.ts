import { afterEach, describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import type { Services } from "../../src/http/App.ts"
import { makeDecide } from "../../src/viewer/worker/Deciding.ts"
import { ask } from "../../src/viewer/worker/Service.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { accountTarget } from "../support/archive/rules.ts"
import * as Pages from "../support/http/pages.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

type Rules = ReadonlyArray<{ readonly selector: { readonly chat_id: string | null } }>

const chat = (id: string, isProtected = false) => ({ id, type: "group" as const, protected: isProtected })

/** An account, and the viewer's page of the owner: what its worker asks for reaches the service. */
const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(id)
  const accountId = yield* World.makeAccount(id)
  const { key } = admins.owner
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  const page = yield* Pages.visit("GET", "/console/archive", { cookie })
  const handler = yield* World.handlerHere
  vi.stubGlobal("fetch", (address: string, { body, headers, method }: RequestInit) =>
    handler(
      new Request(new URL(address, World.baseUrl), {
        ...(body === undefined ? {} : { body }),
        ...(method === undefined ? {} : { method }),
        headers: { ...Object.fromEntries(new Headers(headers)), cookie, host: "localhost" }
      })
    ))
  const service = {
    address: /data-address="([^"]*)"/.exec(page.text)?.[1] ?? "",
    token: /data-token="([^"]*)"/.exec(page.text)?.[1] ?? "",
    organizationId: id,
    waiting: () => undefined
  }
  const make = (body: object) => World.send("POST", "/v1/archive/rules", { key, body })
  const rules = Effect.map(World.get("/v1/archive/rules", key), ({ body }): Rules => body.data)
  return {
    accountId,
    make,
    /** A rule about a chat alone. */
    makeOwn: (chatId: string, body: object) =>
      make({ ...accountTarget(accountId), selector: { chat_type: null, chat_id: chatId }, ...body }),
    /** The worker's decisions; `meanwhile` happens once it has read the rules. */
    decide: (meanwhile: Effect.Effect<unknown> = Effect.void) =>
      makeDecide((operation, input) =>
        ask(service, operation, input).pipe(
          Effect.tap(() => operation === "list_archive_rules" ? meanwhile : Effect.void)
        )
      ),
    ruleOf: (chatId: string) => Effect.map(rules, (all) => all.find(({ selector }) => selector.chat_id === chatId))
  }
})

describe("decisions about chats to review", () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  layer(World.world(postgres))((it) => {
    it.effect("take over the media of the rule that left the chat to them, and none of protected chats", () =>
      Effect.gen(function*() {
        const { accountId, decide, make, ruleOf } = yield* stage()
        yield* make({
          target: { level: "organization", id: null },
          selector: { chat_type: "group", chat_id: null },
          effect: "review",
          max_file_bytes: 5_000_000,
          live: false
        })
        const chats = [chat("11"), chat("12", true)]
        expect(yield* decide()({ accountId, chats, effect: "archive" })).toEqual({
          decided: ["11", "12"],
          refusal: null
        })
        expect(yield* ruleOf("11")).toMatchObject({
          target: { level: "account", id: accountId },
          effect: "archive",
          media: "all",
          max_file_bytes: 5_000_000,
          live: false
        })
        expect(yield* ruleOf("12")).toMatchObject({ effect: "archive", media: "none" })
      }))

    it.effect("archive no media where no rule says so", () =>
      Effect.gen(function*() {
        const { accountId, decide, ruleOf } = yield* stage()
        yield* decide()({ accountId, chats: [chat("11")], effect: "archive" })
        expect(yield* ruleOf("11")).toMatchObject({
          effect: "archive",
          media: "none",
          max_file_bytes: null,
          live: true
        })
      }))

    it.effect("change the rule that a chat has of its own", () =>
      Effect.gen(function*() {
        const { accountId, decide, makeOwn, ruleOf } = yield* stage()
        const { body } = yield* makeOwn("11", { effect: "review", media: "all", max_file_bytes: 7 })
        const chats = [chat("11", true), chat("12")]
        expect(yield* decide()({ accountId, chats, effect: "skip" })).toEqual({ decided: ["11", "12"], refusal: null })
        expect(yield* ruleOf("11")).toMatchObject({ id: body.id, effect: "skip", media: "all", max_file_bytes: 7 })
      }))

    it.effect("go on after a chat that is refused, and say why; they fail where every one is", () =>
      Effect.gen(function*() {
        const { accountId, decide, makeOwn, ruleOf } = yield* stage()
        const here = yield* Effect.context<Services>()
        const skip = (chatId: string) => Effect.provideContext(makeOwn(chatId, { effect: "skip" }), here)
        const chats = [chat("11"), chat("12")]
        const decided = yield* decide(skip("11"))({ accountId, chats, effect: "archive" })
        expect(decided).toEqual({ decided: ["12"], refusal: expect.stringMatching(/rule/) })
        expect([yield* ruleOf("11"), yield* ruleOf("12")]).toMatchObject([{ effect: "skip" }, { effect: "archive" }])
        const refused = yield* Effect.flip(
          decide(skip("13"))({ accountId, chats: [chat("13")], effect: "archive" })
        )
        expect(refused.code).toBe("rule_exists")
      }))
  })
})
