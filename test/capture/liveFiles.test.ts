import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Semaphore, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { makeLiveFiles } from "../../src/capture/LiveFiles.ts"
import { OpenArchives } from "../../src/capture/OpenArchives.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import { ArchiveCrypto } from "../../src/ports/archive/ArchiveCrypto.ts"
import type { AccountArchive } from "../../src/ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { WaitingFiles } from "../../src/ports/archive/WaitingFiles.ts"
import {
  type ChatFeed,
  type ChatReader,
  FileExpired,
  FileGone,
  type MessageSeen,
  type Push
} from "../../src/ports/messenger/MessengerArchive.ts"
import { PlatformBusy, PlatformUnavailable } from "../../src/ports/messenger/MessengerSession.ts"
import { livingProcess } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"

const chatId = 101n

const message = (id: number, names: ReadonlyArray<string>): MessageSeen => ({
  chatId,
  record: { id: BigInt(id), at: 0, from: null, kind: "document", text: null, details: {} },
  editHidden: false,
  expiresAt: null,
  files: names.map((name) => ({
    messengerFile: name,
    name,
    mimeType: "text/plain",
    bytes: 1,
    location: name,
    once: false
  }))
})

const pushed = (id: number, names: ReadonlyArray<string>): Push => ({
  _tag: "Pushed",
  box: "common",
  position: id,
  count: 1,
  chats: [],
  change: { _tag: "New", message: message(id, names) }
})

const sighting = {
  chatId,
  type: "private" as const,
  ref: String(chatId),
  protected: false,
  joinedAt: null,
  left: false,
  migratedTo: null,
  topId: null,
  position: null,
  members: null
}

/** A process that archives the chat live, with its files or without. */
const modelProcess = (media: "all" | "none") => {
  const stored = new Stored()
  stored.setRules([rule(null, "archive", true, media)])
  stored.keepChat(afterSighting(null, sighting, stored.judge(sighting), new Date(0), null))
  return livingProcess(stored)
}

type Answer = FileExpired | FileGone | PlatformBusy | PlatformUnavailable

/** Files of an account that is archived live; `answers` are the failures of locations, in their order. */
const stage = Effect.fnUntraced(function*(
  answers: Readonly<Record<string, ReadonlyArray<Answer>>>,
  { isPending = true, media = "all" as "all" | "none" } = {}
) {
  const read: Array<string> = []
  const gone: Array<string> = []
  const asked: Array<bigint> = []
  const reader: Pick<ChatReader, "file" | "messages"> = {
    file: (location) => {
      const failure = answers[location]?.[read.filter((one) => one === location).length]
      read.push(location)
      return failure === undefined ? Stream.make(new Uint8Array(1)) : Stream.fail(failure)
    },
    messages: (_, ids) =>
      Effect.sync(() => {
        asked.push(...ids)
        return ids.map((id) => message(Number(id), [`file ${id}`]))
      })
  }
  const saved: Array<string> = []
  const archive: Pick<AccountArchive, "storeFile"> = {
    storeFile: (_, { content, messengerFile }) =>
      Effect.as(
        Effect.andThen(Stream.runDrain(content), Effect.sync(() => void saved.push(messengerFile))),
        "stored" as const
      )
  }
  const services = modelProcess(media).pipe(
    Context.add(BlobStore, { isConfigured: true } as unknown as BlobStore["Service"]),
    Context.add(
      ArchiveCrypto,
      {
        sha256: (bytes: Uint8Array) =>
          Effect.succeed(new Uint8Array(crypto.createHash("sha256").update(bytes).digest()))
      } as unknown as ArchiveCrypto["Service"]
    ),
    (known) =>
      Context.add(known, OpenArchives, {
        ...Context.get(known, OpenArchives),
        writer: () => Effect.succeed(archive as AccountArchive)
      }),
    Context.add(
      WaitingFiles,
      {
        isPending: () => Effect.succeed(isPending),
        skip: () => Effect.void,
        giveUp: (_: unknown, files: ReadonlyArray<string>) => Effect.sync(() => void gone.push(...files))
      } as unknown as WaitingFiles["Service"]
    )
  )
  const feed = {} as ChatFeed
  const connections = { ...unpaced, reader: reader as ChatReader, mediaPlaces: Semaphore.makeUnsafe(1) }
  const files = yield* Effect.provideContext(
    makeLiveFiles(account, { feed, reading: Effect.succeed(connections) }, { waiting: [], isReading: false }),
    services
  )
  const take = (...pushes: ReadonlyArray<Push>) =>
    Effect.provideContext(
      Effect.gen(function*() {
        files.note(pushes)
        yield* files.begin
        for (let pause = 0; pause < 20; pause++) yield* TestClock.adjust("1 second")
      }),
      services
    )
  return { asked, gone, read, saved, take }
})

describe("files of messages that are pushed", () => {
  it.effect("are read with the location in hand, each once", () =>
    Effect.gen(function*() {
      const { asked, saved, take } = yield* stage({})
      yield* take(pushed(1, ["a", "b"]), pushed(2, []), pushed(3, ["c"]))
      expect(saved).toEqual(["a", "b", "c"])
      expect(asked).toEqual([])
    }))

  it.effect("are asked for again once where their location has expired, and given up where they are gone", () =>
    Effect.gen(function*() {
      const { asked, gone, read, saved, take } = yield* stage({
        "file 1": [new FileExpired()],
        "file 2": [new FileExpired(), new FileExpired()],
        lost: [new FileGone()]
      })
      yield* take(pushed(1, ["file 1"]), pushed(2, ["file 2"]), pushed(3, ["lost"]))
      expect(asked).toEqual([1n, 2n])
      expect(saved).toEqual(["file 1"])
      expect(gone).toHaveLength(1)
      expect(read).toEqual(["file 1", "file 1", "file 2", "file 2", "lost"])
    }))

  it.effect("are left to the next run where they cannot be read, and those after them are read", () =>
    Effect.gen(function*() {
      const { gone, saved, take } = yield* stage({
        away: Array.from({ length: 9 }, () => new PlatformUnavailable()),
        flood: Array.from({ length: 4 }, () => new PlatformBusy({ retryAfterSeconds: 1 }))
      })
      yield* take(pushed(1, ["away"]), pushed(2, ["flood"]), pushed(3, ["after"]))
      expect(saved).toEqual(["after"])
      expect(gone).toEqual([])
    }))

  it.effect("wait while the messenger asks to, and not for longer than five minutes", () =>
    Effect.gen(function*() {
      const { saved, take } = yield* stage({ flood: [new PlatformBusy({ retryAfterSeconds: 86_400 })] })
      yield* take(pushed(1, ["flood"]), pushed(2, ["after"]))
      expect(saved).toEqual([])
      yield* TestClock.adjust("5 minutes")
      yield* take()
      expect(saved).toEqual(["after"])
    }))

  it.effect("are not read where they are saved already or the rules leave them out", () =>
    Effect.gen(function*() {
      for (const without of [{ isPending: false }, { media: "none" as const }]) {
        const { read, take } = yield* stage({}, without)
        yield* take(pushed(1, ["a"]))
        expect(read).toEqual([])
      }
    }))

  it.effect("find a hundred places, and are left to the next run beyond them", () =>
    Effect.gen(function*() {
      const { saved, take } = yield* stage({ first: [new PlatformBusy({ retryAfterSeconds: 300 })] })
      yield* take(pushed(1, ["first"]))
      yield* take(...Array.from({ length: 80 }, (_, n) => pushed(n + 2, [`${n} a`, `${n} b`])))
      yield* TestClock.adjust("5 minutes")
      yield* take()
      expect(saved).toHaveLength(100)
    }))
})
