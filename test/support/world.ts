/** The whole service in a test: every layer that a user runs, over a fresh database and the simulated messenger. */
import { Context, Effect, Layer, Option, Redacted, Scope, Tracer } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import type { SqlClient } from "effect/sql"
import * as App from "../../src/http/App.ts"
import * as PasswordDerivation from "../../src/layers/archive/PasswordDerivation.ts"
import * as MemoryBlobs from "../../src/layers/blobs/MemoryBlobs.ts"
import * as Console from "../../src/layers/Console.ts"
import * as Core from "../../src/layers/Core.ts"
import { CheckpointKeys } from "../../src/layers/crypto/journal/CheckpointKeys.ts"
import { Peppers } from "../../src/layers/crypto/Peppers.ts"
import { PasswordHasher } from "../../src/layers/crypto/signin/PasswordHasher.ts"
import * as MailSettings from "../../src/layers/mail/MailSettings.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import type { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as CheckpointSigning from "../../src/layers/sql/journal/CheckpointSigning.ts"
import { LastCheckpoint } from "../../src/layers/sql/journal/LastCheckpoint.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import type { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import type { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import { ConsoleAddress } from "../../src/ports/signin/ConsoleAddress.ts"
import * as Site from "../../src/transport/Site.ts"
import { CheckAnswers } from "../../src/transport/TransportSettings.ts"
import { served } from "../added/index.ts"
import { passwordHeader } from "./archive/archivePassword.ts"
import { undocumented } from "./http/documented.ts"
import type { DatabaseLayer } from "./postgres/database.ts"

export * from "./organizations.ts"
export * from "./postgres/rows.ts"

/** Where the service is reached in tests, unless a test says otherwise. */
export const baseUrl = "http://localhost"

/** The keys that a service in a process of its own must have too, to know what this one has made. */
export const peppers = Buffer.alloc(32, 7).toString("base64")
export const checkpointKeys = Buffer.alloc(32, 11).toString("base64")
export const csrfKeys = Buffer.alloc(32, 9).toString("base64")

const PeppersLayer = Peppers.layerText(Redacted.make(peppers))

const CheckpointsLayer = Layer.merge(
  CheckpointKeys.layerText(Redacted.make(checkpointKeys)),
  LastCheckpoint.layerMemory
)

/** Passwords that cost next to nothing. */
export const PasswordHasherLayer = PasswordHasher.layerWith({ memoryCost: 8, timeCost: 1, parallelism: 1 })

/** Archive passwords that cost little, and nowhere else than in tests. */
const PasswordDerivationLayer = PasswordDerivation.layerWith({ memory_kib: 1024, passes: 1, lanes: 1 })

/** How mail is sent in tests: it is written, and nothing sends it unless a test does. */
export const mail = {
  url: Redacted.make("smtp://127.0.0.1:9"),
  from: "Console <console@console.test>",
  support: "support@console.test"
}

const PagesLayer = Console.layerPages({ csrfKeys: Redacted.make(csrfKeys) })

/** A messenger with the world around it, over a database and the peppers. */
export type MessengerLayer = Layer.Layer<
  MessengerSession | SimulatedPlatform,
  never,
  SqlClient.SqlClient | Peppers
>

/**
 * Every layer but the HTTP edge's sites, over the database; every answer is checked by its whole schema, and one
 * operation is added.
 */
export const core = (
  database: DatabaseLayer,
  hasher: Layer.Layer<PasswordHasher> = PasswordHasherLayer,
  messenger: MessengerLayer = Simulated.layerSql,
  sending: typeof mail | null = mail,
  blobs: Layer.Layer<BlobStore> = MemoryBlobs.layer
) =>
  Layer.merge(PagesLayer, CheckpointSigning.layer).pipe(
    Layer.provideMerge(Core.layer({ keyPrefix: Core.defaultKeyPrefix })),
    Layer.provideMerge(MailSettings.layer(sending)),
    Layer.provideMerge(Layer.mergeAll(hasher, PasswordDerivationLayer, blobs)),
    Layer.provideMerge(Layer.merge(messenger, Ownership.layerAlone)),
    Layer.provideMerge(PeppersLayer),
    Layer.provideMerge(CheckpointsLayer),
    Layer.provideMerge(database),
    Layer.merge(Layer.succeed(CheckAnswers, true)),
    Layer.merge(Layer.succeed(ServedOperations, served))
  )

/** The service at one address, over the database. */
export const world = (
  database: DatabaseLayer,
  sites: ReadonlyArray<Site.Site> = [{ baseUrl, organizationId: null }],
  messenger?: MessengerLayer,
  sending?: typeof mail | null,
  blobs?: Layer.Layer<BlobStore>
) =>
  Layer.mergeAll(
    Layer.succeed(Site.Sites, Site.make(sites)),
    Layer.succeed(ConsoleAddress, Site.make(sites).addressOf),
    core(database, undefined, messenger, sending, blobs)
  )

/** An answer, read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

export interface Asking {
  readonly key?: Redacted.Redacted | string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** False to send none with what reads the archive. */
  readonly password?: false
  /** The raw body, instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly host?: string
}

type WebHandler = (request: Request) => Promise<Response>

/** The service as one function, where it is made otherwise than for the context that a request is sent in. */
export const Prepared = Context.Reference<WebHandler | undefined>("test/support/world/Prepared", {
  defaultValue: () => undefined
})

const webHandlerOf = (around: (app: App.App) => App.App) =>
  Effect.gen(function*() {
    const app = yield* App.make
    const handler: WebHandler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest>(
      yield* Effect.context<never>()
    )(around(app))
    return handler
  })

/** The service as one function, with what is mounted. */
export const webHandler = webHandlerOf((app) => app)

/** What a context has of a single test, which the service is not made from. */
const incidental = Context.omit(Scope.Scope, Tracer.ParentSpan)

/** Whether two contexts have the same services. */
const areAlike = <A, B>({ mapUnsafe: one }: Context.Context<A>, { mapUnsafe: other }: Context.Context<B>): boolean =>
  one.size === other.size && [...one].every(([key, service]) => other.has(key) && other.get(key) === service)

/** As many functions as are kept. */
const kept = 8

/** Makes a function of the service once for all contexts with the same services, as those of a layer's tests are. */
export const oncePerContext = <E, R>(make: Effect.Effect<WebHandler, E, R>) => {
  const known = new WeakMap<Context.Context<never>, WebHandler>()
  const made: Array<{ readonly context: Context.Context<never>; readonly handler: WebHandler }> = []
  return Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    const handler = known.get(context)
    if (handler !== undefined) return handler
    const services = incidental(context)
    const alike = made.find((each) => areAlike(each.context, services))
    const found = alike?.handler ?? (yield* make)
    if (alike === undefined) {
      made.unshift({ context: services, handler: found })
      made.splice(kept)
    }
    known.set(context, found)
    return found
  })
}

/** The service for the context that a request is sent in. */
export const handlerHere = oncePerContext(webHandler)

/** The same to peers whose addresses stand in the header `x-peer`. */
export const peersHandlerHere = oncePerContext(webHandlerOf((app) =>
  Effect.updateService(
    app,
    HttpServerRequest.HttpServerRequest,
    (request) => request.modify({ remoteAddress: Option.some(request.headers["x-peer"] ?? "") })
  )
))

/** Sends a request through the whole HTTP edge, without a socket; an answer that the document does not allow dies. */
export const send = Effect.fnUntraced(function*(method: string, path: string, asking: Asking = {}) {
  const handler = (yield* Prepared) ?? (yield* handlerHere)
  const key = asking.key === undefined || typeof asking.key === "string" ? asking.key : Redacted.value(asking.key)
  const content = asking.raw ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
  const host = asking.host ?? new URL(baseUrl).host
  // The constructor refuses a GET with a body, which a client may send all the same.
  const smuggled = method === "GET" && content !== undefined
  const request = new Request(`http://${host}${path}`, {
    method: smuggled ? "POST" : method,
    headers: {
      host,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...(path.startsWith("/v1/archive/") && asking.password !== false ? passwordHeader() : {}),
      ...asking.headers
    },
    ...(content === undefined ? {} : { body: content })
  })
  if (smuggled) Object.defineProperty(request, "method", { value: method })
  const response = yield* Effect.promise(() => handler(request))
  const text = yield* Effect.promise(() => response.text())
  const answer: Answer = {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text)
  }
  const wrong = undocumented(method, path, answer.status, answer.body)
  if (wrong.length > 0) return yield* Effect.die(new Error(`${method} ${path}: ${wrong.join("; ")}`))
  return answer
})

export const get = (path: string, key: Redacted.Redacted | string) => send("GET", path, { key })
export const put = (path: string, key: Redacted.Redacted | string, body: unknown) => send("PUT", path, { key, body })
export const patch = (path: string, key: Redacted.Redacted | string, body?: unknown) =>
  send("PATCH", path, { key, ...(body === undefined ? {} : { body }) })
export const post = (path: string, key: Redacted.Redacted | string) => send("POST", path, { key })

/** What a refusal says: its status, code and the input at fault. */
export const refusal = ({ body, status }: Answer): ReadonlyArray<unknown> =>
  body?.error?.param === undefined
    ? [status, body?.error?.code]
    : [status, body.error.code, body.error.param]
