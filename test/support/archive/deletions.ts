/** Archives that are deleted, and what is left of them. */
import { expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { openEpoch } from "../../../src/archive/EpochKeys.ts"
import { unwrapSeed } from "../../../src/archive/KeyWraps.ts"
import { confirmPhrase } from "../../../src/domain/archive/ConfirmPhrase.ts"
import { ArchiveKeyId, type EpochKey } from "../../../src/domain/archive/Epoch.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import { Epochs } from "../../../src/ports/archive/Epochs.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as World from "../world.ts"
import { setArchiveKey } from "./archiveKeys.ts"
import { archivePassword } from "./archivePassword.ts"
import * as Archives from "./archives.ts"
import { miscounts } from "./counters.ts"

const { beginning, chat, chatId, seen } = Archives

const tables = [
  "archive_page",
  "archive_loose",
  "archive_tail",
  "archive_change",
  "archive_chat",
  "archive_block",
  "archive_file"
] as const
const messagesPerPath = 120

/** An organization with its archive password and accounts that have pages, tails, edits, deletions and files. */
export const stage = Effect.fnUntraced(function*(accounts = 2) {
  yield* TestClock.setTime(beginning)
  const organization = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(organization.id)
  const archives = yield* Effect.forEach(Array.from({ length: accounts }), () => fill(organization.id))
  return { ...organization, archives }
})

export const keyOf = Effect.fnUntraced(function*(organizationId: Archives.Archive["account"]["organizationId"]) {
  const key = yield* (yield* Db).read(organizationId, (yield* ArchiveKeys).current(organizationId))
  if (key === null) return yield* Effect.die(new Error("No archive key"))
  return key
})

/** A new account with an archive. */
export const fill = Effect.fnUntraced(function*(organizationId: Archives.Archive["account"]["organizationId"]) {
  const accountId = yield* World.makeAccount(organizationId, { facts: { offboarded_at: new Date(0) } })
  const account = { organizationId, accountId }
  const writer = yield* (yield* ArchiveWriter).own(account, yield* keyOf(organizationId), crypto.randomUUID())
  const of = (from: number) =>
    Array.from(
      { length: messagesPerPath },
      (_, n) =>
        seen(
          from + n,
          90_000 - from - n,
          `secret ${from + n}`,
          n % 9 === 0 ? { files: [Archives.file("plan.png")] } : {}
        )
    )
  yield* Archives.commit({ account }, writer.see(chat))
  yield* Archives.commit({ account }, writer.append(chatId, of(1), "sweep"))
  yield* Archives.commit({ account }, writer.append(chatId, of(1001), "live"))
  yield* Archives.commit({ account }, writer.mark(chatId, [3n, 1003n], "deleted", "live"))
  yield* addRow("archive_blob", organizationId, {
    account_id: accountId,
    blob_id: crypto.randomUUID(),
    messenger_file: "1",
    epoch_id: 1n,
    key: Uint8Array.of(1, 2, 3),
    state: "saved",
    plain_bytes: 1,
    stored_bytes: 17,
    writer: crypto.randomUUID(),
    at: new Date(0)
  })
  return { account, writer, messages: 2 * messagesPerPath }
})

export const countIn = (organizationId: string, table: string, accountId?: string) =>
  Effect.map(
    World.query<{ rows: number }>(
      organizationId,
      (sql) =>
        sql`select count(*)::integer as rows from ${sql(table)} where organization_id = ${organizationId}
          and ${accountId === undefined ? sql`true` : sql`account_id = ${accountId}`}`
    ),
    ([row]) => row?.rows ?? 0
  )

export const addRow = (table: string, organizationId: string, row: Readonly<Record<string, unknown>>) =>
  World.query<object>(
    organizationId,
    (sql) => sql`insert into ${sql(table)} ${sql.insert({ organization_id: organizationId, ...row })}`
  )

export const rowsOf = (organizationId: string, accountId?: string) =>
  Effect.map(
    Effect.forEach(tables, (table) => countIn(organizationId, table, accountId)),
    (all) => all.reduce((sum, rows) => sum + rows, 0)
  )

/** Everything of the account's archive, and what its rows count. */
export const snapshot = (organizationId: string, accountId: string) =>
  Effect.forEach([...tables, "archive_epoch"], (table) =>
    World.query<object>(
      organizationId,
      (sql) =>
        sql`select md5(coalesce(string_agg(row::text, ',' order by row::text), '')) as hash from (
          select * from ${sql(table)} where account_id = ${accountId}) as row`
    ))

/** Fails where a counter differs from what is there. */
export const recount = (organizationId: string) =>
  Effect.map(miscounts(organizationId), (wrong) => expect(wrong).toEqual({ chats: 0, accounts: 0 }))

type Key = NonNullable<World.Asking["key"]>

interface Stolen {
  readonly epochs: ReadonlyArray<{ epoch: string; key_id: string; account_id: string; sealed_key: Uint8Array | null }>
  readonly wraps: ReadonlyArray<{ key_id: string }>
}

/** What a thief of the database finds of keys. */
export const dump = Effect.fnUntraced(function*(organizationId: string) {
  const epochs = yield* World.query<Stolen["epochs"][number]>(
    organizationId,
    (sql) =>
      sql`select epoch_id::text as epoch, key_id, account_id, sealed_key from archive_epoch
      where organization_id = ${organizationId}`
  )
  const blobs = yield* World.query<{ account_id: string }>(
    organizationId,
    (sql) => sql`select account_id from archive_blob where organization_id = ${organizationId} and key is not null`
  )
  return { epochs, blobs }
})

/** The sealed keys of the account's epochs that readers get. */
export const keysOf = Effect.fnUntraced(function*(account: Archives.Archive["account"]) {
  const ids = (yield* dump(account.organizationId)).epochs
    .flatMap(({ account_id, epoch }) => account_id === account.accountId ? [BigInt(epoch)] : [])
  const found = yield* (yield* Db).read(account.organizationId, (yield* Epochs).sealed(account, ids))
  return found.flatMap(({ sealedKey }) => sealedKey === null ? [] : [sealedKey])
})

const seedOf = Effect.fnUntraced(function*(organizationId: Archives.Archive["account"]["organizationId"]) {
  const key = yield* keyOf(organizationId)
  const wrap = yield* (yield* Db).read(organizationId, (yield* ArchiveKeys).wrap(key, "password"))
  return wrap === null
    ? null
    : yield* unwrapSeed({ ...key, kind: "password" }, wrap, Redacted.make(archivePassword))
})

/** The keys of the account's epochs, as a process keeps them that has opened them. */
export const openEpochs = Effect.fnUntraced(function*({ accountId, organizationId }: Archives.Archive["account"]) {
  const seed = yield* seedOf(organizationId)
  const opened = new Map<bigint, EpochKey>()
  for (const { account_id, epoch, key_id, sealed_key } of (yield* dump(organizationId)).epochs) {
    if (seed === null || sealed_key === null || account_id !== accountId) continue
    const ref = { organizationId, accountId, epochId: BigInt(epoch), keyId: ArchiveKeyId.make(key_id) }
    opened.set(ref.epochId, yield* openEpoch(ref, sealed_key, seed))
  }
  return opened
})

export const opensWith = Effect.fnUntraced(function*(
  organizationId: Archives.Archive["account"]["organizationId"],
  { epochs }: Pick<Stolen, "epochs">
) {
  const seed = yield* seedOf(organizationId)
  if (seed === null) return []
  return yield* Effect.filter(epochs, ({ account_id, epoch, key_id, sealed_key }) =>
    sealed_key === null
      ? Effect.succeed(false)
      : Effect.isSuccess(openEpoch(
        {
          organizationId,
          accountId: account_id as Archives.Archive["account"]["accountId"],
          epochId: BigInt(epoch),
          keyId: ArchiveKeyId.make(key_id)
        },
        sealed_key,
        seed
      )))
})

const numberOf = (organizationId: string, id: string) =>
  Effect.map(
    World.query<{ phone_number: string }>(
      organizationId,
      (sql) => sql`select phone_number from account where organization_id = ${organizationId} and id = ${id}`
    ),
    ([row]) => row?.phone_number ?? ""
  )

export const confirmed = (path: string, key: Key, phrase: string) =>
  World.send("POST", path, { key, body: { confirm_phrase: phrase } })

export const deleteAccount = Effect.fnUntraced(function*(account: Archives.Archive["account"], key: Key) {
  const phoneNumber = yield* numberOf(account.organizationId, account.accountId)
  return yield* confirmed(
    `/v1/accounts/${account.accountId}/delete`,
    key,
    confirmPhrase({ kind: "account", phoneNumber })
  )
})

export const deleteWhole = (organizationId: string, key: Key) =>
  confirmed("/v1/archive/delete", key, confirmPhrase({ kind: "archive", organizationId }))

export const phaseOf = (key: Key) => Effect.map(World.get("/v1/organization", key), ({ body }) => body.archive.phase)

/** The account's phone number, and how it is there again after it was deleted. */
export const restorable = Effect.fnUntraced(function*(organization: string, id: string) {
  const [row] = yield* World.query<{ phone_number: string; stored: object }>(
    organization,
    (sql) =>
      sql`select phone_number, to_jsonb(account) as stored from account
        where organization_id = ${organization} and id = ${id}`
  )
  const anew = World.query<object>(
    organization,
    (sql) =>
      sql`insert into account select (jsonb_populate_record(null::account, ${
        JSON.stringify(row?.stored)
      }::text::jsonb)).*
        on conflict do nothing`
  )
  return { phone: row?.phone_number ?? "", anew }
})
