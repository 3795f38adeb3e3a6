import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Content } from "../../../src/domain/Content.ts"
import { contentTime } from "../../../src/domain/Limits.ts"
import { Caller } from "../../../src/domain/people/Access.ts"
import { api } from "../../../src/operations/index.ts"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
import { Credentials } from "../../../src/ports/credentials/Credentials.ts"
import { archivePassword } from "../../support/archive/archivePassword.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { contents, makeExported } from "../../support/archive/exportedArchive.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const [first] = contents

const stage = Effect.gen(function*() {
  const made = yield* makeExported
  const known = yield* (yield* Credentials).authenticate(made.key, `${World.baseUrl}/v1`)
  const caller = Caller.of({
    ...known,
    via: "embedded",
    ip: null,
    requestId: null,
    extras: { archivePassword: Redacted.make(archivePassword) }
  })
  const as = (by: Caller["Service"]) => <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.provideService(call, Caller, by)
  const file_id = made.files[0]?.id ?? ""
  const account = { organizationId: made.id, accountId: made.accountId }
  const local = Caller.of({
    ...caller,
    limit: { scopeType: "all", connectionId: "019bc0e2-0000-7000-8000-000000000001", local: true }
  })
  const console = (id: string) => Caller.of({ ...caller, credential: { kind: "console", id, label: "Console" } })
  return {
    ...made,
    account,
    file: api.download_file.call({ file_id }).pipe(as(caller)),
    fileOfProgram: api.download_file.call({ file_id }).pipe(as(console(caller.adminId))),
    fileOfSession: api.download_file.call({ file_id }).pipe(as(console("019bc0e2-0000-7000-8000-000000000002"))),
    sealed: api.download_sealed_file.call({ file_id }).pipe(as(local), Effect.provideServiceEffect(BlobStore, inTwo)),
    part: Effect.flatMap(
      made.create("json"),
      ({ body }) => api.download_archive_export_part.call({ export_id: body.id, number: 1 }).pipe(as(caller))
    )
  }
})
type Stage = Effect.Success<typeof stage>

/** The store, whose objects come in two pieces. */
const inTwo = Effect.map(BlobStore, (store) =>
  BlobStore.of({
    ...store,
    get: (id, range) =>
      Stream.flatMap(store.get(id, range), (bytes) => Stream.make(bytes.subarray(0, 100), bytes.subarray(100)))
  }))

/** Takes the content, and after its first piece lets happen what is given; what ended it, or its size. */
const take = Effect.fnUntraced(function*<E, R>(content: Content, then: Effect.Effect<unknown, E, R>) {
  let size = 0
  const taken = Stream.runForEach(content.bytes(), (bytes) => {
    const isFirst = size === 0
    size += bytes.length
    return isFirst ? Effect.orDie(then) : Effect.void
  })
  return Result.match(yield* Effect.result(taken), { onSuccess: () => size, onFailure: ({ _tag }) => _tag })
})

const later = TestClock.adjust("5 seconds")

const change = ({ id }: Stage, statement: string) =>
  World.query<object>(id, (sql) => sql.unsafe(`${statement} where organization_id = '${id}'`))

const ends = {
  "its key is revoked": (staged) => change(staged, "update api_key set revoked_at = now()"),
  "its admin is disabled": (staged) => change(staged, "update admin set disabled_at = now()"),
  "its admin may not read the archive any more": (staged) =>
    change(staged, "update admin set role = 'billing', archive_access = false"),
  "the account is deleted": ({ account, key }) => Deletions.deleteAccount(account, key),
  "the archive is deleted": ({ id, key }) => Deletions.deleteWhole(id, key)
} satisfies Readonly<Record<string, (staged: Stage) => Effect.Effect<unknown, unknown, any>>>

describe("a content of the archive", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is sent to its end while its caller may read it", () =>
      Effect.gen(function*() {
        const { file, fileOfProgram, part, sealed } = yield* stage
        expect(yield* take(yield* file, later)).toBe(first.length)
        expect(yield* take(yield* fileOfProgram, later)).toBe(first.length)
        expect(yield* take(yield* sealed, later)).toBe(first.length + 3 * 16)
        expect(yield* take(yield* part, later)).toBeGreaterThan(first.length)
      }))

    for (const [what, happen] of Object.entries(ends)) {
      it.effect(`ends early where ${what} while it is sent`, () =>
        Effect.gen(function*() {
          const staged = yield* stage
          const content = yield* staged.file
          const then = Effect.gen(function*() {
            yield* happen(staged)
            yield* later
          })
          expect(yield* take(content, then)).toBe("ContentBroken")
        }))
    }

    it.effect("ends early as it is stored, and as a part of an export, which says so", () =>
      Effect.gen(function*() {
        const staged = yield* stage
        const { id, part, sealed } = staged
        const [stored, made] = [yield* sealed, yield* part]
        const then = Effect.andThen(change(staged, "update api_key set revoked_at = now()"), later)
        expect(yield* take(stored, then)).toBe("ContentBroken")
        expect(yield* take(made, later)).toBe("ContentBroken")
        const kept = yield* World.query<{ end: string }>(
          id,
          (sql) => sql`select ended as end from archive_export_download where organization_id = ${id}`
        )
        expect(kept).toEqual([{ end: "archive_closed" }])
      }))

    it.effect("ends early where the session of the console is not there any more", () =>
      Effect.gen(function*() {
        const { fileOfSession } = yield* stage
        expect(yield* take(yield* fileOfSession, later)).toBe("ContentBroken")
      }))

    it.effect("ends early where its client takes too long", () =>
      Effect.gen(function*() {
        const { file } = yield* stage
        expect(yield* take(yield* file, TestClock.adjust(contentTime))).toBe("ContentBroken")
      }))
  })
})
