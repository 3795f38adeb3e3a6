import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { namedFiles } from "../../src/capture/CapturedFiles.ts"
import { saveFiles } from "../../src/capture/Media.ts"
import { OpenArchives } from "../../src/capture/OpenArchives.ts"
import { afterSighting } from "../../src/domain/archive/CapturedChat.ts"
import { ArchiveCrypto } from "../../src/ports/archive/ArchiveCrypto.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import { WaitingFiles } from "../../src/ports/archive/WaitingFiles.ts"
import type { MessageSeen } from "../../src/ports/messenger/MessengerArchive.ts"
import { drawnOf } from "../support/capture/drawnNumbers.ts"
import { claimedRun, livingProcess } from "../support/capture/livingProcess.ts"
import { account, rule, Stored, unpaced } from "../support/capture/memoryCapture.ts"
import { Platform } from "../support/capture/modelPlatform.ts"

const chatId = 101n
const messages = [1n, 2n, 3n, 4n, 5n]

const message = (id: bigint): MessageSeen => ({
  chatId,
  record: { id, at: 0, from: null, kind: "document", text: null, details: {} },
  editHidden: false,
  expiresAt: null,
  files: [{ messengerFile: `${id}`, name: null, mimeType: "x/y", bytes: 1, location: `${id}`, once: false }]
})

describe("files that a run saves", () => {
  it.effect("are counted while they are saved, every two seconds at most", () =>
    Effect.gen(function*() {
      const platform = new Platform(drawnOf(1), 0)
      const sighting = platform.sighting(platform.chats.get(chatId)!, true)
      const stored = new Stored()
      stored.setRules([rule(null, "archive", true, "all")])
      stored.keepChat(afterSighting(null, sighting, stored.judge(sighting), new Date(0), null))
      const model = livingProcess(stored)
      const open = Context.get(model, OpenArchives)
      const writer = yield* open.writer(account)
      const sha256 = (bytes: Uint8Array) =>
        Effect.succeed(new Uint8Array(crypto.createHash("sha256").update(bytes).digest()))
      const crypt = { sha256 } as unknown as ArchiveCrypto["Service"]
      const named = yield* Effect.provideService(namedFiles(account, messages.map(message)), ArchiveCrypto, crypt)
      let left = named.map(({ fileId, messageId }) => ({ fileId, chatId, messageId }))
      const process = model.pipe(
        Context.add(BlobStore, { isConfigured: true } as unknown as BlobStore["Service"]),
        Context.add(ArchiveCrypto, crypt),
        Context.add(OpenArchives, {
          ...open,
          writer: () =>
            Effect.succeed({ ...writer, storeFile: () => Effect.as(Effect.sleep("1500 millis"), "stored" as const) })
        }),
        Context.add(
          WaitingFiles,
          {
            next: () =>
              Effect.sync(() => {
                const next = left
                left = []
                return next
              }),
            isPending: () => Effect.succeed(true),
            giveUp: () => Effect.void,
            skip: () => Effect.void
          } as unknown as WaitingFiles["Service"]
        )
      )
      const reports: Array<number> = []
      const report = (tried: number) => Effect.sync(() => void reports.push(tried))
      const reader = {
        ...platform.reader,
        file: () => Stream.empty,
        messages: () => Effect.succeed(messages.map(message))
      }
      const saving = yield* Effect.forkChild(
        Effect.provideContext(saveFiles(claimedRun, { ...unpaced, reader }, report), process)
      )
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(saving)
      expect(reports).toEqual([2, 4])
    }))
})
