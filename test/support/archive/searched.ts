/** Archives that tests search over REST, and what a comparison of every text finds in them. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { fold } from "../../../src/domain/archive/Fold.ts"
import { isShared } from "../../../src/domain/archive/PageRules.ts"
import { searchWords } from "../../../src/domain/archive/SearchWords.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as World from "../world.ts"

/** A message of the model: its texts by revision. */
export interface Written {
  readonly accountId: string
  readonly chatId: bigint
  readonly id: bigint
  readonly at: number
  readonly texts: ReadonlyArray<string>
}

/** The writer of an account, under the organization's archive key. */
export const own = Effect.fnUntraced(function*(organization: string, account: string) {
  const organizationId = OrganizationId.make(organization)
  const db = yield* Db
  const keys = yield* ArchiveKeys
  const key = yield* db.read(organizationId, keys.current(organizationId))
  if (key === null) return yield* Effect.die(new Error("No archive key"))
  return yield* (yield* ArchiveWriter).own(
    { organizationId, accountId: AccountId.make(account) },
    key,
    crypto.randomUUID()
  )
})

interface Found {
  readonly at: number
  readonly chatId: bigint
  readonly id: bigint
  readonly accounts: ReadonlyArray<string>
  readonly revisions: ReadonlyArray<number>
}

const descending = (one: bigint, other: bigint) => one < other ? 1 : one > other ? -1 : 0

const nameOf = ({ accounts, at, chatId, id, revisions }: Found) =>
  `${new Date(at * 1000).toISOString()} ${chatId}/${id} ${accounts.join("+")} in ${revisions.join()}`

/** What a search has to answer, in its order; revisions are those of the first of the accounts. */
export const bruteForce = (all: ReadonlyArray<Written>, query: string): ReadonlyArray<string> => {
  const words = searchWords(query)
  const found = new Map<string, Found>()
  for (
    const { accountId, at, chatId, id, texts } of all.toSorted((one, other) => one.accountId < other.accountId ? -1 : 1)
  ) {
    const revisions = texts.flatMap((text, revision) =>
      words.every(({ folded }) => fold(text).includes(folded)) ? [revision] : []
    )
    if (revisions.length === 0) continue
    const key = isShared(chatId) ? `${chatId}/${id}` : `${accountId}/${chatId}/${id}`
    const before = found.get(key)
    found.set(key, {
      at,
      chatId,
      id,
      accounts: [...before?.accounts ?? [], accountId],
      revisions: before?.revisions ?? revisions
    })
  }
  return [...found.values()].sort((one, other) =>
    other.at - one.at || descending(one.chatId, other.chatId) || descending(one.id, other.id) ||
    (one.accounts.join() < other.accounts.join() ? -1 : 1)
  ).map(nameOf)
}

/** Searches, going on with each cursor until the end; what is found, in the form of `bruteForce`. */
export const searchAll = Effect.fnUntraced(function*(key: string, query: object) {
  const found: Array<string> = []
  let cursor: string | null = null
  do {
    const { body, status }: World.Answer = yield* World.send("POST", "/v1/archive/search", {
      key,
      body: cursor === null ? query : { ...query, cursor }
    })
    if (status !== 200 || body.unreadable !== 0) return yield* Effect.die(new Error(JSON.stringify(body)))
    for (const { account_id, also_in, chat_id, id, matches, sent_at } of body.data) {
      found.push(nameOf({
        at: Date.parse(sent_at) / 1000,
        chatId: BigInt(chat_id),
        id: BigInt(id),
        accounts: [account_id, ...also_in],
        revisions: [...new Set<number>(matches.map(({ revision }: { revision: number }) => revision))]
      }))
    }
    cursor = body.cursor
  } while (cursor !== null)
  return found
})
