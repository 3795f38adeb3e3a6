/** The records of the store in memory, as capture asks for them. */
import { Effect } from "effect"
import type { ArchiveRecords } from "../../../src/ports/archive/ArchiveRecords.ts"
import type { Stored } from "./memoryCapture.ts"

export const memoryRecords = (stored: Stored) =>
  ({
    known: (_: unknown, chatId: bigint, ids: ReadonlyArray<bigint>) =>
      Effect.sync(() => new Set(ids.filter((id) => stored.messages.get(chatId)?.has(id) === true))),
    knownChanges: (_: unknown, chatId: bigint, ids: ReadonlyArray<bigint>) =>
      Effect.sync(() =>
        ids.flatMap((messageId) => {
          const found = stored.messages.get(chatId)?.get(messageId)
          if (found === undefined) return []
          const revisions = found.revisions.map(({ editedAt }) => ({ editDate: editedAt }))
          return [{ messageId, deleted: found.deleted, revisions }]
        })
      ),
    redacted: () => Effect.succeed(new Set()),
    between: (_: unknown, chatId: bigint, low: bigint, high: bigint) =>
      Effect.sync(() =>
        [...stored.messages.get(chatId)?.keys() ?? []]
          .filter((id) => id >= low && id <= high)
          .sort((one, other) => one < other ? -1 : 1)
      )
  }) as unknown as ArchiveRecords["Service"]
