/** The addresses of the service, from the settings. */
import { Effect, Layer, Option, Schema } from "effect"
import { isOrganizationId, OrganizationId } from "../../domain/people/Access.ts"
import { ConsoleAddress } from "../../ports/signin/ConsoleAddress.ts"
import * as Site from "../../transport/Site.ts"
import * as Environment from "../process/Environment.ts"
import * as Settings from "./ServiceSettings.ts"

export interface SiteSettings {
  readonly baseUrl: Option.Option<string>
  readonly sites: Option.Option<string>
}

const invalid = (message: string) => new Environment.SettingInvalid({ message })

const isId = Schema.is(Schema.String.check(isOrganizationId))

/** The parts of a list between commas. */
export const list = (text: Option.Option<string>): ReadonlyArray<string> =>
  Option.getOrElse(text, () => "").split(",").map((part) => part.trim()).filter((part) => part !== "")

/** An address of the service: http or https, without a slash at the end. */
export const parseUrl = (setting: string, text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" ||
      url.username !== ""
    ? Effect.fail(invalid(`${setting} is an address such as https://security.example.com, not ${text}.`))
    : Effect.succeed(text.replace(/\/+$/, ""))
}

/** The service's own sites: the configured base address, or else these; and those of organizations. */
export const parse = Effect.fnUntraced(function*({ baseUrl, sites }: SiteSettings, local: ReadonlyArray<string>) {
  const own = yield* Effect.forEach(Option.toArray(baseUrl), (text) => parseUrl("--base-url", text))
  const organizations = yield* Effect.forEach(list(sites), (entry) =>
    Effect.gen(function*() {
      const equals = entry.indexOf("=")
      const id = entry.slice(0, equals)
      if (equals < 1 || !isId(id)) {
        return yield* invalid(`--sites is a list such as acme=https://security.acme.example, not ${entry}.`)
      }
      return { organizationId: OrganizationId.make(id), baseUrl: yield* parseUrl("--sites", entry.slice(equals + 1)) }
    }))
  return Site.make([
    ...(own.length > 0 ? own : local).map((baseUrl) => ({ baseUrl, organizationId: null })),
    ...organizations
  ])
})

/** The address of each organization's console, for those who make links to it. */
export const consoleAddress = ({ addressOf }: Site.Sites["Service"]) => Layer.succeed(ConsoleAddress, addressOf)

/** The site as the variables say it; nowhere without them. */
export const layerVariables = Layer.unwrap(
  Effect.gen(function*() {
    return consoleAddress(yield* parse(yield* Settings.siteVariables, []))
  })
)
