/** Sends the mails that are due, each at least once. */
import { Cause, Duration, Effect, Exit, Metric, Redacted, Schema } from "effect"
import { mailBatches } from "../../domain/Limits.ts"
import { joinedFrom, nextAttempt } from "../../domain/mail/Delivery.ts"
import { supportRequested } from "../../domain/mail/index.ts"
import { joined, Letter } from "../../domain/mail/Letter.ts"
import { after, now } from "../../domain/Moments.ts"
import { type Bundle, MailQueue, type QueuedMail } from "../../ports/mail/MailQueue.ts"
import { MailSender, NotSent } from "../../ports/mail/MailSender.ts"
import * as Job from "../Job.ts"

/** The number of mails that are claimed, and sent, at a time. */
const batch = 10

/** The number of waiting notifications that one mail joins. */
const joinedAtMost = 100

/** The time that a process keeps claimed mails for itself, even if the process has ended. */
const claimTime = Duration.seconds(60)

const failed = Metric.counter("console_mail_failed_total", {
  description: "Mails that were given up",
  incremental: true
})

const decodeLetter = Schema.decodeUnknownEffect(Schema.fromJsonString(Letter))

const letterOf = Effect.fnUntraced(function*(mail: QueuedMail) {
  const text = yield* (yield* MailQueue).letter(mail)
  return yield* Effect.orDie(decodeLetter(Redacted.value(text)))
})

const send = Effect.fnUntraced(function*(bundle: Bundle) {
  const sender = yield* MailSender
  const letters = yield* Effect.forEach(bundle, letterOf)
  const [{ created_at, id, recipient }] = bundle
  const [letter] = letters
  if (sender === null || letter === undefined) return yield* new NotSent({ reason: "no mail is set up", final: false })
  yield* sender.send({ id, recipient, at: created_at, letter: letters.length === 1 ? letter : joined(letters) })
})

/** Keeps how it went. */
const finish = Effect.fnUntraced(function*(token: string, bundle: Bundle, failure: NotSent | null) {
  const at = yield* now
  const mails = bundle.map((mail) => ({
    mail,
    next: failure === null || failure.final ? null : nextAttempt(mail.created_at, mail.attempts + 1, at)
  }))
  yield* (yield* MailQueue).finish(token, mails, failure?.reason ?? null, at)
  const abandoned = failure === null ? 0 : mails.filter(({ next }) => next === null).length
  if (abandoned > 0) yield* Metric.update(failed, abandoned)
})

/** Of two processes one claims each mail. The first failure of a server is logged, and when it works again. */
export const sendMail = Job.makeWith("send_mail", {
  period: "1 second",
  does: "sends the mails that are due",
  start: Effect.gen(function*() {
    const queue = yield* MailQueue
    const most = (yield* MailSender) === null ? 0 : mailBatches
    let failing = false
    const report = Effect.fnUntraced(function*(failure: NotSent | null) {
      if (failure !== null && !failure.final && !failing) {
        failing = true
        yield* Effect.logWarning(`Mail is not sent: ${failure.reason}`)
      }
      if (failure === null && failing) {
        failing = false
        yield* Effect.logInfo("Mail is sent again")
      }
    })
    const deliver = Effect.fnUntraced(function*(token: string, bundle: Bundle) {
      const exit = yield* Effect.exit(send(bundle))
      if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return
      // A letter that cannot be opened is tried again too: the pepper may come back.
      const failure = Exit.isSuccess(exit)
        ? null
        : exit.cause.reasons.filter(Cause.isFailReason).map(({ error }) => error)[0] ??
          new NotSent({ reason: "it could not be made", final: false })
      yield* finish(token, bundle, failure)
      yield* report(failure)
    })
    return {
      run: Effect.gen(function*() {
        for (let turn = 0; turn < most && (yield* queue.isDue(yield* now)); turn++) {
          const at = yield* now
          const claimed = yield* queue.claim({
            now: at,
            until: after(at, claimTime),
            limit: batch,
            joined: { from: joinedFrom, atMost: joinedAtMost },
            toAnyone: supportRequested.kind
          })
          if (claimed === null) break
          const { bundles, token } = claimed
          yield* Effect.forEach(bundles, (bundle) => deliver(token, bundle), { concurrency: batch, discard: true })
        }
        yield* queue.count
      })
    }
  })
})
