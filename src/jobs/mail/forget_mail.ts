import { Effect } from "effect"
import { mailKept } from "../../domain/mail/Delivery.ts"
import { before, now } from "../../domain/Moments.ts"
import { MailQueue } from "../../ports/mail/MailQueue.ts"
import * as Job from "../Job.ts"

/** As long as a record is there, no cause writes its mail again. */
export const forgetMail = Job.make("forget_mail", {
  period: "10 minutes",
  does: "deletes the records of mails after 30 days",
  run: Effect.gen(function*() {
    yield* (yield* MailQueue).forget(before(yield* now, mailKept))
  })
})
