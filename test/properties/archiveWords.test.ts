import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Archives from "../support/archive/archives.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { chat, chatId, commit, seen } = Archives

const word = (what: string) => `Zyx${what}qwv`
const secrets = ["text", "edit", "caption", "title", "name", "username", "member", "file", "forwarded"].map(word)

describe("what is stored of an archive", () => {
  layer(World.core(postgres))((it) => {
    it.effect("holds no word of a text, a title or a name, in any column of any table, in the tail and in pages", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { organizationId } = archive.account
        const scope = yield* Scope.make()
        const writer = yield* Effect.provideService(Archives.write(archive), Scope.Scope, scope)
        const info = { title: word("title"), username: word("username"), members_count: 1 }
        const from = { id: "1", name: word("name"), username: word("username") }
        const details = {
          caption: word("caption"),
          forwarded_from: word("forwarded"),
          files: [Archives.file(word("file"))]
        }
        yield* commit(archive, writer.see({ ...chat, info }))
        yield* commit(
          archive,
          writer.setMembers(chatId, [{
            id: "1",
            name: word("member"),
            username: null,
            phone: null,
            role: "member",
            joined_at: null,
            last_seen_in_chat_at: null
          }])
        )
        for (const path of ["live", "sweep"] as const) {
          const id = path === "live" ? 1 : 2
          yield* commit(archive, writer.append(chatId, [{ ...seen(id, 60, word("text"), details), from }], path))
          const edited = seen(id, 60, word("edit"), { edited_at: 1_800_000_000 })
          yield* commit(archive, writer.append(chatId, [edited], path))
          yield* commit(archive, writer.mark(chatId, [BigInt(id)], "deleted", path))
        }
        const found = Effect.map(World.snapshot(organizationId), (tables) => {
          const hex = (text: string) => Buffer.from(text).toString("hex")
          return Object.entries(tables).flatMap(([table, rows]) => {
            const text = JSON.stringify(rows)
            return secrets.filter((secret) => text.includes(secret) || text.includes(hex(secret))).map((secret) => [
              table,
              secret
            ])
          })
        })
        expect(yield* found).toEqual([])
        yield* TestClock.adjust("2 days")
        yield* writer.close("due")
        yield* Scope.close(scope, Exit.void)
        expect(yield* found).toEqual([])
        // The search would find one.
        yield* World.set(organizationId, "organization", organizationId, { name: word("text") })
        expect(yield* found).toEqual([["organization", word("text")]])
      }))
  })
})
