/** The address of a service elsewhere, as commands are given it. */
import { Effect, Schema } from "effect"

const loopback = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?(?:\/|$)/

class AddressInvalid extends Schema.TaggedError<AddressInvalid>()("AddressInvalid", { message: Schema.String }) {}

/** The service's base address. Without TLS, secrets would travel for everybody to read. */
export const addressOf = (text: string) => {
  const url = text.replace(/\/+$/, "").replace(/\/mcp$/, "")
  return URL.canParse(url) && (url.startsWith("https://") || loopback.test(url))
    ? Effect.succeed(url)
    : Effect.fail(
      new AddressInvalid({
        message: `--url is an address such as https://security.example.com, or http on this machine, not ${text}.`
      })
    )
}
