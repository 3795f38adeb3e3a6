import { describe, expect, layer } from "@effect/vitest"
import { Array as Arr, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { findChats, listChats, listMembers } from "../../../src/archive/ChatReader.ts"
import { makeKeyPair, wrapSeed } from "../../../src/archive/KeyWraps.ts"
import { openLocally } from "../../../src/archive/LocalOpening.ts"
import { findMessage, listEdits, listMessages, openAccount } from "../../../src/archive/Reader.ts"
import { search, type SearchResult } from "../../../src/archive/Search.ts"
import { answerHits, openAccounts } from "../../../src/archive/SearchAnswer.ts"
import { searchWords } from "../../../src/domain/archive/SearchWords.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { failByRefusal } from "../../../src/layers/archive/RemoteArchive.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchivePages, type ChangesPart, type MessageWindow } from "../../../src/ports/archive/ArchivePages.ts"
import { Db } from "../../../src/ports/Db.ts"
import { changeArchivePassword, setArchiveKey } from "../../support/archive/archiveKeys.ts"
import { archivePassword } from "../../support/archive/archivePassword.ts"
import * as Archives from "../../support/archive/archives.ts"
import { remoteArchive, type Sent } from "../../support/archive/remote.ts"
import { tried } from "../../support/drawn.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { beginning, chat, chatId, commit, newest } = Archives
const shared = { ...chat, chatId: -1_000_000_000_007n, type: "channel" as const }

/** A history of two accounts. */
const step = fc.record({
  account: fc.constantFrom(0, 1),
  chat: fc.constantFrom(chat, shared),
  ids: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 }),
  what: fc.constantFrom("sent", "sent", "edited", "deleted", "closed"),
  path: fc.constantFrom("live" as const, "sweep" as const),
  word: fc.constantFrom("harbour", "lantern", "Straße")
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const atOf = (id: number) => Math.floor(beginning / 1000) - 7200 * (80 - id)

const makeKey = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const key = yield* makeKeyPair
  const ref = { organizationId, keyId: key.keyId, publicKey: key.publicKey, kind: "password" as const }
  const wrap = yield* wrapSeed(ref, Redacted.make(archivePassword), key.seed)
  const add = (yield* ArchiveKeys).add({ ...ref, wraps: [wrap], madeBy: null }, new Date(beginning))
  yield* (yield* Db).transaction(organizationId, add)
  return key
})

const makeStage = Effect.fnUntraced(function*() {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization()
  const organizationId = OrganizationId.make(id)
  const key = yield* makeKey(organizationId)
  return { key, organizationId, token: admins.owner.key }
})
type Stage = Effect.Success<ReturnType<typeof makeStage>>

const play = Effect.fnUntraced(function*({ key, organizationId }: Stage, steps: ReadonlyArray<Step>) {
  const archives = [
    yield* Archives.makeArchive(organizationId, key),
    yield* Archives.makeArchive(organizationId, key)
  ] as const
  const writers = [yield* Archives.write(archives[0]), yield* Archives.write(archives[1])] as const
  const both = [0, 1] as const
  for (const place of both) {
    for (const seen of [chat, shared]) yield* commit(archives[place], writers[place].see(seen))
  }
  for (const { account, chat, ids, path, what, word } of steps) {
    const place = account === 0 ? 0 : 1
    const [archive, writer] = [archives[place], writers[place]]
    yield* TestClock.adjust("11 minutes")
    const seen = (id: number) => ({
      ...Archives.seen(id, 0, `${word} ${id}`, what === "edited" ? { edited_at: atOf(id) + ids.length } : {}),
      at: atOf(id)
    })
    if (what === "closed") yield* writer.close("all")
    else if (what === "deleted") yield* commit(archive, writer.mark(chat.chatId, ids.map(BigInt), "deleted", path))
    else yield* commit(archive, writer.append(chat.chatId, ids.map(seen), path))
  }
  return archives
})
type Accounts = Effect.Success<ReturnType<typeof play>>

/** Every message of the chat, on pages of a size. */
const listAll = Effect.fnUntraced(function*(
  archive: Archives.Archive,
  query: Omit<Parameters<typeof listMessages>[1], "bound" | "limit">,
  limit: number
) {
  const pages: Array<unknown> = []
  let bound: bigint | null = null
  do {
    const open = yield* Archives.open(archive)
    const page: Effect.Success<ReturnType<typeof listMessages>> = yield* listMessages(open, { ...query, bound, limit })
    pages.push(page)
    bound = page.next
  } while (bound !== null)
  return pages
})

const searchAll = Effect.fnUntraced(function*(archives: Accounts, query: string, limit: number) {
  const [{ account: { organizationId } }] = archives
  const found: Array<unknown> = []
  let position: SearchResult["position"] = null
  do {
    const { archive } = yield* Archives.open(archives[0])
    const { keys, open } = openAccounts(organizationId, archive)
    const scope = {
      organizationId,
      accountIds: archives.map(({ account }) => account.accountId),
      chatIds: null,
      since: null,
      until: null
    }
    const words = searchWords(query)
    const result: SearchResult = yield* search(keys, { scope, words, fromId: null, kind: null, limit, position })
    found.push((yield* answerHits(open, result.hits)).data, result.unreadable)
    position = result.position
  } while (position !== null)
  return found
})

/** Everything that operations 81 to 87 would answer of the archives. */
const readAll = Effect.fnUntraced(function*(archives: Accounts, limit: number) {
  const read: Array<unknown> = []
  for (const archive of archives) {
    const open = yield* Archives.open(archive)
    read.push(yield* listChats(open, { type: undefined, selected: undefined, after: undefined, limit: 1 }))
    read.push(yield* listChats(open, { type: "channel", selected: true, after: chatId, limit: 5 }))
    read.push(yield* listChats(open, { type: undefined, selected: undefined, after: 99n, limit: 5 }))
    const byId = yield* findChats(open, [shared.chatId, 99n, chatId])
    expect(byId.map(({ id }) => BigInt(id)).sort()).toEqual([shared.chatId, chatId])
    read.push(byId.toSorted((one, other) => one.id < other.id ? -1 : 1))
    for (const id of [chatId, shared.chatId, 99n]) {
      read.push(yield* listMembers(open, id))
      const query = { ...newest, chatId: id }
      read.push(yield* listAll(archive, query, limit))
      read.push(yield* listAll(archive, { ...query, direction: "newer" }, limit))
      const during = { since: new Date(atOf(20) * 1000), until: new Date(atOf(40) * 1000) }
      read.push(yield* listAll(archive, { ...query, ...during }, limit))
      for (const message of [1n, 30n, 60n]) {
        read.push(yield* findMessage(open, id, message, 2), yield* listEdits(open, id, message))
      }
    }
  }
  for (const words of ["harbour", "strasse", "lantern 3", "nowhere"]) {
    read.push(yield* searchAll(archives, words, limit))
  }
  return read
})

/** Leaves the second half of what an answer lists out, as if it were too large. */
const halved = ({ answer, input, operation }: Sent) => {
  if (operation === "get_archive_keys") return answer
  const half = <A>(rows: ReadonlyArray<A>) => rows.slice(0, Math.max(1, Math.floor(rows.length / 2)))
  if (operation === "list_sealed_pages") {
    const messages = half(answer.messages)
    const edits = half(answer.edits)
    const stated = Math.ceil(answer.stated / 2)
    const has_more = messages.length < answer.messages.length || edits.length < answer.edits.length
    return { ...answer, messages, edits, stated, has_more }
  }
  const blocks = half(answer.blocks)
  const pages = input["sealed"] === undefined ? answer.pages : half(answer.pages)
  const has_more = blocks.length < answer.blocks.length || pages.length < answer.pages.length
  return { ...answer, blocks, pages, stated: Math.floor(answer.stated / 2), has_more }
}

describe("an archive that is read from elsewhere", () => {
  layer(World.world(postgres))((it) => {
    it.effect("reads and is searched as it is where it is stored, after any history, whatever size answers have", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage()
        const histories = fc.sample(
          fc.tuple(fc.array(step, { minLength: 8, maxLength: 14, size: "max" }), fc.integer({ min: 2, max: 9 })),
          tried(4)
        )
        for (const [place, [steps, limit]] of histories.entries()) {
          const scope = yield* Scope.make()
          const archives = yield* Effect.provideService(play(stage, steps), Scope.Scope, scope)
          // Some are read while their writers hold a tail.
          if (place % 2 === 0) yield* Scope.close(scope, Exit.void)
          const stored = yield* readAll(archives, limit)
          const { layer } = yield* remoteArchive(stage.token, place % 3 === 0 ? undefined : halved)
          const remote = yield* Effect.provide(readAll(archives, limit), layer)
          expect(remote).toEqual(stored)
          yield* Scope.close(scope, Exit.void)
        }
      }))

    it.effect("lists a chat of 1,000 messages a page a request, with their edits, files and keys", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage()
        const archive = yield* Archives.makeArchive(stage.organizationId, stage.key)
        yield* Effect.scoped(Effect.gen(function*() {
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          const ids = Array.from({ length: 1000 }, (_, at) => at + 1)
          for (const day of [0, 1, 2, 3, 4]) {
            const sent = ids.slice(day * 200, day * 200 + 200).map((id) => Archives.seen(id, (1000 - id) * 60, `${id}`))
            yield* commit(archive, writer.append(chatId, sent, "sweep"))
          }
          const edits = ids.slice(0, 50).map((id) =>
            Archives.seen(id, (1000 - id) * 60, "edited", { edited_at: beginning / 1000 })
          )
          yield* commit(archive, writer.append(chatId, edits, "sweep"))
        }))
        const { layer, sent } = yield* remoteArchive(stage.token)
        const pages = yield* Effect.provide(listAll(archive, newest, 100), layer)
        expect(pages.length).toBe(10)
        expect(sent.length).toBe(10)
      }))

    it.effect("finds at once what a vocabulary was made of since its last search, and reads each vocabulary once", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage()
        const archive = yield* Archives.makeArchive(stage.organizationId, stage.key)
        const other = yield* Archives.makeArchive(stage.organizationId, stage.key)
        const { layer, sent } = yield* remoteArchive(stage.token)
        const vocabularies = () => {
          const blocks = sent.flatMap(({ answer }) => answer.blocks ?? [])
          sent.length = 0
          return [blocks.length, blocks.filter(({ sealed }: { sealed: string | null }) => sealed !== null).length]
        }
        yield* Effect.scoped(Effect.gen(function*() {
          const remote = yield* Layer.build(layer)
          const writer = yield* Archives.write(archive)
          yield* commit(archive, writer.see(chat))
          const days = Array.from({ length: 20 }, (_, day) => Archives.seen(day + 1, (30 - day) * 86_400, "harbour"))
          yield* commit(archive, writer.append(chatId, days, "sweep"))
          const search = Effect.provideContext(searchAll([archive, other], "harbour", 50), remote)
          const before = yield* search
          expect(vocabularies()).toEqual([0, 0])
          yield* writer.close("all")
          expect(yield* search).toEqual(before)
          const [made = 0, read] = vocabularies()
          expect([made > 0, read]).toEqual([true, made])
          expect(yield* search).toEqual(before)
          expect(vocabularies()).toEqual([made, 0])
        }))
      }))

    it.effect("opens by the password alone, and not after a change of it", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage()
        const [archive] = yield* Effect.scoped(play(stage, [
          { account: 0, chat, ids: [1], what: "sent", path: "sweep", word: "harbour" }
        ]))
        const { layer } = yield* remoteArchive(stage.token)
        const read = Effect.fnUntraced(function*(password: string) {
          const keys = yield* ArchiveKeys
          const wrapped = yield* keys.wrapped(stage.organizationId)
          if (!Arr.isReadonlyArrayNonEmpty(wrapped)) return yield* Effect.die(new Error("No archive key"))
          const opened = yield* openLocally(wrapped, Redacted.make(password))
          const { messages } = yield* listMessages(openAccount(archive.account, opened), newest)
          return messages.map(({ text }) => text)
        }, Effect.scoped)
        expect(yield* Effect.provide(read(archivePassword), layer)).toEqual(["harbour 1"])
        expect(yield* Effect.flip(Effect.provide(read("another password"), layer)))
          .toMatchObject({ _tag: "WrongArchivePassword" })
        yield* changeArchivePassword(stage.organizationId, "a new archive password")
        expect(yield* Effect.flip(Effect.provide(read(archivePassword), layer)))
          .toMatchObject({ _tag: "WrongArchivePassword" })
        expect(yield* Effect.provide(read("a new archive password"), layer)).toEqual(["harbour 1"])
        // Another key pair opens nothing of before, which its own password still opens.
        yield* setArchiveKey(stage.organizationId, { password: "meadow copper violin", replace: true })
        expect(yield* Effect.provide(read("meadow copper violin"), layer)).toEqual([])
        expect(yield* Effect.provide(read("a new archive password"), layer)).toEqual(["harbour 1"])
      }))

    it.effect("a window ends with the page after those that have enough messages, or with the one that has enough bytes", () =>
      Effect.scoped(Effect.gen(function*() {
        const { key, organizationId, token } = yield* makeStage()
        const archive = yield* Archives.makeArchive(organizationId, key)
        const sent = (from: number, to: number) =>
          Array.from({ length: to - from + 1 }, (_, place) => Archives.seen(from + place, 0, ""))
        const writer = yield* Archives.write(archive)
        yield* commit(archive, writer.see(chat))
        yield* commit(archive, writer.append(chatId, sent(1, 250), "sweep"))
        yield* commit(archive, writer.append(chatId, sent(251, 253), "live"))
        const { layer } = yield* remoteArchive(token)
        const cases: ReadonlyArray<readonly [Partial<MessageWindow>, sizes: ReadonlyArray<number>, ended: boolean]> = [
          [{ enough: 1 }, [1, 1], false],
          [{ enough: 4 }, [1, 1, 1, 50, 100], false],
          [{ enough: 1000 }, [1, 1, 1, 50, 100, 100], true],
          [{ enough: 1000, limit: 2 }, [1, 1], false],
          [{ enough: 1000, bytes: 1 }, [1], false],
          // A row of the tail has less than 200 bytes, and a page more.
          [{ enough: 1000, bytes: 700 }, [1, 1, 1, 50], false],
          [{ enough: 51, direction: "newer" }, [100, 100], false],
          // Of a page over the bound, nobody knows how many messages are beyond it.
          [{ enough: 51, bound: 250n }, [50, 100, 100], true],
          [{ enough: 51, bound: 150n }, [100, 100], true]
        ]
        for (const [asked, sizes, ended] of cases) {
          const query = { ...newest, read: [], enough: 1, limit: 64, bytes: Infinity, ...asked }
          const window = Effect.flatMap(ArchivePages, (pages) => pages.window(archive.account, query))
          const part = yield* (yield* Db).read(organizationId, window)
          expect([asked, part.pages.map(({ ids }) => ids.length), part.ended]).toEqual([asked, sizes, ended])
          const elsewhere = yield* Effect.provide(window, layer)
          expect([asked, elsewhere.pages.map(({ ids }) => ids.length)]).toEqual([asked, sizes])
        }
      })))

    it.effect("messages are answered with their changes from the first on, as many as have their newest edits in so many bytes", () =>
      Effect.scoped(Effect.gen(function*() {
        const { key, organizationId, token } = yield* makeStage()
        const archive = yield* Archives.makeArchive(organizationId, key)
        const writer = yield* Archives.write(archive)
        const of = (ids: ReadonlyArray<number>, text: string, edited_at?: number) =>
          ids.map((id) => Archives.seen(id, 90_000, text, edited_at === undefined ? {} : { edited_at }))
        yield* commit(archive, writer.see(chat))
        yield* commit(archive, writer.append(chatId, of([1, 2, 3, 4, 5, 6, 7, 8], "sent"), "sweep"))
        for (const [place, ids] of [[1, 5], [2], [3, 4, 7], [1]].entries()) {
          yield* commit(archive, writer.append(chatId, of(ids, "edited", atOf(place)), place === 3 ? "live" : "sweep"))
        }
        yield* commit(archive, writer.mark(chatId, [6n], "deleted", "sweep"))
        const ask = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, bytes: number) {
          const messages = ids.map((messageId) => ({ chatId, messageId }))
          const pages = yield* ArchivePages
          return yield* (yield* Db).read(organizationId, pages.changes(archive.account, messages, bytes))
        })
        const sizeOf = (
          { changes }: ChangesPart
        ) => [...new Map(changes.map(({ newest }) => [newest?.number, newest?.sealed.length ?? 0])).values()]
        const ids = [8n, 5n, 6n, 1n, 4n, 2n, 3n, 7n]
        const whole = yield* ask(ids, 1e9)
        expect([whole.changes.map(({ messageId }) => messageId), whole.stated]).toEqual([ids.slice(1), 8])
        const { layer } = yield* remoteArchive(token)
        const cut = yield* remoteArchive(token, halved)
        const stops = new Set<string>()
        for (const bytes of [1, 300, 500, 700, 900, 1e9]) {
          for (const read of [ask, (...asked: Parameters<typeof ask>) => Effect.provide(ask(...asked), layer)]) {
            const found: Array<unknown> = []
            const stated: Array<number> = []
            for (let left: ReadonlyArray<bigint> = ids; left.length > 0;) {
              const part: ChangesPart = yield* read(left, bytes)
              const sizes = sizeOf(part)
              const size = sizes.reduce((sum, each) => sum + each, 0)
              expect(size <= bytes || sizes.filter((each) => each > 0).length === 1).toBe(true)
              expect(part.stated).toBeGreaterThan(0)
              found.push(...part.changes)
              stated.push(part.stated)
              left = left.slice(part.stated)
            }
            expect(found).toEqual(whole.changes)
            stops.add(`${bytes}: ${stated}`)
          }
          const answer = yield* Effect.provide(ask(ids, bytes), cut.layer)
          expect(answer).toEqual(yield* ask(ids, bytes))
        }
        // Elsewhere it is cut at the same messages.
        expect(stops.size).toBe(6)
        expect([...stops]).toContain("1: 3,1,1,1,2")
        expect([...stops]).toContain("1000000000: 8")
      })))

    it.effect("fails by the service's refusal, and never answers a page of an account that was not asked for", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage()
        const other = yield* makeStage()
        const archives = yield* Effect.scoped(play(other, [
          { account: 0, chat, ids: [1], what: "sent", path: "sweep", word: "harbour" }
        ]))
        const { layer } = yield* remoteArchive(stage.token)
        const window = Effect.flatMap(
          ArchivePages,
          (pages) => pages.window(archives[0].account, { ...newest, read: [], enough: 51, limit: 8, bytes: 1 })
        )
        const refused = yield* Effect.flip(failByRefusal(Effect.provide(window, layer)))
        expect(refused).toMatchObject({ code: "resource_missing" })
        expect(yield* Effect.flip(failByRefusal(Effect.provide(searchAll(archives, "harbour", 5), layer))))
          .toMatchObject({ code: "resource_missing" })
      }))
  })
})
