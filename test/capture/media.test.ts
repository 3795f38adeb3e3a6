import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import * as Captured from "../support/archive/captured.ts"
import { makeRule } from "../support/archive/rules.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** A file with so many bytes, which its name decides. */
const file = (name: string, bytes: number) => ({
  messengerFile: name,
  name,
  mimeType: "application/pdf",
  content: Buffer.alloc(bytes, name).toString("base64")
})

const digest = (name: string, bytes: number) =>
  crypto.createHash("sha256").update(Buffer.alloc(bytes, name)).digest("hex")

/** States of the account's files, with the reasons and digests of their contents, in the order of their messages. */
const states = (organizationId: string) =>
  World.query<{ state: string; reason: string | null; sha256: string | null }>(
    organizationId,
    (sql) =>
      sql`select archive_file.state, reason, encode(sha256, 'hex') as sha256 from archive_file
        left join archive_blob using (organization_id, account_id, blob_id)
        where archive_file.organization_id = ${organizationId} order by chat_id, message_id`
  )

describe("the files of captured messages", () => {
  layer(Captured.watch.pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("are saved by a run, each content once", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { chats, where } = yield* Captured.converse(staged, 1)
        const large = 1024 * 1024 + 1
        for (const sent of [file("empty", 0), file("small", 10), file("large", large), file("small", 10)]) {
          yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [sent] })
        }
        yield* Captured.runs
        expect(yield* states(staged.id)).toEqual(
          [["empty", 0], ["small", 10], ["large", large], ["small", 10]].map(([name, bytes]) => ({
            state: "saved",
            reason: null,
            sha256: digest(String(name), Number(bytes))
          }))
        )
        const blobs = yield* World.query<{ blobs: number }>(
          staged.id,
          (sql) => sql`select count(*)::integer as blobs from archive_blob where organization_id = ${staged.id}`
        )
        expect(blobs).toEqual([{ blobs: 3 }])
      }))

    it.effect("are saved as they are pushed, and leave what waits for the night alone", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        yield* makeRule(staged.id, "any")
        const { chats, where } = yield* Captured.converse(staged, 1)
        const send = (name: string) =>
          chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file(name, 10)] })
        yield* send("waits")
        yield* Captured.runs
        yield* World.query(
          staged.id,
          (sql) =>
            sql`update archive_file set state = 'pending', attempts = 1, blob_id = null
            where organization_id = ${staged.id}`
        )
        for (const name of ["one", "two", "three", "four"]) {
          yield* send(name)
          yield* Captured.passes("1 second")
        }
        yield* Captured.passes("2 seconds")
        expect((yield* states(staged.id)).map(({ state }) => state)).toEqual([
          "pending",
          "saved",
          "saved",
          "saved",
          "saved"
        ])
        const tries = yield* World.query<{ attempts: number }>(
          staged.id,
          (sql) => sql`select attempts from archive_file where organization_id = ${staged.id} and state = 'pending'`
        )
        expect(tries).toEqual([{ attempts: 1 }])
      }))

    it.effect("are skipped where the rules leave them out, and saved once a rule has them", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        const rule = yield* makeRule(staged.id, "any", { maxFileBytes: 100 })
        const { chats, where } = yield* Captured.converse(staged, 1)
        yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("fits", 100)] })
        yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("large", 101)] })
        yield* Captured.runs
        expect((yield* states(staged.id)).map(({ reason, state }) => [state, reason])).toEqual([
          ["saved", null],
          ["skipped", "size"]
        ])
        const { status } = yield* World.send("PATCH", `/v1/archive/rules/${rule}`, {
          key: staged.admins.owner.key,
          body: { max_file_bytes: null }
        })
        expect(status).toBe(200)
        yield* TestClock.adjust("1 day")
        yield* Captured.runs
        expect((yield* states(staged.id)).map(({ state }) => state)).toEqual(["saved", "saved"])
        yield* World.send("DELETE", `/v1/archive/rules/${rule}`, { key: staged.admins.owner.key })
        const events = (yield* World.journal(staged.id)).filter(({ target_id }) => target_id === rule)
        expect(events.map(({ action, details }) => [action, details["effect"]])).toEqual([
          ["archive_rule.updated", "archive"],
          ["archive_rule.deleted", "archive"]
        ])
      }))
  })
})
