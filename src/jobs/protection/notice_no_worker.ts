import { Effect, Schema } from "effect"
import { unpolledReported } from "../../domain/Limits.ts"
import { now } from "../../domain/Moments.ts"
import { isOlder } from "../../domain/protection/PollFacts.ts"
import { SilentAccounts } from "../../ports/protection/SilentAccounts.ts"
import * as Job from "../Job.ts"
import { noticeAfter } from "./Silence.ts"

/** Accounts are due, and no process polls any. */
class NotPolled extends Schema.TaggedError<NotPolled>()("NotPolled", { message: Schema.String }) {}

/** A process that has only just started has not waited long enough: the others may have started with it. */
const notice = Effect.fnUntraced(function*(started: Date) {
  const at = yield* now
  if (!isOlder(started, unpolledReported, at)) return
  const since = yield* (yield* SilentAccounts).waitingSince
  if (!isOlder(since, unpolledReported, at)) return
  yield* noticeAfter(unpolledReported)
  return yield* new NotPolled({
    message: `No account has been polled since ${since?.toISOString()}, although some are due: no worker watches`
  })
})

/** Rows that another process has locked are skipped. Only of a service whose accounts are to be watched. */
export const noticeNoWorker = Job.makeWith("notice_no_worker", {
  period: "15 seconds",
  does:
    "sets the status of accounts to unknown as soon as no process has polled any account for 90 seconds, although one is due; it fails until a worker watches again",
  start: Effect.map(now, (started) => ({ run: notice(started) }))
})
