import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Archives from "../../support/archive/archives.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId } = Archives

/** An account with a chat, and what an owner does with them. */
const stage = Effect.gen(function*() {
  const { admins, archives: [one], id } = yield* Deletions.stage(1)
  const { key } = admins.owner
  const { accountId } = one!.account
  const send = (method: "DELETE" | "PATCH" | "POST", path: string, body?: object) =>
    World.send(method, path, body === undefined ? { key } : { key, body })
  return {
    id,
    send,
    stop: Effect.gen(function*() {
      yield* TestClock.adjust("1 minute")
      const criteria = { account_ids: [accountId] }
      const { body } = yield* send("POST", "/v1/archive/cleanups", { criteria, stop_saving: true })
      const { confirm_phrase } = body
      const confirmed = yield* send("POST", `/v1/archive/cleanups/${body.id}/confirm`, { confirm_phrase })
      expect(confirmed.body.state).toBe("queued")
      yield* TestClock.adjust("1 minute")
      return String(body.id)
    }),
    cancel: (cleanup: string) => send("POST", `/v1/archive/cleanups/${cleanup}/cancel`),
    makeRule: (effect: string) =>
      Effect.map(
        send("POST", "/v1/archive/rules", {
          target: { level: "account", id: accountId },
          selector: { chat_type: null, chat_id: String(chatId) },
          effect
        }),
        ({ body }) => `/v1/archive/rules/${body.id}`
      ),
    stoppedBy: Effect.map(
      World.query<{ stopped: string | null }>(
        id,
        (sql) => sql`select stopped_by::text as stopped from archive_chat where chat_id = ${chatId}`
      ),
      ([row]) => row?.stopped
    )
  }
})

describe("a chat that cleanups have stopped", () => {
  layer(World.world(postgres))((it) => {
    it.effect("stays so until the last of them that asked for it is cancelled", () =>
      Effect.gen(function*() {
        const { cancel, stop, stoppedBy } = yield* stage
        const [first, second] = [yield* stop, yield* stop]
        expect(yield* stoppedBy).toBe(first)
        yield* cancel(first)
        expect(yield* stoppedBy).toBe(second)
        yield* cancel(second)
        expect(yield* stoppedBy).toBe(null)
      }))

    it.effect("goes on by its rule, and again once a later cleanup is cancelled", () =>
      Effect.gen(function*() {
        const { cancel, makeRule, stop, stoppedBy } = yield* stage
        yield* stop
        yield* makeRule("archive")
        expect(yield* stoppedBy).toBe(null)
        const second = yield* stop
        expect(yield* stoppedBy).toBe(second)
        yield* cancel(second)
        expect(yield* stoppedBy).toBe(null)
      }))

    it.effect("goes on by a rule that has it archived alone, also by one that is there already and set again", () =>
      Effect.gen(function*() {
        const { id, makeRule, send, stop, stoppedBy } = yield* stage
        const cleanup = yield* stop
        const rule = yield* makeRule("skip")
        expect(yield* stoppedBy).toBe(cleanup)
        yield* send("PATCH", rule, { effect: "review" })
        expect(yield* stoppedBy).toBe(cleanup)
        expect((yield* send("DELETE", rule)).status).toBe(200)
        expect(yield* stoppedBy).toBe(cleanup)
        const other = yield* makeRule("archive")
        expect(yield* stoppedBy).toBe(null)
        const again = yield* stop
        expect(yield* stoppedBy).toBe(again)
        for (let set = 0; set < 2; set++) {
          expect((yield* send("PATCH", other, { effect: "archive" })).status).toBe(200)
          expect(yield* stoppedBy).toBe(null)
        }
        const events = (yield* World.journal(id)).filter(({ action, outcome }) =>
          action === "archive_rule.updated" && outcome === "done"
        )
        expect(events.map(({ details }) => details["effect"])).toEqual(["review", "archive"])
      }))
  })
})
