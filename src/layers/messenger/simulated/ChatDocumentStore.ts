/** The place of the simulated platform's chats. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountDocument, ChatDocument, withoutExpired } from "./ChatDocuments.ts"

const atPresent = (chat: ChatDocument | null) =>
  chat === null
    ? Effect.succeed(null)
    : Effect.map(Clock.currentTimeMillis, (millis) => withoutExpired(chat, Math.floor(millis / 1000)))

/** Documents by their names; within `SimulatedStore.exclusively` where one is changed. */
export class ChatDocumentStore extends Context.Service<ChatDocumentStore, {
  /** The chat with the messages that are there by now. */
  chat(name: string): Effect.Effect<ChatDocument | null>
  account(userId: string): Effect.Effect<AccountDocument | null>
  saveChat(name: string, chat: ChatDocument): Effect.Effect<void>
  saveAccount(userId: string, account: AccountDocument): Effect.Effect<void>
}>()("org-security-console/layers/messenger/simulated/ChatDocumentStore") {
  /** Keeps them in the process. */
  static readonly layerMemory = Layer.sync(ChatDocumentStore, () => {
    const chats = new Map<string, ChatDocument>()
    const accounts = new Map<string, AccountDocument>()
    return ChatDocumentStore.of({
      chat: (name) => Effect.suspend(() => atPresent(chats.get(name) ?? null)),
      account: (userId) => Effect.sync(() => accounts.get(userId) ?? null),
      saveChat: (name, chat) => Effect.sync(() => void chats.set(name, chat)),
      saveAccount: (userId, account) => Effect.sync(() => void accounts.set(userId, account))
    })
  })

  /** Keeps them in the table `simulated_document`. */
  static readonly layerSql = Layer.effect(
    ChatDocumentStore,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const read = <A>(schema: Schema.Codec<A, string>, name: string) =>
        sql<{ body: string }>`select body from simulated_document where name = ${name}`.pipe(
          Effect.orDie,
          Effect.map(([row]) =>
            row === undefined ? null : Option.getOrNull(Schema.decodeUnknownOption(schema)(row.body))
          )
        )
      const save = <A>(schema: Schema.Codec<A, string>, name: string, value: A) =>
        sql`
          insert into simulated_document (name, body) values (${name}, ${Schema.encodeSync(schema)(value)})
          on conflict (name) do update set body = excluded.body`.pipe(Effect.orDie, Effect.asVoid)
      const chats = Schema.fromJsonString(ChatDocument)
      const accounts = Schema.fromJsonString(AccountDocument)
      return ChatDocumentStore.of({
        chat: (name) => Effect.flatMap(read(chats, name), atPresent),
        account: (userId) => read(accounts, `account/${userId}`),
        saveChat: (name, chat) => save(chats, name, chat),
        saveAccount: (userId, account) => save(accounts, `account/${userId}`, account)
      })
    })
  )
}
