/** The refusals and warnings of `serve` before it opens anything: settings that would leave it unsafe or misread. */
import { Effect, Option } from "effect"
import * as Environment from "../process/Environment.ts"
import * as UnknownVariables from "./UnknownVariables.ts"

/** The settings that are checked. */
export interface CheckedSettings {
  readonly demo: boolean
  readonly messenger: "none" | "wire"
  readonly host: string
  readonly baseUrl: Option.Option<string>
  readonly sites: Option.Option<string>
  readonly trustedProxies: Option.Option<string>
}

const invalid = (message: string) => new Environment.SettingInvalid({ message })

/** True if the host of an address, or the address to listen on, is this machine's own. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** The addresses that clients are given, those that can be read; the others are refused where they are parsed. */
const addresses = ({ baseUrl, sites }: CheckedSettings): ReadonlyArray<readonly [setting: string, url: URL]> =>
  [
    ...Option.toArray(baseUrl).map((text) => ["--base-url", text] as const),
    ...Option.getOrElse(sites, () => "").split(",").map((entry) =>
      ["--sites", entry.slice(entry.indexOf("=") + 1).trim()] as const
    )
  ].flatMap(([setting, text]) => URL.canParse(text) ? [[setting, new URL(text)] as const] : [])

/** Refuses a demo that others could reach, and addresses that would carry passwords and keys in the clear. */
export const refuse = Effect.fnUntraced(function*(settings: CheckedSettings) {
  if (settings.demo && !isLoopback(settings.host)) {
    return yield* invalid("--demo listens on loopback alone: its messenger is simulated, and its keys are printed.")
  }
  if (settings.demo && settings.messenger !== "none") {
    return yield* invalid("--demo simulates the messenger: serve without it, or without --messenger.")
  }
  for (const [setting, url] of addresses(settings)) {
    if (isLoopback(url.hostname)) continue
    if (settings.demo) {
      return yield* invalid(
        `--demo is for this machine alone, and ${setting} says ${url.origin}: leave it out, or serve without --demo.`
      )
    }
    if (url.protocol === "http:") {
      return yield* invalid(
        `${setting} is an https address, not ${url.origin}: over http everybody on the way reads passwords and keys.`
      )
    }
  }
})

/** Warns of variables that no setting has, and of a proxy that is not named. */
export const warn = Effect.fnUntraced(function*(settings: CheckedSettings, bound: string) {
  for (const { name, nearest } of UnknownVariables.unknown()) {
    yield* Effect.logWarning(UnknownVariables.advice(name, nearest))
  }
  const elsewhere = addresses(settings).filter(([, { host }]) => host !== new URL(bound).host)
  if (elsewhere.length > 0 && Option.isNone(settings.trustedProxies)) {
    yield* Effect.logWarning(
      `Clients come by ${elsewhere.map(([, { origin }]) => origin).join(", ")}, so there is a proxy in front, and ` +
        "without --trusted-proxies all of them share its address: their limits, and the addresses in the journal"
    )
  }
})
