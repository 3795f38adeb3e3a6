/** The ports of capture in memory, with transactions that are rolled back, and deaths before or after a commit. */
import { Context, Effect, Semaphore, Stream } from "effect"
import { OpenArchives } from "../../../src/capture/OpenArchives.ts"
import { ComparedAge } from "../../../src/capture/Unchecked.ts"
import type { AccountFacts } from "../../../src/domain/accounts/Account.ts"
import type { RuleInEffect } from "../../../src/domain/archive/ArchiveRule.ts"
import { afterSelection, type CapturedChat, isOfCommonBox, isSaved } from "../../../src/domain/archive/CapturedChat.ts"
import { type KnownRevision, newestEdit, sift } from "../../../src/domain/archive/Revisions.ts"
import { select } from "../../../src/domain/archive/RuleSelection.ts"
import type { OrganizationFacts } from "../../../src/domain/organization/Organization.ts"
import { Accounts } from "../../../src/ports/accounts/Accounts.ts"
import { ArchiveCrypto } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { ArchiveRecords } from "../../../src/ports/archive/ArchiveRecords.ts"
import { ArchiveRules } from "../../../src/ports/archive/ArchiveRules.ts"
import { ArchiveRuns } from "../../../src/ports/archive/ArchiveRuns.ts"
import type { AccountArchive, SeenMessage } from "../../../src/ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { CaptureStore } from "../../../src/ports/archive/CaptureStore.ts"
import type { ArchivedAccount } from "../../../src/ports/archive/Epochs.ts"
import { WaitingFiles } from "../../../src/ports/archive/WaitingFiles.ts"
import { Db } from "../../../src/ports/Db.ts"
import { Journal } from "../../../src/ports/journal/Journal.ts"
import type { BoxState } from "../../../src/ports/messenger/MessengerArchive.ts"
import { Ownership } from "../../../src/ports/messenger/Ownership.ts"
import { Organizations } from "../../../src/ports/organization/Organizations.ts"
import { type CaptureGround, type Commits, InTransaction, Killed } from "./captureGround.ts"
import { memoryRecords } from "./memoryRecords.ts"

/** A message as it is stored; the text of a revision is its mark. */
interface StoredMessage {
  /** In the order in which they were stored, the first one as the message. */
  readonly revisions: ReadonlyArray<KnownRevision>
  readonly deleted: boolean
}

interface Expiring {
  readonly chatId: bigint
  readonly id: bigint
  readonly expiresAt: Date
}

export const account: ArchivedAccount = {
  organizationId: "organization" as any,
  accountId: "00000000-0000-7000-8000-000000000001" as any
}

/** An organization with a plan and a key. */
export const organization = {
  id: account.organizationId,
  status: "active",
  managed: true,
  billing_state: "active",
  plan: "archive",
  archive_key_set: true,
  archive_first_record_at: null,
  archive_deleted_at: null,
  archive_deletion_started_at: null,
  archive_held_at: null,
  archive_plan_ended_at: null,
  storage_limit_bytes: null,
  storage_used_bytes: 0
} as unknown as OrganizationFacts

export const rule = (
  chatId: bigint | null,
  effect: RuleInEffect["effect"],
  live: boolean,
  media: RuleInEffect["media"] = "none"
): RuleInEffect => ({
  ruleId: `${chatId} ${effect} ${live}`,
  level: "account",
  chatType: chatId === null ? "any" : null,
  chatId,
  effect,
  media,
  maxFileBytes: null,
  live
})

const atOnce = { take: Effect.void }

/** Connections that wait for no turn. */
export const unpaced = { pacer: atOnce, mediaPacer: atOnce, mediaPlaces: Semaphore.makeUnsafe(1) }

/** What is stored. */
export class Stored {
  readonly chats = new Map<bigint, CapturedChat>()
  readonly messages = new Map<bigint, Map<bigint, StoredMessage>>()
  readonly expiry = new Map<string, Expiring>()
  state: BoxState | null = null
  drift = 0
  rules: ReadonlyArray<RuleInEffect> = []
  private undo: Array<() => void> = []

  private set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key)
    const had = map.has(key)
    this.undo.push(() => had ? map.set(key, before as Value) : map.delete(key))
    map.set(key, value)
  }

  keepChat(chat: CapturedChat): void {
    this.set(this.chats, chat.chatId, chat)
  }

  ofChat(chatId: bigint): Map<bigint, StoredMessage> {
    const known = this.messages.get(chatId)
    if (known !== undefined) return known
    const made = new Map<bigint, StoredMessage>()
    this.messages.set(chatId, made)
    return made
  }

  keepMessage(chatId: bigint, id: bigint, archived: StoredMessage): void {
    this.set(this.ofChat(chatId), id, archived)
    const chat = this.chats.get(chatId)
    if (chat !== undefined && (chat.lastId === null || chat.lastId < id)) this.keepChat({ ...chat, lastId: id })
  }

  keepExpiry(expiring: Expiring): void {
    this.set(this.expiry, `${expiring.chatId} ${expiring.id}`, expiring)
  }

  forgetExpiry(expiring: Expiring): void {
    this.keepExpiry(expiring)
    this.expiry.delete(`${expiring.chatId} ${expiring.id}`)
  }

  keepState(state: BoxState): void {
    const before = this.state
    this.undo.push(() => void (this.state = before))
    this.state = state
  }

  begin(): void {
    this.undo = []
  }

  rollBack(): void {
    for (const undo of this.undo.toReversed()) undo()
    this.undo = []
  }

  /** The rules are others: the chats are judged again. */
  setRules(rules: ReadonlyArray<RuleInEffect>): void {
    this.rules = rules
    for (const chat of this.chats.values()) this.keepChat(afterSelection(chat, this.judge(chat)))
  }

  judge(chat: Pick<CapturedChat, "chatId" | "type">) {
    const before = [...this.chats.values()].find(({ migratedTo }) => migratedTo === chat.chatId)
    const predecessor = before === undefined ? null : select(this.rules, { ...before, predecessor: null })
    return select(this.rules, { chatId: chat.chatId, type: chat.type, predecessor })
  }
}

const isIn = (stored: Stored, chatId: bigint) => (id: bigint) => stored.messages.get(chatId)?.has(id) === true

/** The archive's writer, as capture uses it. */
const archiveOf = (stored: Stored, breach: (law: string) => void): AccountArchive => ({
  frames: () => 0,
  see: () => Effect.void,
  setMembers: () => Effect.void,
  storeFile: () => Effect.succeed("gone" as const),
  append: (chatId, messages: ReadonlyArray<SeenMessage>, _path, late) =>
    Effect.sync(() => {
      const chat = stored.chats.get(chatId)
      if (chat === undefined || stored.judge(chat).effect !== "archive") breach(`A3: ${chatId} is not selected`)
      const there = stored.ofChat(chatId)
      const known = new Map(messages.flatMap(({ id }) => {
        const revisions = there.get(id)?.revisions
        return revisions === undefined ? [] : [[id, revisions] as const]
      }))
      const seen = messages.map((message) => ({
        id: message.id,
        message,
        editedAt: message.details.edited_at ?? 0,
        mark: message.text
      }))
      const { fresh, revised } = sift(seen, known, late === "late")
      for (const { editedAt, id, mark } of fresh) {
        stored.keepMessage(chatId, id, { deleted: false, revisions: [{ editedAt, mark, late: false, place: 0 }] })
      }
      for (const { editedAt, id, late, mark, place } of revised) {
        const known = there.get(id)
        if (known === undefined) continue
        stored.keepMessage(chatId, id, { ...known, revisions: [...known.revisions, { editedAt, mark, late, place }] })
      }
      return fresh.map(({ id }) => id)
    }),
  mark: (chatId, ids) =>
    Effect.sync(() => {
      for (const id of ids) {
        const known = stored.messages.get(chatId)?.get(id)
        if (known !== undefined && !known.deleted) stored.keepMessage(chatId, id, { ...known, deleted: true })
      }
    }),
  close: () => Effect.void,
  renew: () => Effect.void
})

/** Facts of an account that is archived. */
const facts = {
  licence_tier: "archive",
  session_ref: "session",
  archive_selects: true,
  monitoring_state: "active",
  offboarded_at: null,
  stopped_at: null,
  stop_reason: null,
  paused_at: null,
  archive_chats_selected: 0,
  archive_chats_stopped: 0,
  archive_cleanup_running: false,
  archive_error: null,
  archive_retry_at: null
} as unknown as AccountFacts

/** The model saves no contents. */
const unconfigured: BlobStore["Service"] = {
  isConfigured: false,
  put: () => Effect.succeed({ version: null, lockedUntil: null }),
  get: () => Stream.empty,
  remove: () => Effect.succeed(null),
  exists: () => Effect.succeed(false)
}

/** The services of one process over what is stored; its transactions follow each other. */
export const processOver = (
  stored: Stored,
  transactions: Semaphore.Semaphore,
  organization: OrganizationFacts,
  commits: Commits,
  breach: (law: string) => void
) => {
  const calls = Semaphore.makeUnsafe(1)
  let isDead = false
  const archive = archiveOf(stored, breach)

  const transaction = <A, E, R>(_organization: unknown, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    transactions.withPermit(Effect.suspend(() => {
      if (isDead) return Effect.die(new Killed())
      stored.begin()
      return work.pipe(
        Effect.provideService(InTransaction, true),
        Effect.onError(() => Effect.sync(() => stored.rollBack())),
        Effect.tap(() =>
          Effect.suspend(() => {
            const death = commits.dies()
            isDead ||= death !== null
            if (death === "before") {
              stored.rollBack()
              return Effect.die(new Killed())
            }
            const dies = death === "after" ? Effect.die(new Killed()) : Effect.void
            return Effect.andThen(commits.committed, dies)
          })
        )
      )
    }))

  const store: CaptureStore["Service"] = {
    chats: (_, ids) =>
      Effect.sync(() =>
        [...stored.chats.values()].filter(({ chatId }) => ids === null || ids.includes(chatId)).sort((one, other) =>
          Number((other.progress.topId ?? -1n) - (one.progress.topId ?? -1n))
        )
      ),
    liveChannels: () =>
      Effect.sync(() =>
        [...stored.chats.values()].filter((chat) => isSaved(chat) && chat.live && !isOfCommonBox(chat.chatId))
      ),
    predecessors: (_, ids) =>
      Effect.sync(() =>
        [...stored.chats.values()].filter(({ migratedTo }) => migratedTo !== null && ids.includes(migratedTo))
      ),
    see: (_, chat) => Effect.sync(() => stored.keepChat(chat)),
    keep: (_, chat) =>
      Effect.sync(() => {
        const known = stored.chats.get(chat.chatId)
        if (known === undefined) return
        const { effect, lastId, live, ruleId } = known
        stored.keepChat({ ...chat, effect, lastId, live, ruleId })
      }),
    firstSince: () => Effect.succeed(new Map()),
    chatsOf: (_, ids) =>
      Effect.sync(() =>
        [...stored.messages.keys()].filter((chatId) => chatId > -1_000_000_000_000n).flatMap((chatId) => {
          const found = ids.filter(isIn(stored, chatId))
          return found.length === 0 ? [] : [{ chatId, ids: found }]
        })
      ),
    expect: (_, chatId, messages) =>
      Effect.sync(() => {
        for (const { expiresAt, id } of messages) stored.keepExpiry({ chatId, id, expiresAt })
      }),
    messagesRead: () => Effect.succeed({ done: 0, total: 0, uncounted: 0 }),
    expired: (_, chatId, ids, now) =>
      Effect.sync(() =>
        new Set(ids.filter((id) => {
          const expiring = stored.expiry.get(`${chatId} ${id}`)
          return expiring !== undefined && expiring.expiresAt <= now
        }))
      ),
    takeExpired: (_, now, limit) =>
      Effect.sync(() => {
        const due = [...stored.expiry.values()].filter(({ expiresAt }) => expiresAt <= now).slice(0, limit)
        for (const expiring of due) stored.forgetExpiry(expiring)
        return due
      }),
    hasExpired: (_, now) => Effect.sync(() => [...stored.expiry.values()].some(({ expiresAt }) => expiresAt <= now)),
    state: () => Effect.sync(() => stored.state),
    setState: (_, state) => Effect.sync(() => stored.keepState(state)),
    begin: () => Effect.void,
    report: () => Effect.void,
    unsafe: () => Effect.succeed(0),
    count: () => Effect.void,
    drift: (_, messages) => Effect.sync(() => void (stored.drift = messages)),
    end: () => Effect.succeed({ isFirst: false, messages: 0 }),
    timeZone: () => Effect.succeed("UTC")
  }

  return Context.empty().pipe(
    Context.add(Db, { transaction, read: transaction, check: Effect.void } as unknown as Db["Service"]),
    Context.add(CaptureStore, store),
    Context.add(ArchiveRecords, memoryRecords(stored)),
    Context.add(
      ArchiveRules,
      {
        inEffect: () => Effect.sync(() => stored.rules),
        settle: () => Effect.succeed(false)
      } as unknown as ArchiveRules["Service"]
    ),
    Context.add(
      ArchiveRuns,
      { renew: () => Effect.succeed(true), hasten: () => Effect.void } as unknown as ArchiveRuns["Service"]
    ),
    Context.add(
      Accounts,
      { holdArchive: () => Effect.succeed(facts), known: () => Effect.succeed(facts) } as unknown as Accounts["Service"]
    ),
    Context.add(Organizations, { facts: () => Effect.succeed(organization) } as unknown as Organizations["Service"]),
    Context.add(Ownership, { term: () => 1 } as unknown as Ownership["Service"]),
    Context.add(Journal, { append: () => Effect.void } as unknown as Journal["Service"]),
    Context.add(ArchiveCrypto, {} as ArchiveCrypto["Service"]),
    Context.add(
      OpenArchives,
      {
        exclusively: (_, work) => calls.withPermit(work),
        step: (_, work) => Effect.catchTag(work(archive, Effect.succeed(true)), "KeyReplaced", Effect.die) as any,
        close: () => Effect.void,
        writer: () => Effect.succeed(archive),
        tend: Effect.void
      } satisfies OpenArchives["Service"]
    ),
    Context.add(
      WaitingFiles,
      { next: () => Effect.succeed([]), count: () => Effect.succeed(0) } as unknown as WaitingFiles["Service"]
    ),
    Context.add(BlobStore, unconfigured),
    Context.add(ComparedAge, null)
  )
}

/** The newest text, as readers choose it. */
const newestText = ({ revisions: [first, ...edits] }: StoredMessage): string | null => {
  const placed = edits.map(({ editedAt, late, mark }) => ({ edited_at: editedAt, late, seen_at: 0, mark }))
  return (newestEdit(placed, first?.editedAt ?? 0) ?? first)?.mark ?? null
}

/** Histories are archived in memory. */
export const memoryGround = (): CaptureGround => {
  const stored = new Stored()
  const transactions = Semaphore.makeUnsafe(1)
  return {
    account,
    newProcess: (commits, breach) =>
      Effect.sync(() => processOver(stored, transactions, organization, commits, breach)),
    setRules: (rules) => transactions.withPermit(Effect.sync(() => stored.setRules(rules))),
    chats: Effect.sync(() => stored.chats),
    ids: Effect.sync(() => stored.messages),
    miscounted: Effect.succeed(0),
    texts: (chatId, id) =>
      Effect.sync(() => stored.messages.get(chatId)?.get(id)?.revisions.map(({ mark }) => mark) ?? []),
    archived: Effect.sync(() =>
      new Map([...stored.messages].map(([chatId, messages]) =>
        [
          chatId,
          new Map([...messages].map(([id, message]) => [id, { ...message, newest: newestText(message) }] as const))
        ] as const
      ))
    )
  }
}
