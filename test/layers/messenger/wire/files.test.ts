import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import * as Keys from "../../../../src/layers/memory/MessengerKeys.ts"
import { SimulatedChats } from "../../../../src/layers/messenger/simulated/SimulatedChats.ts"
import { FileExpired, MessengerArchive } from "../../../../src/ports/messenger/MessengerArchive.ts"
import { MessengerAvailability } from "../../../../src/ports/messenger/MessengerAvailability.ts"
import { MessengerKeys } from "../../../../src/ports/messenger/MessengerKeys.ts"
import { MessengerSession, PlatformUnavailable } from "../../../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../../../src/ports/messenger/Ownership.ts"
import { Refusal } from "../../../support/dataCentre/Faults.ts"
import * as Wire from "../../../support/dataCentre/index.ts"

const wire = Layer.provideMerge(Layer.provide(Wire.layerOf(2), Ownership.layerAlone), Keys.layer)

const mebibyte = 1024 * 1024
const chatId = 901n
let accounts = 0

const contentOf = (name: string, bytes: number) => Buffer.alloc(bytes, name)
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

// The library has timers of its own, so that all of it is in real time.
layer(wire, { excludeTestServices: true })("files over the messenger's own protocol", (it) => {
  /** An account with one message for each file, and their locations. */
  const stage = Effect.fnUntraced(function*(...names: ReadonlyArray<readonly [string, number]>) {
    const { centres: [home, other], world } = yield* Wire.Loopback
    const chats = yield* Effect.map(Effect.serviceOption(SimulatedChats), Option.getOrThrow)
    const phone = `49155513${10_000 + ++accounts}`
    const userId = yield* world.createAccount({ phone, first_name: "Ada" })
    const ref = yield* world.connect(userId, { created_at: new Date(Date.now() - 2 * 86_400_000) })
    const session = yield* (yield* MessengerSession).open(ref)
    yield* session.profile
    const where = { userId, chatId, shared: false }
    const grace = { id: "901", name: "Grace Hopper", username: "grace" }
    yield* chats.join(userId, { chatId, type: "private", shared: false, title: "Grace", members: [] })
    for (const [name, bytes] of names) {
      const content = contentOf(name, bytes).toString("base64")
      const files = [{ messengerFile: name, name, mimeType: "application/pdf", content }]
      yield* chats.send(where, { from: grace, text: null, kind: "document", files })
    }
    const reader = yield* (yield* MessengerArchive).read(ref)
    const { chats: [chat] } = yield* reader.chats(null)
    const messages = (yield* reader.history(chat!.ref, null, 100)).messages.toReversed()
    const read = (at: number, from = 0) =>
      Stream.runCollect(reader.file(messages[at]!.files[0]!.location, from)).pipe(
        Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.fail(new PlatformUnavailable()) }),
        Effect.map((parts) => Buffer.concat([...parts]))
      )
    const keysAt = (centre: typeof home) => [...centre!.keys.values()].filter(({ of }) => of["ref"] === ref)
    /** The session protects its account as before. */
    const unharmed = Effect.gen(function*() {
      assert.strictEqual((yield* session.profile).first_name, "Ada")
      assert.isNull((yield* (yield* MessengerKeys).load(ref))?.doubtedAt ?? null)
      assert.deepStrictEqual(yield* (yield* MessengerAvailability).away, [])
    })
    return { chatRef: chat!.ref, home: home!, keysAt, messages, other: other!, read, reader, ref, unharmed }
  })

  it.effect("are read at the data centre that has them, which lets the account in once", () =>
    Effect.gen(function*() {
      const { keysAt, other, read, unharmed } = yield* stage(["a@2", 3], ["b@2", mebibyte + 1], ["moved@1>2", 5])
      for (const [at, name, bytes] of [[0, "a@2", 3], [1, "b@2", mebibyte + 1], [2, "moved@1>2", 5]] as const) {
        assert.strictEqual(digest(yield* read(at)), digest(contentOf(name, bytes)))
      }
      assert.lengthOf(keysAt(other), 1)
      yield* unharmed
    }))

  it.effect("wait where their data centre does not know its key any more, and nothing else is doubted", () =>
    Effect.gen(function*() {
      const { keysAt, other, read, unharmed } = yield* stage(["a@2", 3])
      yield* read(0)
      const [key] = keysAt(other)
      other.forget(key!)
      other.cut(key)
      yield* Effect.retry(read(0), { times: 3 })
      assert.lengthOf(keysAt(other), 2)
      yield* unharmed
    }))

  it.effect(
    "wait where their data centre is away, and the account is protected meanwhile",
    () =>
      Effect.gen(function*() {
        const { other, read, unharmed } = yield* stage(["a@2", 3])
        yield* Effect.promise(() => other.down())
        assert.instanceOf(yield* Effect.flip(read(0)), PlatformUnavailable)
        yield* unharmed
        yield* Effect.promise(() => other.up())
        const back = yield* stage(["b@2", 3])
        assert.strictEqual((yield* back.read(0)).length, 3)
      }),
    20_000
  )

  it.effect("have another location where theirs has expired, once their message is asked for again", () =>
    Effect.gen(function*() {
      const { chatRef, home, messages, read, reader, unharmed } = yield* stage(["a", 3], ["b@2", 3])
      for (const [at, text] of [[0, "FILE_REFERENCE_EXPIRED"], [0, "FILE_REFERENCE_INVALID"]] as const) {
        home.faults.push({ request: "upload.getFile", does: new Refusal(400, text), times: 1 })
        assert.instanceOf(yield* Effect.flip(read(at)), FileExpired)
        const [fresh] = yield* reader.messages(chatRef, [messages[at]!.record.id])
        const [file] = fresh!.files
        const parts = yield* Stream.runCollect(reader.file(file!.location, 0))
        assert.strictEqual(digest(Buffer.concat([...parts])), digest(contentOf("a", 3)))
      }
      yield* unharmed
    }))

  it.effect("wait where their data centre does not let the account in: the session has not ended", () =>
    Effect.gen(function*() {
      const { home, other, read, unharmed } = yield* stage(["a@2", 3])
      other.faults.push({ request: "upload.getFile", does: new Refusal(401, "AUTH_KEY_UNREGISTERED"), times: 3 })
      assert.instanceOf(yield* Effect.flip(read(0)), PlatformUnavailable)
      other.faults.length = 0
      yield* unharmed
      const second = yield* stage(["b@2", 3])
      home.faults.push({ request: "auth.exportAuthorization", does: new Refusal(420, "FLOOD_WAIT_7"), times: 1 })
      assert.instanceOf(yield* Effect.flip(second.read(0)), PlatformUnavailable)
      // It is not asked for again so soon.
      assert.instanceOf(yield* Effect.flip(second.read(0)), PlatformUnavailable)
      yield* second.unharmed
    }))
})
