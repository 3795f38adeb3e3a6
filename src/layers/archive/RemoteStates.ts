/**
 * The parts of answers that readers ask for next: the states of messages come with their pages, and epochs' keys with
 * what is sealed under them.
 *
 * Law: a state is at most seconds old. An epoch's key never changes.
 */
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type { SealedPageList } from "../../domain/archive/SealedArchive.ts"
import type { ChangesPart, MessageChanges, MessageName, StoredFile } from "../../ports/archive/ArchivePages.ts"
import type { ArchivedAccount, SealedEpoch } from "../../ports/archive/Epochs.ts"
import { SealedArchive } from "../../ports/archive/SealedArchive.ts"
import { LruCache } from "../LruCache.ts"
import { bytesOf, framesOf } from "./RemoteBytes.ts"

/** The edits, the deletion and the files of a message. */
interface KnownState {
  readonly at: number
  readonly change: MessageChanges | null
  readonly files: ReadonlyArray<StoredFile>
}

type AttachedStates = Pick<SealedPageList, "epochs" | "files" | "frames" | "states">

/** Milliseconds that a state is used for. */
const freshFor = 5000
const statesKept = 20_000
const epochsKept = 20_000
const idsAtOnce = 200
const epochsAtOnce = 600

const nameOf = (accountId: string, chatId: bigint | string, id: bigint | string) => `${accountId} ${chatId} ${id}`

export class RemoteStates extends Context.Service<RemoteStates, {
  /** Keeps what an answer brings besides its pages; `stated` are the messages whose states are complete in it. */
  keep(
    answer: AttachedStates,
    stated: ReadonlyArray<{ readonly accountId: AccountId; readonly chatId: bigint; readonly id: bigint }>
  ): Effect.Effect<void>
  changes(account: ArchivedAccount, messages: ReadonlyArray<MessageName>, bytes: number): Effect.Effect<ChangesPart>
  files(account: ArchivedAccount, messages: ReadonlyArray<MessageName>): Effect.Effect<ReadonlyArray<StoredFile>>
  epochs(account: ArchivedAccount, ids: ReadonlyArray<bigint>): Effect.Effect<ReadonlyArray<SealedEpoch>>
}>()("org-security-console/layers/archive/RemoteStates") {}

const changesOf = ({ frames, states }: AttachedStates) => {
  const sealed = new Map(frames.map((each) => [`${each.account_id} ${each.number}`, framesOf(each)]))
  return new Map(states.map((state): [string, MessageChanges] => [
    nameOf(state.account_id, state.chat_id, state.message_id),
    {
      chatId: BigInt(state.chat_id),
      messageId: BigInt(state.message_id),
      edits: state.edits ?? state.edit_dates.length,
      editDates: state.edit_dates,
      deletedAt: state.deleted_at,
      deletedWhy: state.deleted_reason,
      newest: state.newest === null ? null : sealed.get(`${state.account_id} ${state.newest}`) ?? null
    }
  ]))
}

const filesOf = ({ files }: AttachedStates) =>
  Map.groupBy(files, ({ account_id, chat_id, message_id }) => nameOf(account_id, chat_id, message_id))

const fileOf = (
  { at, chat_id, file, message_id, reason, sha256, state }: AttachedStates["files"][number]
): StoredFile => ({
  chatId: BigInt(chat_id),
  messageId: BigInt(message_id),
  fileId: file,
  state,
  reason,
  sha256: sha256 === null ? null : bytesOf(sha256),
  at
})

export const layer = Layer.effect(
  RemoteStates,
  Effect.gen(function*() {
    const service = yield* SealedArchive
    const states = new LruCache<KnownState>(statesKept)
    const epochs = new LruCache<SealedEpoch>(epochsKept)
    const asking = Semaphore.makeUnsafe(1)

    const keep: RemoteStates["Service"]["keep"] = Effect.fnUntraced(function*(answer, stated) {
      const at = yield* Clock.currentTimeMillis
      for (const { account_id, epoch_id, key_id, sealed_key } of answer.epochs) {
        const sealedKey = sealed_key === null ? null : bytesOf(sealed_key)
        epochs.set(`${account_id} ${epoch_id}`, { epochId: BigInt(epoch_id), keyId: key_id, sealedKey })
      }
      const changes = changesOf(answer)
      const files = filesOf(answer)
      for (const { accountId, chatId, id } of stated) {
        const name = nameOf(accountId, chatId, id)
        states.set(name, { at, change: changes.get(name) ?? null, files: (files.get(name) ?? []).map(fileOf) })
      }
    })

    /** Asks for the states of messages of a chat; they are kept from the first on, as many as one answer has. */
    const ask = Effect.fnUntraced(function*(accountId: AccountId, chatId: bigint, ids: ReadonlyArray<bigint>) {
      const asked = ids.slice(0, idsAtOnce)
      const request = { states: { chat_id: String(chatId), message_ids: asked.map(String) } }
      const answer = yield* Effect.orDie(service.pages(accountId, request))
      const stated = asked.slice(0, Math.max(1, answer.stated))
      yield* keep(answer, stated.map((id) => ({ accountId, chatId, id })))
    })

    /**
     * The states from the first on whose frames are within the bytes. It asks for those that are not known, for all that
     * ask meanwhile.
     */
    const known = Effect.fnUntraced(
      function*({ accountId }: ArchivedAccount, messages: ReadonlyArray<MessageName>, bytes: number) {
        const found: Array<KnownState> = []
        const framed = new Set<bigint>()
        const oldest = (yield* Clock.currentTimeMillis) - freshFor
        const fresh = ({ chatId, messageId }: MessageName) => {
          const state = states.peek(nameOf(accountId, chatId, messageId))
          return state !== undefined && state.at >= oldest ? state : undefined
        }
        let left = bytes
        for (const [place, message] of messages.entries()) {
          const { chatId } = message
          if (fresh(message) === undefined) {
            const missing = messages.slice(place).filter((each) => each.chatId === chatId && fresh(each) === undefined)
            yield* ask(accountId, chatId, missing.map(({ messageId }) => messageId))
          }
          const state = fresh(message)
          if (state === undefined) return yield* Effect.die(new Error("A state was not kept"))
          const newest = state.change?.newest ?? null
          if (newest !== null && !framed.has(newest.number)) {
            left -= newest.sealed.length
            if (left < 0 && framed.size > 0) break
            framed.add(newest.number)
          }
          found.push(state)
        }
        return found
      },
      asking.withPermit
    )

    return RemoteStates.of({
      keep,
      changes: (account, messages, bytes) =>
        Effect.map(known(account, messages, bytes), (found) => ({
          changes: found.flatMap(({ change }) => change ?? []),
          stated: found.length
        })),
      files: (account, messages) =>
        Effect.map(known(account, messages, Infinity), (found) => found.flatMap((state) => state.files)),
      epochs: Effect.fnUntraced(function*({ accountId }, ids) {
        const nameOfEpoch = (id: bigint) => `${accountId} ${id}`
        const missing = ids.filter((id) => !epochs.has(nameOfEpoch(id)))
        for (let at = 0; at < missing.length; at += epochsAtOnce) {
          const request = { epochs: missing.slice(at, at + epochsAtOnce).map(String) }
          yield* keep(yield* Effect.orDie(service.pages(accountId, request)), [])
        }
        return ids.flatMap((id) => epochs.peek(nameOfEpoch(id)) ?? [])
      })
    })
  })
)
