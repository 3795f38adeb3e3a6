/** Contents of the archive that end early once their caller may not read them any more. */
import { Clock, Duration, Effect, Stream } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { type Content, ContentBroken } from "../../domain/Content.ts"
import { contentLooked, contentTime, contentUnsure } from "../../domain/Limits.ts"
import { isArchiveOpen } from "../../domain/organization/Organization.ts"
import type { Caller } from "../../domain/people/Access.ts"
import { noteUnreadableFiles } from "../../kernel/runners/UnreadableNotes.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import type { FoundFile } from "../../ports/archive/ArchiveFiles.ts"
import { Credentials } from "../../ports/credentials/Credentials.ts"
import { Db } from "../../ports/Db.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"

const period = Duration.toMillis(contentLooked)
const unsure = Duration.toMillis(contentUnsure)
const longest = Duration.toMillis(contentTime)

/** True if the caller may read the account's archive as things are now. */
const mayRead = Effect.fnUntraced(function*(caller: Caller["Service"], accountId: AccountId, now: Date) {
  const { organizationId } = caller
  const accounts = yield* Accounts
  const credentials = yield* Credentials
  const db = yield* Db
  const organizations = yield* Organizations
  const { facts, isLive, reached } = yield* db.read(
    organizationId,
    Effect.all({
      facts: organizations.facts({ organizationId }),
      isLive: credentials.isLive(caller, now),
      reached: accounts.archived(caller, [accountId])
    }, { concurrency: "unbounded" })
  )
  return isLive && reached.length > 0 && isArchiveOpen(facts, now)
})

/** The bytes; they fail with `gone` where the caller may not read them any more, or has taken too long. */
export const watched = <E, R>(
  caller: Caller["Service"],
  accountId: AccountId,
  gone: () => E,
  bytes: Stream.Stream<Uint8Array, E, R>
) =>
  Stream.unwrap(Effect.map(Clock.currentTimeMillis, (began) => {
    let lookedAt = began
    let sureAt = began
    return Stream.mapEffect(
      bytes,
      Effect.fnUntraced(function*(chunk) {
        const at = yield* Clock.currentTimeMillis
        if (at - lookedAt < period) return chunk
        lookedAt = at
        const may = yield* Effect.orElseSucceed(mayRead(caller, accountId, new Date(at)), () => null)
        if (may === true) sureAt = at
        const isOver = may === false || at - sureAt > unsure || at - began >= longest
        return isOver ? yield* Effect.fail(gone()) : chunk
      })
    )
  }))

/** The content of an archived file, watched. That it is missing or damaged is noted. */
export const watchFile = Effect.fnUntraced(
  function*(caller: Caller["Service"], { accountId, fileId }: FoundFile, content: Content) {
    const services = yield* Effect.context<
      Accounts | Credentials | Organizations | Effect.Services<ReturnType<typeof noteUnreadableFiles>>
    >()
    const gone = () => new ContentBroken({ reason: "its caller may not read it any more, or has taken too long" })
    const bytes: Content["bytes"] = (range) =>
      watched(caller, accountId, gone, content.bytes(range)).pipe(
        Stream.tapError(({ isLost }) =>
          isLost === true ? noteUnreadableFiles(caller, accountId, [fileId]) : Effect.void
        ),
        Stream.provideContext(services)
      )
    return { ...content, bytes } satisfies Content
  }
)
