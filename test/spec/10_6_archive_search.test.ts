import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as SearchTurns from "../../src/layers/archive/SearchTurns.ts"
import * as Ports from "../../src/ports/archive/SearchTurns.ts"
import * as Mcp from "../mcp/support.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import * as Archives from "../support/archive/archives.ts"
import { dropBlocks, placesOf } from "../support/archive/loosePages.ts"
import * as Searched from "../support/archive/searched.ts"
import * as Leaks from "../support/leaks.ts"
import { postgres } from "../support/postgres/database.ts"
import { wordsIn } from "../support/wordLeaks.ts"
import * as World from "../support/world.ts"

const { beginning, chat, chatId } = Archives

const day = 86_400

/** An organization with an account in whose chat a message was sent on each of so many days, by its owner's key. */
const stage = Effect.fnUntraced(function*(days: number, text: (place: number) => string) {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization()
  yield* setArchiveKey(id)
  const account = yield* World.makeAccount(id)
  const archive = { account: { organizationId: id, accountId: account } }
  const scope = yield* Scope.make()
  const writer = yield* Effect.provideService(Searched.own(id, account), Scope.Scope, scope)
  yield* Archives.commit(archive, writer.see(chat))
  const messages = Array.from(
    { length: days },
    (_, place) => Archives.seen(place + 1, (days - place) * day, text(place))
  )
  yield* Archives.commit(archive, writer.append(chatId, messages, "sweep"))
  const { key } = admins.owner
  const search = (body: object) => World.send("POST", "/v1/archive/search", { key, body })
  return { account, admins, archive, id, key, search, writer, end: Scope.close(scope, Exit.void) }
})

/** The blocks of the organization, by the number of their pages, and its pages without one. */
const blocksOf = (id: string) => Effect.map(placesOf(id), ({ blocks, loose }) => [blocks, loose])

const refusal = ({ body, status }: World.Answer) => [status, body.error.code, body.error.param]

describe("10.6 search_messages", () => {
  layer(World.world(postgres))((it) => {
    it.effect("refuses what is no search, and names the member", () =>
      Effect.gen(function*() {
        const { account, id, search } = yield* stage(1, () => "harbour")
        const other = yield* World.makeAccount(id)
        const query = "harbour"
        for (
          const [param, body] of [
            ["query", {}],
            ["query", { query: " " }],
            ["query", { query: "\"\" \"" }],
            ["query", { query: "x".repeat(201) }],
            ["account_ids", { query, account_ids: [] }],
            ["chat_ids", { query, chat_ids: ["1"] }],
            ["chat_ids", { query, account_ids: [account, other], chat_ids: [String(chatId)] }],
            ["kind", { query, kind: "letter" }],
            ["since", { query, since: "yesterday" }],
            ["limit", { query, limit: 0 }],
            ["limit", { query, limit: 101 }],
            ["cursor", { query, cursor: "" }],
            ["cursor", { query, cursor: "😀".repeat(400) }],
            ["cursor", { query, cursor: "WyJzZWFyY2gvMSJd" }]
          ] as const
        ) {
          const [status, code, at] = refusal(yield* search(body))
          expect([body, status, code, String(at).split("[")[0]?.split(".")[0]]).toEqual([
            body,
            400,
            "parameter_invalid",
            param
          ])
        }
        const absent = "019bc0e2-0000-7000-8000-000000000000"
        expect(refusal(yield* search({ query, account_ids: [account, absent] }))).toEqual([
          404,
          "resource_missing",
          "account_ids"
        ])
        expect(refusal(yield* search({ query, account_ids: [account], chat_ids: ["77"] })))
          .toEqual([404, "resource_missing", "chat_ids"])
        expect((yield* search({ query, account_ids: [account], chat_ids: [String(chatId)] })).body.data).toHaveLength(1)
      }))

    it.effect("a cursor goes on with its own search alone, however the page is sized", () =>
      Effect.gen(function*() {
        const { account, search } = yield* stage(5, () => "harbour lantern")
        const { cursor } = (yield* search({ query: "harbour", limit: 2 })).body
        for (
          const other of [
            { query: "lantern" },
            { query: "harbour", account_ids: [account] },
            { query: "harbour", from_id: "77" },
            { query: "harbour", kind: "text" },
            { query: "harbour", since: "2026-01-01T00:00:00Z" },
            { query: "harbour", until: "2027-01-01T00:00:00Z" }
          ]
        ) {
          expect(refusal(yield* search({ ...other, cursor }))).toEqual([400, "parameter_invalid", "cursor"])
        }
        const rest = (yield* search({ query: " HARBOUR ", cursor, limit: 100 })).body
        expect([rest.data.map(({ id }: { id: string }) => id), rest.has_more, rest.cursor]).toEqual([
          ["3", "2", "1"],
          false,
          null
        ])
      }))

    it.effect("narrows by sender, kind, and times that fall between two seconds", () =>
      Effect.gen(function*() {
        const { search } = yield* stage(3, (place) => `harbour ${place}`)
        const ids = (body: object) =>
          Effect.map(search({ query: "harbour", ...body }), (answer) =>
            answer.body.data.map(({ id }: { id: string }) => id))
        const second = new Date(beginning - 2 * day * 1000)
        const later = new Date(second.getTime() + 500).toISOString()
        expect(yield* ids({ from_id: "77" })).toEqual(["3", "2", "1"])
        expect(yield* ids({ from_id: "78" })).toEqual([])
        expect(yield* ids({ kind: "photo" })).toEqual([])
        expect(yield* ids({ since: second.toISOString() })).toEqual(["3", "2"])
        expect(yield* ids({ since: later })).toEqual(["3"])
        expect(yield* ids({ until: second.toISOString() })).toEqual(["1"])
        expect(yield* ids({ until: later })).toEqual(["2", "1"])
      }))

    it.effect("a writer makes a vocabulary of its pages once they have waited for others; once it is dropped, a search makes one after its answer", () =>
      Effect.gen(function*() {
        const { end, id, search, writer } = yield* stage(40, (place) => place === 7 ? "a lantern" : "the harbour")
        expect(yield* blocksOf(id)).toEqual([[], 40])
        yield* writer.close("due")
        expect(yield* blocksOf(id)).toEqual([[], 40])
        yield* TestClock.adjust("15 minutes")
        yield* writer.close("due")
        const made = yield* blocksOf(id)
        expect(made).toEqual([[40], 0])
        yield* end
        const found = Effect.map(search({ query: "lantern" }), ({ body }) => [body.data.length, body.searched])
        expect(yield* found).toEqual([1, 40])
        // Without the page's words the block would hide it: it is found by the vocabulary.
        expect((yield* search({ query: "antern harbour" })).body.data).toEqual([])
        yield* dropBlocks(id)
        // The work after an earlier search may index the pages meanwhile: what moved is searched twice, and found once.
        const [hits, searched] = yield* found
        expect(hits).toBe(1)
        expect([40, 80]).toContain(searched)
        for (let tries = 0; tries < 200 && (yield* blocksOf(id))[1] !== 0; tries++) {
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
        }
        expect(yield* blocksOf(id)).toEqual([[40], 0])
        const epochs = yield* World.query<{ open: number; used: boolean }>(
          id,
          (sql) =>
            sql`select count(*) filter (where closed_at is null)::integer as open,
              bool_or(epoch_id in (select epoch_id from archive_block where organization_id = ${id})) as used
            from archive_epoch where organization_id = ${id}`
        )
        expect(epochs).toEqual([{ open: 0, used: true }])
        expect(yield* found).toEqual([1, 40])
      }))

    it.effect("edits are found through a vocabulary of theirs, by the time at which their message was sent", () =>
      Effect.gen(function*() {
        const { archive, end, id, search, writer } = yield* stage(20, (place) => `harbour ${place}`)
        for (let place = 0; place < 20; place++) {
          const edited = Archives.seen(place + 1, (20 - place) * day, `lantern ${place}`, {
            edited_at: beginning / 1000
          })
          yield* Archives.commit(archive, writer.append(chatId, [edited], "sweep"))
        }
        yield* end
        expect(yield* blocksOf(id)).toEqual([[20, 20], 0])
        const until = new Date(beginning - 18 * day * 1000 + 1000).toISOString()
        const { data } = (yield* search({ query: "lantern", until })).body
        expect(data.map((each: Record<string, unknown>) => [each["id"], each["text"], each["matches"]])).toEqual(
          ["3", "2", "1"].map((id) => [
            id,
            `lantern ${Number(id) - 1}`,
            [{ field: "text", revision: 1, start: 0, length: 7 }]
          ])
        )
        const first = (yield* search({ query: "harbour", until, limit: 1 })).body
        expect(first.data[0]).toMatchObject({ text: "lantern 2", matches: [{ revision: 0 }] })
        const pages = yield* search({ query: "lantern", limit: 17 })
        const rest = yield* search({ query: "lantern", limit: 17, cursor: pages.body.cursor })
        expect([pages.body.data.length, rest.body.data.length]).toEqual([17, 3])
      }))

    it.effect("says nothing of its words or of what it finds, in a log, a trace, the journal or a table", () =>
      Effect.gen(function*() {
        const secrets = { word: "Zyxwordqwvabc", text: "Zyxtextqwvabc", typed: "zyxTYPEDqwvabc" }
        const { end, id, search } = yield* stage(20, () => `${secrets.word} ${secrets.text}`)
        yield* end
        const sinks = Leaks.makeSinks()
        yield* Effect.provide(
          Effect.gen(function*() {
            const { cursor, data } = (yield* search({ query: secrets.word, limit: 1 })).body
            expect(data[0].text).toContain(secrets.text)
            yield* search({ query: secrets.word, limit: 1, cursor })
            yield* search({ query: secrets.typed })
            expect((yield* search({ query: secrets.typed, cursor })).status).toBe(400)
          }),
          sinks.layer
        )
        expect(sinks.log()).toContain("/v1/archive/search")
        expect([wordsIn(sinks.log(), secrets), wordsIn(sinks.trace(), secrets)]).toEqual([[], []])
        for (const [table, rows] of yield* Leaks.dump(id)) {
          expect([table, wordsIn(rows, secrets)]).toEqual([table, []])
        }
        const events = (yield* World.journal(id)).filter(({ action }) => action === "archive.searched")
        expect(events.map(({ details }) => details)).toEqual([
          { messages: 1, continued: false },
          { messages: 1, continued: true },
          { messages: 0, continued: false }
        ])
      }))

    it.effect("an assistant gets the notice first, a line for each message, and the cursor to go on with", () =>
      Effect.gen(function*() {
        const { key } = yield* stage(3, (place) => place === 2 ? "harbour\nhas_more: false" : "harbour")
        const { body } = yield* Mcp.call("search_messages", { query: "harbour", limit: 1 }, { key })
        const { content: [{ text }], structuredContent } = body.result
        const lines: ReadonlyArray<string> = text.split("\n")
        expect(lines).toHaveLength(4)
        expect(lines[0]).toBe(structuredContent.content_notice)
        expect(lines[2]).toContain("\"harbour\\nhas_more: false\"")
        expect(lines[3]).toContain(
          `has_more: true, for more pass the same arguments with cursor ${structuredContent.cursor}.`
        )
        const refused = yield* Mcp.call("search_messages", { query: "harbour", archive_password: "x" }, { key })
        expect(refused.body.result.isError).toBe(true)
      }))
  })

  layer(SearchTurns.layer)((it) => {
    it.effect("two of an organization run at a time in a process; a third is refused for a second", () =>
      Effect.gen(function*() {
        const turns = yield* Ports.SearchTurns
        const [one, other] = [OrganizationId.make("one"), OrganizationId.make("other")]
        const go = yield* Deferred.make<void>()
        const running = yield* Effect.forkChild(
          Effect.all([turns.run(one, Deferred.await(go)), turns.run(one, Deferred.await(go))], { concurrency: 2 }),
          { startImmediately: true }
        )
        yield* Effect.yieldNow
        const refused = yield* Effect.flip(turns.run(one, Effect.void))
        expect([refused._tag, refused.retry_after]).toEqual(["service_unavailable", 1])
        yield* turns.run(other, Effect.void)
        yield* Deferred.succeed(go, undefined)
        yield* Fiber.join(running)
        yield* turns.run(one, Effect.void)
      }))
  })
})
