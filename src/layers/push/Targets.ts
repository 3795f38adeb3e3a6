/** The targets of a list of addresses. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { PushTarget } from "../../ports/journal/CheckpointQueue.ts"
import * as File from "./File.ts"
import * as Syslog from "./Syslog.ts"
import * as Webhook from "./Webhook.ts"

/** An address in the list cannot be pushed to; the message names its place and never repeats it. */
export class TargetInvalid extends Schema.TaggedError<TargetInvalid>()("TargetInvalid", { message: Schema.String }) {}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host)

const parse = (text: string): PushTarget | undefined => {
  const [, file] = /^file:(?:\/\/)?(\/.+)$/.exec(text) ?? []
  if (file !== undefined) return File.target(file)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hash !== "") return undefined
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) {
    return Webhook.target(Redacted.make(url))
  }
  const [, transport] = /^syslog\+(tcp|udp):$/.exec(url.protocol) ?? []
  const bare = url.username === "" && url.password === "" && /^\/?$/.test(url.pathname) && url.search === ""
  if ((transport !== "tcp" && transport !== "udp") || url.hostname === "" || url.port === "" || !bare) return undefined
  return Syslog.target(transport, url.hostname.replaceAll(/^\[|\]$/g, ""), Number(url.port))
}

/** The targets that this process pushes checkpoints to, none by default. */
export class Targets extends Context.Service<Targets, ReadonlyArray<PushTarget>>()(
  "org-security-console/layers/push/Targets"
) {
  /** Reads addresses separated by commas. */
  static readonly make = Effect.fnUntraced(function*(text: Redacted.Redacted) {
    const targets = new Map<string, PushTarget>()
    const entries = Redacted.value(text).split(",").map((entry) => entry.trim()).filter((entry) => entry !== "")
    for (const [place, entry] of entries.entries()) {
      const target = parse(entry)
      if (target === undefined || targets.has(target.name)) {
        return yield* new TargetInvalid({
          message: "Checkpoints are pushed to addresses that differ, separated by commas: file:/path, " +
            "https://host/path (http on loopback alone), syslog+tcp://host:port or syslog+udp://host:port; " +
            `address ${place + 1} is none of these.`
        })
      }
      targets.set(target.name, target)
    }
    return [...targets.values()]
  })

  static readonly layerText = (text: Redacted.Redacted) => Layer.effect(Targets, Targets.make(text))
}
