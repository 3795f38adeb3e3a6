/** The MCP server over standard input and output, for assistants that start their servers themselves. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Logger, Option, Redacted } from "effect"
import { HttpClient, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as App from "../../http/App.ts"
import * as Randomness from "../../layers/crypto/Randomness.ts"
import * as DatabaseClock from "../../layers/postgres/DatabaseClock.ts"
import * as Handler from "../../mcp/Handler.ts"
import * as Stdio from "../../mcp/Stdio.ts"
import { archivePasswordHeader } from "../../transport/Extras.ts"
import * as Site from "../../transport/Site.ts"
import * as Settings from "../settings/Settings.ts"
import * as Sites from "../settings/Sites.ts"
import * as Background from "./BackgroundWork.ts"
import * as ControlSocket from "./ControlSocket.ts"
import * as Environment from "./Environment.ts"
import * as Handover from "./Handover.ts"
import * as Logs from "./Logs.ts"
import * as Messenger from "./ProcessMessenger.ts"
import * as RemoteMcp from "./RemoteMcp.ts"

/** Every setting of `mcp`. */
export interface McpSettings
  extends Background.BackgroundSettings, Sites.SiteSettings, Pick<Logs.LogSettings, "logLevel">
{
  readonly url: Option.Option<string>
  readonly toolsets: Option.Option<string>
  readonly readOnly: boolean
}

const invalid = (message: string) => new Environment.SettingInvalid({ message })

/** The parts of a session that go with every request. */
interface Session {
  readonly headers: Readonly<Record<string, string>>
  /** The path and query of the server. */
  readonly target: string
}

const sessionOf = (
  settings: McpSettings,
  key: Redacted.Redacted,
  archivePassword: Option.Option<Redacted.Redacted>
): Session => ({
  headers: {
    authorization: `Bearer ${Redacted.value(key)}`,
    ...Option.match(archivePassword, { onNone: () => ({}), onSome: archivePasswordHeader }),
    ...(settings.readOnly ? { "x-mcp-readonly": "true" } : {})
  },
  target: Option.match(settings.toolsets, {
    onNone: () => Handler.path,
    onSome: (names) => `${Handler.path}?${new URLSearchParams({ toolsets: names })}`
  })
})

const localUrl = "http://localhost"

/** Asks the handler in this process. */
const askHere = Effect.fnUntraced(function*(session: Session) {
  const sites = Site.make([{ baseUrl: localUrl, organizationId: null }])
  const handler = yield* Effect.provideService(Handler.make({ console: false }), Site.Sites, sites)
  const app = yield* App.make.pipe(
    Effect.provideService(Site.Sites, sites),
    Effect.provideService(App.Mounts, [{ path: Handler.path, handler }])
  )
  const ask: Stdio.Ask = (headers, body) => {
    const request = new Request(`${localUrl}${session.target}`, {
      method: "POST",
      headers: { ...session.headers, ...headers, host: new URL(localUrl).host },
      body
    })
    return app.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
      Effect.map((response) => HttpServerResponse.toWeb(response)),
      Effect.flatMap((response) =>
        Effect.map(Effect.promise(() => response.text()), (text) => ({
          status: response.status,
          contentType: response.headers.get("content-type") ?? "",
          text
        }))
      )
    )
  }
  return ask
})

/** A message that costs nothing and changes nothing, and that only a good credential gets past the door with. */
const probe = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })

/** Serves, once the credential has been found good. */
const serve = Effect.fnUntraced(function*(ask: Stdio.Ask) {
  const { status } = yield* ask(Stdio.plainHeaders, probe)
  if (status === 401) {
    return yield* invalid("The API key in CONSOLE_API_KEY is invalid, expired or revoked.")
  }
  if (status === 404) return yield* invalid("There is no MCP server at this address.")
  if (status >= 400 && status !== 429 && status !== 503) {
    return yield* invalid(`The MCP server refuses the connection with status ${status}.`)
  }
  return yield* Stdio.serve(ask)
})

/** Opens the database in this process; on a directory, commands and the request to let it go come by its socket. */
const open = (settings: McpSettings, session: Session) =>
  Effect.fnUntraced(function*(release: Effect.Effect<void>) {
    const embedded = Environment.isEmbedded(settings)
    yield* Environment.check(settings)
    yield* Environment.present(settings)
    const targets = yield* Background.targets(settings)
    const database = yield* Layer.build(DatabaseClock.layer.pipe(Layer.provideMerge(Environment.sql(settings))))
    const opened = Effect.gen(function*() {
      yield* Environment.prepare({ embedded })
      const core = Environment.service(settings, Messenger.none)
      const services = (embedded ? ControlSocket.layer(settings.data, release) : Layer.empty).pipe(
        Layer.provideMerge(Background.layer(settings, { targets })),
        Layer.provideMerge(core),
        Layer.provideMerge(Randomness.layer),
        Layer.provideMerge(Sites.consoleAddress(yield* Sites.parse(settings, [])))
      )
      return yield* Effect.provideContext(askHere(session), yield* Layer.build(services))
    })
    return yield* Effect.provideContext(opened, database)
  })

/** Asks the process that has the database: this one, or on a directory the service that runs on it. */
const askLocally = Effect.fnUntraced(function*(settings: McpSettings, session: Session) {
  const opening = open(settings, session)
  if (!Environment.isEmbedded(settings)) return yield* opening(Effect.void)
  const client = yield* HttpClient.HttpClient
  return yield* Handover.make({
    directory: settings.data,
    open: opening,
    askService: ({ host, url }) => RemoteMcp.askOver(client, { ...session, url, headers: { ...session.headers, host } })
  })
})

/** Serves until standard input ends. */
export const mcp = (settings: McpSettings) =>
  Effect.gen(function*() {
    const key = yield* Settings.apiKey
    if (Option.isNone(key)) return yield* invalid("An API key is needed, in the environment as CONSOLE_API_KEY.")
    const session = sessionOf(settings, key.value, yield* Settings.archivePassword)
    if (Option.isNone(settings.url)) {
      return yield* Effect.scoped(Effect.flatMap(askLocally(settings, session), serve))
    }
    const url = settings.url.value.replace(/\/+$/, "").replace(/\/mcp$/, "")
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      return yield* invalid(`--url is an address such as https://security.example.com, not ${settings.url.value}.`)
    }
    return yield* serve(RemoteMcp.askOver(yield* HttpClient.HttpClient, { ...session, url }))
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        NodeHttpClient.layerNodeHttp,
        Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
        Logs.layerLevel(settings)
      )
    ),
    Effect.provideService(Logger.LogToStderr, true)
  )
