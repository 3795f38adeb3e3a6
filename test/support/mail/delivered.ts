/** Mails as they arrive: sent by the outbox's own job to a server on loopback. */
import { Effect, Layer, Redacted } from "effect"
import { sendMail } from "../../../src/jobs/mail/send_mail.ts"
import * as MailSettings from "../../../src/layers/mail/MailSettings.ts"
import * as Smtp from "../../../src/layers/mail/Smtp.ts"
import * as MailQueue from "../../../src/layers/sql/mail/MailQueue.ts"
import { begin } from "../jobs.ts"
import * as World from "../world.ts"
import * as MailServer from "./mailServer.ts"

/** Sends the mails that wait, and answers what a server has received. */
export const delivered = Effect.gen(function*() {
  const server = yield* MailServer.start()
  const settings = yield* MailSettings.parse({ ...World.mail, url: Redacted.make(server.url) })
  const sender = Smtp.layer.pipe(Layer.provide(Layer.succeed(MailSettings.MailSettings, settings)))
  yield* Effect.flatten(begin(sendMail)).pipe(Effect.provide(Layer.merge(sender, MailQueue.layer), { local: true }))
  return server.received
})

/** The path of the link in a mail as it came. */
export const linkIn = (text: string): string =>
  /http:\/\/[^/\s]+(\/console\/\S+)/.exec(text.replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[1] ?? ""
