/** Chats that are archived of an account, sealed to the organization's archive key. */
import { Clock, Effect, Stream } from "effect"
import * as crypto from "node:crypto"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter, type SeenMessage } from "../../../src/ports/archive/ArchiveWriter.ts"
import { Db } from "../../../src/ports/Db.ts"
import { setArchiveKey } from "./archiveKeys.ts"

/** The ids of the chats that `sealChats` archives: two, with two messages and two members each. */
export const archivedIds = { chat: ["7001", "7002"], message: ["11", "12"], member: ["71", "72"] } as const

/** The content of the file that the second message of each chat has. */
export const fileContent = "harbour"

const day = 24 * 60 * 60

/** Archives the chats of an account, whose texts all begin with `text`; sets the archive password where there is none. */
export const sealChats = Effect.fnUntraced(
  function*(organization: string, account: string, text: string) {
    const organizationId = OrganizationId.make(organization)
    const keys = yield* ArchiveKeys
    const db = yield* Db
    const writer = yield* ArchiveWriter
    const current = db.read(organizationId, keys.current(organizationId))
    if ((yield* current) === null) yield* setArchiveKey(organization)
    const key = yield* current
    if (key === null) return yield* Effect.die(new Error("The archive key was not made"))
    // Tests begin in 1970, before which nothing was sent.
    const now = Math.max(3 * day, Math.floor((yield* Clock.currentTimeMillis) / 1000))
    const [author, reader] = archivedIds.member
    const from = { id: author, name: `${text} sender`, username: null }
    const seen = (id: string, details: SeenMessage["details"] = {}): SeenMessage => ({
      id: BigInt(id),
      at: now - 2 * day + Number(id),
      from,
      kind: "text",
      text: `${text} ${id}`,
      details
    })
    const [first, second] = archivedIds.message
    const files: Record<string, string> = Object.fromEntries(archivedIds.chat.map((id) => [id, crypto.randomUUID()]))
    const withFile = (chat: string) => ({
      files: [{ id: files[chat] ?? "", name: `${text}.txt`, mime_type: "text/plain", bytes: fileContent.length }]
    })
    const archive = yield* writer.own(
      { organizationId, accountId: AccountId.make(account) },
      key,
      crypto.randomUUID()
    )
    const write = Effect.forEach(archivedIds.chat, (id) =>
      Effect.gen(function*() {
        const chatId = BigInt(id)
        const info = { title: `${text} ${id}`, username: null, members_count: 2 }
        yield* archive.see({ chatId, type: "group", leftAt: null, info })
        yield* archive.setMembers(
          chatId,
          [author, reader].map((member) => ({
            id: member,
            name: `${text} ${member}`,
            username: null,
            phone: null,
            role: "member" as const,
            joined_at: null,
            last_seen_in_chat_at: null
          }))
        )
        const edited = { ...seen(first), text: `${text} edited`, details: { edited_at: now - day } }
        yield* archive.append(chatId, [seen(first), seen(second, withFile(id)), edited], "sweep")
      }), { discard: true })
    yield* db.transaction(organizationId, write)
    for (const id of Object.values(files)) {
      yield* archive.storeFile(id, {
        messengerFile: id,
        bytes: fileContent.length,
        content: Stream.make(Buffer.from(fileContent))
      })
    }
    return Object.values(files)
  },
  Effect.scoped,
  Effect.orDie
)
