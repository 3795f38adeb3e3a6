/** The service as a process: its database, its address, and its messages at the start. */
import { Console, Effect, Layer, Option, Ref, Result, Schedule, Schema } from "effect"
import { HttpServer } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { SqlClient } from "effect/sql"
import { ServiceUnavailable } from "../../domain/Failure.ts"
import { Assistant } from "../../domain/oauth/OAuth.ts"
import * as App from "../../http/App.ts"
import * as Health from "../../http/Health.ts"
import * as Server from "../../http/Server.ts"
import { CheckpointKeys } from "../../layers/crypto/journal/CheckpointKeys.ts"
import * as Randomness from "../../layers/crypto/Randomness.ts"
import * as ClientDocuments from "../../layers/documents/ClientDocuments.ts"
import * as Codes from "../../layers/messenger/simulated/Codes.ts"
import { Conversations } from "../../layers/messenger/simulated/Conversations.ts"
import { Strangers } from "../../layers/messenger/simulated/Strangers.ts"
import * as DatabaseClock from "../../layers/postgres/DatabaseClock.ts"
import * as Tenant from "../../layers/postgres/Tenant.ts"
import * as Handler from "../../mcp/Handler.ts"
import { isAcceptable } from "../../oauth/RedirectUri.ts"
import { LoginStarts } from "../../ports/logins/Logins.ts"
import * as Ports from "../../ports/oauth/OAuthPorts.ts"
import { Directory } from "../../ports/organization/Directory.ts"
import { Engine } from "../../protection/PollLoop.ts"
import * as Site from "../../transport/Site.ts"
import {
  JournalKeys,
  MessengerStatus,
  Readiness,
  RequestLines,
  TrustedProxies,
  Watching
} from "../../transport/TransportSettings.ts"
import * as Output from "../commands/Output.ts"
import { version } from "../PackageFiles.ts"
import * as ProcessRoles from "../settings/ProcessRoles.ts"
import * as Registration from "../settings/Registration.ts"
import { resourceServers } from "../settings/ResourceServers.ts"
import * as Settings from "../settings/Settings.ts"
import * as Sites from "../settings/Sites.ts"
import * as StartChecks from "../settings/StartChecks.ts"
import * as Background from "./BackgroundWork.ts"
import * as ControlSocket from "./ControlSocket.ts"
import * as Demo from "./Demo.ts"
import * as Environment from "./Environment.ts"
import * as Forwarded from "./ForwardedCalls.ts"
import * as Handover from "./Handover.ts"
import * as Address from "./HolderAddress.ts"
import * as Logs from "./Logs.ts"
import * as MetricsServer from "./MetricsServer.ts"
import * as Messenger from "./ProcessMessenger.ts"
import * as Telemetry from "./Telemetry.ts"
import * as WireMessenger from "./WireMessenger.ts"

/** Every setting of `serve`, with the directory that it takes. */
interface ServeSettings
  extends
    Settings.Migrating,
    Settings.WatchSettings,
    Settings.ArchiveSettings,
    Settings.Messenger,
    Settings.MailOptions,
    Background.BackgroundSettings,
    Logs.LogSettings,
    Telemetry.TelemetrySettings,
    Sites.SiteSettings
{
  readonly metricsAddress: Option.Option<string>
  readonly host: string
  readonly port: number
  readonly maxClients: number
  readonly trustedProxies: Option.Option<string>
  readonly allowedOrigins: Option.Option<string>
  readonly allTools: boolean
  readonly personalArguments: boolean
  readonly knownAssistants: Option.Option<string>
  readonly registration: "open" | "token" | "off"
  readonly clientDocuments: boolean
  readonly migrate: boolean
  readonly demo: boolean
}

const invalid = (message: string) => new Environment.SettingInvalid({ message })

/** The address by the machine's own name: browsers accept passkeys of no address that is a number. */
const localhost = (bound: string): string => {
  const { port } = new URL(bound)
  return `http://localhost${port === "" ? "" : `:${port}`}`
}

/** The service's sites; without a base address it is reached where it listens. */
const parseSites = (settings: ServeSettings, bound: string) => Sites.parse(settings, [bound, localhost(bound)])

const parseProxies = (settings: ServeSettings) =>
  Effect.forEach(Sites.list(settings.trustedProxies), (text) =>
    Result.match(IpNetwork.fromString(text), {
      onSuccess: Effect.succeed,
      onFailure: () => Effect.fail(invalid(`--trusted-proxies is a list such as 10.0.0.0/8, not ${text}.`))
    }))

const parseOrigins = (settings: ServeSettings) =>
  Option.isNone(settings.allowedOrigins)
    ? Effect.succeed({})
    : Effect.map(
      Effect.forEach(Sites.list(settings.allowedOrigins), (text) =>
        URL.canParse(text) && new URL(text).origin === text
          ? Effect.succeed(text)
          : Effect.fail(invalid(`--allowed-origins is a list such as https://assistant.example, not ${text}.`))),
      (allowedOrigins) => ({ allowedOrigins })
    )

const assistant = /^([^=]+)=(\S+)$/

const isAssistant = Schema.is(Assistant)

/** The assistants by the whole address that their codes go to. */
const parseAssistants = Effect.fnUntraced(function*(settings: ServeSettings) {
  const known = new Map<string, Assistant>()
  for (const entry of Option.getOrElse(settings.knownAssistants, () => "").split(/\s+/).filter((part) => part !== "")) {
    const [, name, address = ""] = assistant.exec(entry) ?? []
    if (!isAssistant(name) || !isAcceptable(address)) {
      return yield* invalid(`--known-assistants is a list such as assistant_a=https://host/callback, not ${entry}.`)
    }
    known.set(address, name)
  }
  return known
})

/** The address to serve the metrics at, if there is one. */
const parseMetricsAddress = (settings: ServeSettings) =>
  Effect.forEach(
    Option.toArray(settings.metricsAddress),
    (text) =>
      Result.match(NetAddress.inetAddressFromString(text), {
        onSuccess: ({ address, port }) => Effect.succeed({ host: NetAddress.formatIp(address), port }),
        onFailure: () => Effect.fail(invalid(`--metrics-address is an address such as 127.0.0.1:9464, not ${text}.`))
      })
  )

/** A person's first step where there is nothing yet. */
const hintFirst = (settings: ServeSettings) => {
  const data = Environment.isEmbedded(settings) ? settings.data : null
  return Console.log(`
There is no organization yet. In another terminal, with the same settings:

  ${Output.program} organizations create acme --name "Acme" --owner you@example.com${Output.dataFlag(data)}
${Output.ownerCommands("acme", "you@example.com", data)}
`)
}

const isAway = (error: unknown): boolean => error instanceof ServiceUnavailable

const untilBack = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: isAway, schedule: Schedule.spaced("2 seconds") })

/**
 * Prepares the database, immediately where it answers; where it is away the service starts all the same, answers 503,
 * and prepares it as soon as it is back. A database that cannot be used ends the process.
 */
const prepared = Effect.fnUntraced(function*(settings: ServeSettings) {
  const sql = yield* SqlClient.SqlClient
  const embedded = Environment.isEmbedded(settings)
  const prepare = Tenant.directory(sql, "5 minutes")(Effect.gen(function*() {
    const simulated = settings.demo
    if (!embedded && settings.migrate) yield* Environment.migrate({ ...settings, simulated })
    yield* Environment.prepare({ embedded, simulated })
    if (!embedded) yield* Environment.warnOwner
  }))
  const ready = yield* Ref.make(false)
  const first = yield* Effect.result(prepare)
  if (Result.isFailure(first) && !isAway(first.failure)) return yield* first.failure
  const later = prepare.pipe(
    untilBack,
    Effect.andThen(Ref.set(ready, true))
  )
  if (Result.isSuccess(first)) yield* Ref.set(ready, true)
  else yield* Effect.logWarning("The service answers 503 until its database is back")
  const readiness = Effect.flatMap(
    Ref.get(ready),
    (open) => open ? Effect.void : Effect.fail(new ServiceUnavailable({}))
  )
  return { readiness, later: Result.isSuccess(first) ? Effect.void : later }
})

const serveIn = (settings: ServeSettings) =>
  Effect.gen(function*() {
    const embedded = Environment.isEmbedded(settings)
    yield* StartChecks.refuse(settings)
    yield* Environment.check(settings)
    const trusted = yield* parseProxies(settings)
    const origins = yield* parseOrigins(settings)
    const assistants = yield* parseAssistants(settings)
    const registration = yield* Registration.policy(settings.registration)
    const servers = yield* resourceServers
    const targets = yield* Background.targets(settings)
    const metrics = yield* parseMetricsAddress(settings)
    yield* Effect.forEach(Option.toArray(settings.otlpUrl), (text) => Sites.parseUrl("--otlp-url", text))
    const telemetry = Telemetry.layer(settings, yield* Settings.otlpHeaders, version)
    const roles = yield* ProcessRoles.parse(settings)
    const wire = settings.messenger === "wire"
    const watched = settings.demo || wire
    const watches = watched && roles.worker
    const how = { alone: embedded, worker: roles.worker, cluster: { weight: settings.clusterWeight } }
    const shared = watched && !embedded
    const listener = shared && roles.worker
      ? yield* Forwarded.layerListener(settings)
      : Layer.empty
    const messenger = wire
      ? yield* WireMessenger.make(settings, how)
      : settings.demo
      ? Messenger.simulated(how)
      : Messenger.none
    const core = Environment.service(settings, Layer.provideMerge(messenger, listener))
    // A port that is taken is found before the database is touched.
    const { host, maxClients: maxConnections, port } = settings
    const listening = Server.layerListen({ host, port, maxConnections }).pipe(
      Layer.provide(Layer.succeed(TrustedProxies, trusted)),
      Layer.provideMerge(Randomness.layer)
    )
    const opened = Effect.gen(function*() {
      const { readiness, later } = yield* prepared(settings)
      const { address } = yield* HttpServer.HttpServer
      const bound = HttpServer.formatAddress(address).replace("0.0.0.0", "127.0.0.1")
      const sites = yield* parseSites(settings, bound)
      return yield* Effect.gen(function*() {
        const prepareDemo = Demo.prepare({ api: roles.api })
        const demo = settings.demo ? prepareDemo : Effect.succeed(null)
        const made = yield* Effect.catchIf(demo, isAway, () => Effect.succeed("later" as const))
        const handler = Handler.within({
          ...origins,
          completeList: settings.allTools,
          personalArguments: settings.personalArguments
        })
        const app = roles.api
          ? yield* App.make.pipe(
            Effect.provideService(Site.Sites, sites),
            Effect.provideService(App.Mounts, [{ path: Handler.path, handler }]),
            Effect.provideService(JournalKeys, (yield* CheckpointKeys).publicKeys)
          )
          : yield* Health.only
        if (metrics.length > 0 || Option.isSome(settings.otlpUrl)) {
          yield* MetricsServer.measure({ version, database: embedded ? "embedded" : "postgresql" })
        }
        for (const listen of metrics) yield* Effect.logInfo(`Metrics at ${yield* MetricsServer.serve(listen)}/metrics`)
        yield* Server.serve(app).pipe(
          Effect.provideService(Readiness, readiness),
          Effect.provideService(Watching, yield* Background.watching({ watched })),
          Effect.provideService(MessengerStatus, yield* WireMessenger.messengerStatus),
          Effect.provideService(LoginStarts, settings.loginStarts),
          Effect.provideService(RequestLines, true),
          Effect.provideService(TrustedProxies, trusted),
          Effect.provideService(Ports.KnownAssistants, assistants),
          Effect.provideService(Ports.Registration, registration),
          Effect.provideService(Ports.ClientDocuments, settings.clientDocuments ? ClientDocuments.make() : null),
          Effect.provideService(Ports.ResourceServers, servers)
        )
        yield* Forwarded.answered
        // Running polls end along with the requests in flight.
        const engine = yield* Effect.serviceOption(Engine)
        if (Option.isSome(engine)) yield* Effect.addFinalizer(() => engine.value.stop)
        if (embedded) {
          const { host } = new URL(Option.getOrElse(settings.baseUrl, () => bound))
          yield* Address.publish(settings.data, { url: bound, host })
        }
        const organizations = yield* Effect.orElseSucceed(
          Effect.map((yield* Directory).organizations, ({ length }) => length),
          () => 1
        )
        yield* Console.log(`Listening on ${bound}`)
        const isNamed = ["127.0.0.1", "[::1]"].includes(new URL(bound).hostname)
        const address = Option.getOrElse(settings.baseUrl, () => isNamed ? localhost(bound) : bound)
        const greet = (made: Demo.Demo) =>
          roles.api ? Demo.greet(address, made, embedded ? settings.data : null) : Demo.greetWorker(made)
        if (made !== null && made !== "later") yield* greet(made)
        else if (made === null && organizations === 0) yield* hintFirst(settings)
        yield* later
        if (made === "later") yield* Effect.flatMap(untilBack(prepareDemo), greet)
        return yield* Effect.never
      }).pipe(
        // The requests in flight finish before anything that they need is closed.
        Effect.scoped,
        Effect.provide(
          (embedded ? ControlSocket.layer(settings.data) : Layer.empty).pipe(
            Layer.provideMerge(Background.layer(settings, { targets, ready: readiness, watched })),
            Layer.provideMerge(watches ? Background.watch(settings) : Layer.empty),
            Layer.provideMerge(
              watches && settings.demo
                ? Layer.mergeAll(Strangers.layerComing, Conversations.layerGoingOn, Codes.layerLogged)
                : Layer.empty
            ),
            Layer.provideMerge(shared ? Forwarded.layerElsewhere(settings) : Layer.empty),
            Layer.provideMerge(core),
            Layer.provideMerge(Sites.consoleAddress(sites))
          )
        )
      )
    }).pipe(
      Effect.provide(
        telemetry.pipe(
          Layer.provideMerge(DatabaseClock.layer),
          Layer.provideMerge(Layer.effectDiscard(Environment.refuseUnusable(settings, settings.migrate))),
          Layer.provideMerge(Environment.sql(settings, yield* Handover.request(settings.data)))
        )
      )
    )
    return yield* Effect.gen(function*() {
      const { address } = yield* HttpServer.HttpServer
      yield* StartChecks.warn(settings, HttpServer.formatAddress(address))
      if (embedded) yield* Console.log(`Opening the embedded database in ${settings.data} ...`)
      return yield* opened
    }).pipe(Effect.provide(listening))
  }).pipe(Effect.provide(Logs.layer(settings)))

/** Serves until it is stopped. */
export const serve = (
  { data, ...settings }: Omit<ServeSettings, "data"> & { readonly data: Option.Option<string> }
) =>
  serveIn({
    ...settings,
    data: Option.getOrElse(data, () => settings.demo ? Settings.demoDirectory : Settings.dataDirectory)
  })
