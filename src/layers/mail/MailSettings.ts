/** The settings of mail. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"

/** A setting of mail cannot be used; the message never repeats the address of the server. */
export class MailSettingInvalid extends Schema.TaggedError<MailSettingInvalid>()("MailSettingInvalid", {
  message: Schema.String
}) {}

/** The server that takes the mails. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte, demanded before anything is said, or none. */
  readonly tls: "implicit" | "required" | "none"
  readonly user: { readonly name: string; readonly password: Redacted.Redacted } | null
}

export interface MailText {
  /** `smtp://` or `smtps://`, with the user and the password of the server. */
  readonly url: Redacted.Redacted
  /** The sender, as `Name <address>` or `address`. */
  readonly from: string
  /** The address that requests to the support go to. */
  readonly support?: string | undefined
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)

const address = /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+$/u

const invalid = (message: string) => new MailSettingInvalid({ message })

const parseServer = (text: string): MailServer | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === "") return undefined
  if (!/^\/?$/.test(url.pathname) || !/^(?:\?tls=off)?$/.test(url.search) || url.hash !== "") return undefined
  const host = url.hostname.replaceAll(/^\[|\]$/g, "")
  const implicit = url.protocol === "smtps:"
  if (implicit && url.search !== "") return undefined
  return {
    host,
    port: url.port === "" ? implicit ? 465 : 587 : Number(url.port),
    tls: implicit ? "implicit" : url.search !== "" || isLoopback(host) ? "none" : "required",
    user: url.username === "" ? null : {
      name: decodeURIComponent(url.username),
      password: Redacted.make(decodeURIComponent(url.password))
    }
  }
}

const parseFrom = (text: string) => {
  const [, name = "", inner] = /^([^<>"\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? []
  const mailbox = (inner ?? text).trim()
  return address.test(mailbox) ? { name: inner === undefined ? "" : name.trim(), address: mailbox } : undefined
}

/** The settings of mail; null where the service sends none. */
export const MailSettings = Context.Reference<
  {
    readonly server: MailServer
    readonly from: { readonly name: string; readonly address: string }
    readonly support: string | null
  } | null
>("org-security-console/layers/mail/MailSettings", { defaultValue: () => null })

/** Reads the settings as an operator writes them; none sends no mail. */
export const parse = Effect.fnUntraced(function*(text: MailText | null) {
  if (text === null) return null
  const server = parseServer(Redacted.value(text.url))
  if (server === undefined) {
    return yield* invalid(
      "Mail is sent to an address such as smtps://user:password@host:465 or smtp://user:password@host:587."
    )
  }
  const from = parseFrom(text.from)
  if (from === undefined) {
    return yield* invalid(
      "The sender of mail is an address such as console@example.com or Console <console@example.com>."
    )
  }
  if (text.support !== undefined && !address.test(text.support)) {
    return yield* invalid("The address of the support is one such as support@example.com.")
  }
  return { server, from, support: text.support ?? null }
})

/** The settings for what writes and what sends mail. */
export const layer = (text: MailText | null) => Layer.effect(MailSettings, parse(text))
