/** The corpus in the service's archive, written by its own writer over PostgreSQL. */
import { Effect, Layer, Redacted } from "effect"
import * as crypto from "node:crypto"
import { makeKeyPair, wrapSeed } from "../../src/archive/KeyWraps.ts"
import * as Writer from "../../src/archive/Writer.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { piecesOf } from "../../src/domain/archive/PageRules.ts"
import { type Caller, OrganizationId } from "../../src/domain/people/Access.ts"
import * as NodeCrypto from "../../src/layers/archive/NodeCrypto.ts"
import * as PasswordDerivation from "../../src/layers/archive/PasswordDerivation.ts"
import * as MemoryBlobs from "../../src/layers/blobs/MemoryBlobs.ts"
import * as Core from "../../src/layers/Core.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import { PasswordHasher } from "../../src/layers/crypto/signin/PasswordHasher.ts"
import * as MailSettings from "../../src/layers/mail/MailSettings.ts"
import { PasswordDerivation as PasswordDerivationPort } from "../../src/ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys } from "../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveUnlock } from "../../src/ports/archive/ArchiveUnlock.ts"
import { ArchiveWriter, type SealingKey } from "../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../src/ports/Db.ts"
import { postgresLayer } from "../../test/support/postgres/databaseRoles.ts"
import type { Ground } from "../support/ground.ts"
import { type BenchChat, chatNumbers, chatOf, largeChat } from "./corpus.ts"

export const password = "harbour lantern archive"
export const organizationId = OrganizationId.make("archive")

/** Messages of one transaction: about 45 pages. */
const batch = 500

const services = (ground: Ground) =>
  Writer.layer.pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: Core.defaultKeyPrefix })),
    Layer.provideMerge(MemoryBlobs.layer),
    Layer.provideMerge(Layer.mergeAll(
      NodeCrypto.layer,
      MailSettings.layer(null),
      PasswordHasher.layerWith({ memoryCost: 8, timeCost: 1, parallelism: 1 }),
      PasswordDerivation.layer,
      Peppers.layerText(Redacted.make(ground.pepper))
    )),
    Layer.provideMerge(postgresLayer(ground.url))
  )

const makeKey = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const pair = yield* makeKeyPair
  const ref = { organizationId, keyId: pair.keyId, publicKey: pair.publicKey, kind: "password" as const }
  const wrap = yield* wrapSeed(ref, Redacted.make(password), pair.seed)
  yield* db.transaction(organizationId, keys.add({ ...ref, wraps: [wrap], madeBy: null }, new Date()))
  return ref satisfies SealingKey
})

const writeChats = Effect.fnUntraced(function*(accountId: string, chats: Iterable<BenchChat>, key: SealingKey) {
  const db = yield* Db
  const account = { organizationId, accountId: AccountId.make(accountId) }
  const archive = yield* (yield* ArchiveWriter).own(account, key, crypto.randomUUID())
  for (const { chatId, messages, title } of chats) {
    const info = { title, username: null, members_count: null }
    yield* db.transaction(organizationId, archive.see({ chatId, type: "private", leftAt: null, info }))
    for (const piece of piecesOf(messages, batch)) {
      yield* db.transaction(organizationId, archive.append(chatId, piece, "sweep"))
    }
    yield* archive.close("due")
  }
  yield* archive.close("all")
})

const run = <A, E>(ground: Ground, effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof services>>>) =>
  Effect.runPromise(Effect.provide(effect, services(ground)))

/** Sets the archive password of an organization. */
export const setPassword = (ground: Ground, organizationId: OrganizationId) => run(ground, makeKey(organizationId))

/** Derives the key of the archive password as an unlock does. */
export const derivePassword = (): Promise<unknown> =>
  Effect.runPromise(
    Effect.flatMap(
      PasswordDerivationPort,
      ({ cost, derive }) => derive(Redacted.make(password), { name: "argon2id", salt: "00".repeat(16), ...cost })
    ).pipe(Effect.provide(PasswordDerivation.layer))
  )

const unlocks = 500

/** Microseconds of an unlock by a password that was derived before. */
export const timeUnlocks = (ground: Ground): Promise<ReadonlyArray<number>> =>
  run(
    ground,
    Effect.gen(function*() {
      const unlock = yield* ArchiveUnlock
      const keys = yield* ArchiveKeys
      const key = yield* (yield* Db).read(organizationId, keys.current(organizationId))
      if (key === null) return yield* Effect.die(new Error("There is no archive key"))
      const caller: Caller["Service"] = {
        organizationId,
        organizationClosed: false,
        adminId: "owner",
        adminName: null,
        role: "owner",
        readsArchive: true,
        scopes: [],
        limit: null,
        credential: { kind: "api_key", id: crypto.randomUUID(), label: "" },
        via: "rest",
        ip: null,
        requestId: null,
        extras: { archivePassword: Redacted.make(password) }
      }
      const open = Effect.scoped(unlock.open(caller, key))
      yield* open
      return yield* Effect.forEach(
        Array.from({ length: unlocks }),
        () =>
          Effect.gen(function*() {
            const begun = performance.now()
            yield* open
            return (performance.now() - begun) * 1000
          })
      )
    })
  )

/** The chats of an account, each made when it is written. */
function* chatsOf(place: number): Generator<BenchChat> {
  for (const number of chatNumbers) yield chatOf(place, number)
}

/** Archives the corpus of the accounts, after their key is made; `done` is called with each account. */
export const writeSealed = (ground: Ground, accountIds: ReadonlyArray<string>, done: () => void) =>
  run(
    ground,
    Effect.tap(makeKey(organizationId), (key) =>
      Effect.forEach(
        accountIds,
        (accountId, place) =>
          Effect.scoped(writeChats(accountId, chatsOf(place), key)).pipe(Effect.tap(() => Effect.sync(done))),
        { discard: true }
      ))
  )

/** Archives the large chat of the account. */
export const writeLargeChat = (ground: Ground, accountId: string, key: SealingKey) =>
  run(ground, Effect.scoped(writeChats(accountId, [largeChat], key)))

export const consolePassword = "quarterdeck meadow lantern"

/** Gives the owner a console password; the owner's address. */
export const setConsolePassword = async (ground: Ground): Promise<string> => {
  const hash = await run(
    ground,
    Effect.flatMap(PasswordHasher, (hasher) => hasher.hash(Redacted.make(consolePassword)))
  )
  const { rows } = await ground.superuser.query<{ email: string }>(
    "update admin set password_hash = $1 where organization_id = $2 and role = 'owner' returning email",
    [hash, organizationId]
  )
  return rows[0]?.email ?? ""
}
