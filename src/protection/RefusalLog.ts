/** Logs why the messenger did not do what the watch asked, each cause once an hour. */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { cleanText } from "../domain/messenger/Messenger.ts"
import type { MessengerFailure } from "../ports/messenger/MessengerSession.ts"
import type { ClaimedAccount } from "../ports/protection/Monitors.ts"

const period = Duration.toMillis(Duration.hours(1))

/** The texts of causes are the platform's, so that their number is not known. */
const causesKept = 100

/** The request that was refused. */
export type Asking = "read an account's sessions" | "sign a session out"

const causeOf = (failure: Exclude<MessengerFailure, { readonly _tag: "NoSession" }>): string => {
  switch (failure._tag) {
    case "PlatformBusy":
      return "it asks to wait"
    case "PlatformUnavailable":
      return "it did not answer"
    case "PlatformRefused":
      return cleanText(failure.reason) ?? "it refused"
  }
}

export class RefusalLog extends Context.Service<RefusalLog, {
  /** Logs the failure, if its cause was not logged within the last hour. A lost session has an event of its own. */
  note(
    asking: Asking,
    failure: MessengerFailure,
    account: Pick<ClaimedAccount, "accountId" | "organizationId">
  ): Effect.Effect<
    void
  >
}>()("org-security-console/protection/RefusalLog") {
  static readonly layer = Layer.sync(RefusalLog, () => {
    const logged = new Map<string, number>()
    return {
      note: Effect.fnUntraced(function*(asking, failure, { accountId, organizationId }) {
        if (failure._tag === "NoSession") return
        const cause = `The messenger did not let the service ${asking}: ${causeOf(failure)}`
        const now = yield* Clock.currentTimeMillis
        const last = logged.get(cause)
        if (last !== undefined && now - last < period) return
        const [oldest] = logged.keys()
        if (oldest !== undefined && logged.size >= causesKept) logged.delete(oldest)
        logged.delete(cause)
        logged.set(cause, now)
        yield* Effect.annotateLogs(Effect.logWarning(cause), { organization_id: organizationId, account_id: accountId })
      })
    }
  })
}
