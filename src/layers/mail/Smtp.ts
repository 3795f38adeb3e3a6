/** Mail by SMTP. */
import { Duration, Effect, Layer, Predicate, Redacted } from "effect"
import * as crypto from "node:crypto"
import type { SendMailOptions, Transporter } from "nodemailer"
import { html, plainText } from "../../domain/mail/Letter.ts"
import { MailSender, NotSent, type OutgoingMail } from "../../ports/mail/MailSender.ts"
import { type MailServer, MailSettings } from "./MailSettings.ts"

/** The time that the server may be silent, and that one mail may take; less than a mail is claimed for. */
const timeouts = { silence: Duration.seconds(10), inAll: Duration.seconds(25) }

/** Commands whose refusal is about one mail and not about the service. */
const aboutMail = ["RCPT TO", "DATA"]

/** The reason that a mail was not taken, by codes alone: what servers write repeats addresses. */
const notSent = (cause: unknown): NotSent => {
  const has = (name: "code" | "command" | "responseCode") =>
    Predicate.hasProperty(cause, name) ? String(cause[name]) : ""
  const [code, command, status] = [has("code"), has("command"), has("responseCode")]
  const reason = [status, command, code].filter((part) => part !== "").join(" ")
  return new NotSent({
    reason: reason === "" ? "unknown" : reason,
    final: status.startsWith("5") && aboutMail.includes(command)
  })
}

/** Loads the library with the first mail: most starts send none. */
const connect = async ({ host, port, tls, user }: MailServer, silence: number): Promise<Transporter> => {
  const { createTransport } = await import("nodemailer")
  return createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "required",
    ignoreTLS: tls === "none",
    tls: { minVersion: "TLSv1.2" },
    ...(user === null ? {} : { auth: { user: user.name, pass: Redacted.value(user.password) } }),
    connectionTimeout: silence,
    greetingTimeout: silence,
    socketTimeout: silence,
    dnsTimeout: silence,
    disableFileAccess: true,
    disableUrlAccess: true
  })
}

const message = (
  { at, id, letter, recipient }: OutgoingMail,
  from: { readonly name: string; readonly address: string }
): SendMailOptions => {
  const digest = crypto.createHash("sha256").update(`${id} ${recipient}`).digest("hex").slice(0, 32)
  return {
    from,
    // As an object no part of it is read as another address.
    to: { name: "", address: recipient },
    subject: letter.subject,
    text: plainText(letter),
    html: html(letter),
    date: at,
    messageId: `<${digest}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" }
  }
}

/** Sends by the server of the settings, as long as it takes. */
export const layerWith = ({ inAll, silence }: typeof timeouts) =>
  Layer.effect(
    MailSender,
    Effect.gen(function*() {
      const settings = yield* MailSettings
      if (settings === null) return null
      const transporter = yield* Effect.cached(
        Effect.promise(() => connect(settings.server, Duration.toMillis(silence)))
      )
      return {
        send: Effect.fnUntraced(function*(mail: OutgoingMail) {
          const server = yield* transporter
          yield* Effect.tryPromise({
            try: () => server.sendMail(message(mail, settings.from)),
            catch: notSent
          }).pipe(
            Effect.timeoutOrElse({
              duration: inAll,
              orElse: () => Effect.fail(new NotSent({ reason: "no answer in time", final: false }))
            })
          )
        })
      }
    })
  )

/** Sends by the server of the settings. */
export const layer = layerWith(timeouts)
