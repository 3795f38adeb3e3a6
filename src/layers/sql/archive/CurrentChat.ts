/** The title of the chat that a run reads, sealed at rest: it is there only while the run lasts. */
import { Effect, Redacted } from "effect"
import type { Vault } from "../../crypto/Vault.ts"

const contextOf = (organizationId: string, accountId: string) => ["archive-current-chat/1", organizationId, accountId]

export const sealTitle = (vault: Vault["Service"], organizationId: string, accountId: string, title: string): string =>
  vault.seal(Redacted.make(title), contextOf(organizationId, accountId))

/** The facts with titles opened; one that does not open is null, as nothing hangs on it. */
export const withTitles = <
  Facts extends { readonly id: string; readonly archive_current_chat: string | null }
>(vault: Vault["Service"], organizationId: string, facts: ReadonlyArray<Facts>): Effect.Effect<ReadonlyArray<Facts>> =>
  facts.every(({ archive_current_chat }) => archive_current_chat === null)
    ? Effect.succeed(facts)
    : Effect.forEach(facts, (account) => {
      const sealed = account.archive_current_chat
      if (sealed === null) return Effect.succeed(account)
      const title = Effect.map(vault.open(sealed, contextOf(organizationId, account.id)), Redacted.value)
      return Effect.map(
        Effect.catchDefect(title, () => Effect.succeed(null)),
        (archive_current_chat): Facts => ({ ...account, archive_current_chat })
      )
    })
