import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { type ScriptedAnswer, SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
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

/** The number of contents that are read now. */
const writing = (organizationId: string) =>
  Effect.map(
    World.query(
      organizationId,
      (sql) => sql`select 1 from archive_blob where organization_id = ${organizationId} and state = 'writing'`
    ),
    (rows) => rows.length
  )

/** A run that an admin asks for. */
const backUp = Effect.fnUntraced(
  function*({ account, admins }: Effect.Success<ReturnType<typeof Captured.stageCapture>>) {
    yield* World.send("POST", `/v1/accounts/${account.id}/archive/backup`, { key: admins.owner.key })
    const running = yield* Effect.forkChild(Captured.runs)
    yield* Captured.passes("5 seconds")
    yield* Fiber.join(running)
  }
)

/** A chat that is archived, with one file that waits; its state and reason, answers to its reading, changes of the rule. */
const oneWaits = Effect.fnUntraced(function*() {
  const staged = yield* Captured.stageCapture()
  const rule = yield* makeRule(staged.id, "any", { live: false })
  const { chats, where } = yield* Captured.converse(staged, 1)
  const platform = yield* SimulatedPlatform
  yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("one", 10)] })
  yield* Captured.runs
  yield* World.query(
    staged.id,
    (sql) => sql`update archive_file set state = 'pending', blob_id = null where organization_id = ${staged.id}`
  )
  yield* World.query(staged.id, (sql) => sql`delete from archive_blob where organization_id = ${staged.id}`)
  return {
    staged,
    answers: (answer: ScriptedAnswer, times: number) =>
      platform.script({ operation: "read_file", userId: staged.account.userId, answer, times }),
    file: Effect.map(states(staged.id), ([one]) => [one?.state, one?.reason]),
    patch: (body: object) => World.send("PATCH", `/v1/archive/rules/${rule}`, { key: staged.admins.owner.key, body })
  }
})

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

    it.effect("are given up once the messenger has refused them in three nights, and asked for again by a new rule", () =>
      Effect.gen(function*() {
        const { answers, file: read, patch, staged } = yield* oneWaits()
        const waiting = ["pending", null]
        yield* answers({ _tag: "Refused", reason: "X" }, 3)
        for (let night = 1; night <= 3; night++) {
          for (let run = 1; run <= 3; run++) {
            yield* backUp(staged)
            expect(yield* read).toEqual(night < 3 ? waiting : ["failed", "refused"])
          }
          yield* TestClock.adjust("1 day")
        }
        const failed = Effect.map(
          World.get("/v1/status", staged.admins.owner.key),
          ({ body }) => body.saving.failed_files
        )
        expect(yield* failed).toBe(1)
        yield* patch({ max_file_bytes: 1000 })
        yield* Captured.runs
        expect(yield* failed).toBe(0)
        expect(yield* read).toEqual(["saved", null])
      }))

    it.effect("wait for as long as the messenger is away, without using up a try", () =>
      Effect.gen(function*() {
        const { answers, file: read, patch, staged } = yield* oneWaits()
        yield* answers({ _tag: "Unavailable" }, 1000)
        for (let night = 1; night <= 4; night++) {
          yield* backUp(staged)
          expect(yield* read).toEqual(["pending", null])
          yield* TestClock.adjust("1 day")
        }
        yield* patch({ effect: "skip" })
      }))

    it.effect("that the messenger did not answer for are tried at once by a backup that an admin asks for", () =>
      Effect.gen(function*() {
        const { answers, file: read, staged } = yield* oneWaits()
        yield* answers({ _tag: "Unavailable" }, 4)
        yield* backUp(staged)
        expect(yield* read).toEqual(["pending", null])
        yield* backUp(staged)
        expect(yield* read).toEqual(["saved", null])
      }))

    it.effect("wait while their chat is not archived, and are saved once it is again", () =>
      Effect.gen(function*() {
        const { file: read, patch, staged } = yield* oneWaits()
        yield* patch({ effect: "skip" })
        for (let night = 1; night <= 4; night++) {
          yield* backUp(staged)
          expect(yield* read).toEqual(["pending", null])
          yield* TestClock.adjust("1 day")
        }
        yield* patch({ effect: "archive" })
        yield* backUp(staged)
        expect(yield* read).toEqual(["saved", null])
      }))

    it.effect("of an account that moves are judged by the rules of its new department at once", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        const { key } = staged.admins.owner
        const departmentWith = Effect.fnUntraced(function*(effect: string) {
          const id = yield* World.makeDepartment(staged.id)
          const body = { target: { level: "department", id }, selector: { chat_type: "any", chat_id: null }, effect }
          expect((yield* World.send("POST", "/v1/archive/rules", { key, body })).status).toBe(200)
          return id
        })
        const [first, second, skipping] = [
          yield* departmentWith("archive"),
          yield* departmentWith("archive"),
          yield* departmentWith("skip")
        ]
        const move = Effect.fnUntraced(function*(department_id: string) {
          const { status } = yield* World.put(`/v1/accounts/${staged.account.id}/department`, key, { department_id })
          expect(status).toBe(200)
        })
        yield* move(first)
        const { chats, where } = yield* Captured.converse(staged, 1)
        yield* Captured.runs
        yield* move(second)
        yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("moved", 10)] })
        yield* Captured.passes("3 seconds")
        expect((yield* states(staged.id)).map(({ reason, state }) => [state, reason])).toEqual([["saved", null]])
        yield* move(skipping)
        const effects = yield* World.query<{ effect: string }>(
          staged.id,
          (sql) =>
            sql`select effect from archive_chat where organization_id = ${staged.id} and chat_id = ${where.chatId}`
        )
        expect(effects).toEqual([{ effect: "skip" }])
      }))

    it.effect("are not read any more once a rule leaves them out, or their chat, while others are read", () =>
      Effect.gen(function*() {
        for (const [change, left] of [[{ media: "none" }, "skipped"], [{ effect: "skip" }, "pending"]] as const) {
          const staged = yield* Captured.stageCapture()
          const rule = yield* makeRule(staged.id, "any", { live: false })
          const { chats, where } = yield* Captured.converse(staged, 1)
          for (const name of ["one", "two", "three", "four", "five"]) {
            yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file(name, 10)] })
          }
          const platform = yield* SimulatedPlatform
          const { userId } = staged.account
          yield* platform.script({
            operation: "read_file",
            userId,
            answer: { _tag: "Slow", milliseconds: 2000 },
            times: 5
          })
          const running = yield* Effect.forkChild(Captured.runs)
          for (let waited = 0; waited < 50 && (yield* writing(staged.id)) < 2; waited++) {
            yield* Captured.passes("100 millis")
          }
          expect(yield* writing(staged.id)).toBe(2)
          const { status } = yield* World.send("PATCH", `/v1/archive/rules/${rule}`, {
            key: staged.admins.owner.key,
            body: change
          })
          expect(status).toBe(200)
          yield* Captured.passes("8 seconds")
          yield* Fiber.join(running)
          const found = (yield* states(staged.id)).map(({ state }) => state)
          expect(found.toSorted()).toEqual([left, left, left, "saved", "saved"].toSorted())
        }
      }))

    it.effect("are skipped where the rules leave them out, and saved once a rule has them", () =>
      Effect.gen(function*() {
        const staged = yield* Captured.stageCapture()
        const rule = yield* makeRule(staged.id, "any", { maxFileBytes: 100 })
        const { chats, where } = yield* Captured.converse(staged, 1)
        yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("fits", 100)] })
        yield* chats.send(where, { from: Captured.grace, text: null, kind: "document", files: [file("large", 101)] })
        yield* Captured.runsInTime
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
        yield* Captured.runsInTime
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
