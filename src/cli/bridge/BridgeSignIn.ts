/** The bridge's connection: its user allows it in a browser, which comes back to an address on this machine. */
import { Clock, Effect, Schema } from "effect"
import * as childProcess from "node:child_process"
import * as http from "node:http"
import * as os from "node:os"
import * as openid from "openid-client"
import type { StoredTokens } from "./BridgeTokens.ts"

/** The connection cannot be made, or has ended. */
export class NotConnected extends Schema.TaggedError<NotConnected>()("NotConnected", { message: Schema.String }) {}

/** The service answers nothing now. */
export class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { message: Schema.String }) {}

const isPlain = (url: string): boolean => url.startsWith("http:")

const options = (url: string): openid.DiscoveryRequestOptions => ({
  algorithm: "oauth2",
  // Without TLS on loopback alone, which the command has checked.
  execute: isPlain(url) ? [openid.allowInsecureRequests] : []
})

const metadata = { token_endpoint_auth_method: "none" }

/** Seconds that an access token is good for where the service does not say it. */
const usualLifetime = 3600

const stored = Effect.fnUntraced(function*(
  clientId: string,
  answer: openid.TokenEndpointResponse,
  before?: string
) {
  const now = yield* Clock.currentTimeMillis
  return {
    client_id: clientId,
    access_token: answer.access_token,
    refresh_token: answer.refresh_token ?? before ?? "",
    expires_at: now + (answer.expires_in ?? usualLifetime) * 1000
  } satisfies StoredTokens
})

/** Failures of a request to the authorization server: one that it refuses, and one that it does not answer. */
const asked = <A>(what: string, request: () => Promise<A>) =>
  Effect.tryPromise({
    try: request,
    catch: (cause) =>
      cause instanceof openid.ResponseBodyError || cause instanceof openid.AuthorizationResponseError
        ? new NotConnected({ message: `${what}: ${cause.error_description ?? cause.error}` })
        : new Unanswered({ message: `${what}: the service does not answer as it should.` })
  })

/** New tokens for the refresh token, which is good for nothing from then on. */
export const refresh = Effect.fnUntraced(function*(url: string, tokens: StoredTokens) {
  const config = yield* asked(
    "The connection cannot be renewed",
    () => openid.discovery(new URL(url), tokens.client_id, metadata, openid.None(), options(url))
  )
  const answer = yield* asked(
    "The connection has ended",
    () => openid.refreshTokenGrant(config, tokens.refresh_token, { resource: `${url}/mcp` })
  )
  return yield* stored(tokens.client_id, answer, tokens.refresh_token)
})

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Security Console bridge</title><p>${text}</p></html>`

/** Listens on loopback for the browser that comes back. */
const listen = Effect.acquireRelease(
  Effect.promise(() =>
    new Promise<{ readonly server: http.Server; readonly port: number }>((resolve) => {
      const server = http.createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resolve({ server, port: typeof address === "object" && address !== null ? address.port : 0 })
      })
    })
  ),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

/** The address that the browser comes back to; any other is answered 404. */
const cameBack = (server: http.Server, callback: string) =>
  Effect.callback<URL>((resume) => {
    server.on("request", (request, response) => {
      const url = new URL(request.url ?? "/", callback)
      const isCallback = request.method === "GET" && url.pathname === new URL(callback).pathname
      response.writeHead(isCallback ? 200 : 404, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'",
        "cache-control": "no-store",
        connection: "close"
      })
      response.end(page(isCallback ? "You can close this window and go back." : "There is nothing here."))
      if (isCallback) resume(Effect.succeed(url))
    })
  })

/** Opens the address in the browser of the user, where there is one. */
const openBrowser = (address: string): void => {
  const [command, ...args] = process.platform === "darwin"
    ? ["open", address]
    : process.platform === "win32"
    ? ["rundll32", "url.dll,FileProtocolHandler", address]
    : ["xdg-open", address]
  if (command === undefined) return
  const child = childProcess.spawn(command, args, { stdio: "ignore", detached: true })
  child.on("error", () => undefined)
  child.unref()
}

/** Connects the bridge: `say` shows the address that its user opens. */
export const signIn = Effect.fnUntraced(
  function*(
    url: string,
    scopes: string,
    browser: boolean,
    say: (text: string) => Effect.Effect<void>
  ) {
    const { port, server } = yield* listen
    const callback = `http://127.0.0.1:${port}/callback`
    const config = yield* asked("The bridge cannot be registered", () =>
      openid.dynamicClientRegistration(
        new URL(url),
        {
          client_name: `Bridge on ${os.hostname()}`.slice(0, 100),
          redirect_uris: [callback],
          grant_types: ["authorization_code", "refresh_token"],
          ...metadata
        },
        openid.None(),
        options(url)
      ))
    const modes: unknown = config.serverMetadata()["archive_modes_supported"]
    if (!Array.isArray(modes) || !modes.includes("local")) {
      return yield* new NotConnected({ message: "The service has no mode in which a bridge opens the archive." })
    }
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const challenge = yield* Effect.promise(() => openid.calculatePKCECodeChallenge(verifier))
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      resource: `${url}/mcp`,
      scope: scopes,
      archive_mode: "local",
      code_challenge: challenge,
      code_challenge_method: "S256",
      state
    })
    yield* say(`Open this address in a browser, and allow the bridge:\n${address.href}`)
    if (browser) yield* Effect.sync(() => openBrowser(address.href))
    const returned = yield* cameBack(server, callback).pipe(
      Effect.timeout("10 minutes"),
      Effect.catchTag(
        "TimeoutError",
        () => Effect.fail(new NotConnected({ message: "Nobody has allowed the bridge within ten minutes." }))
      )
    )
    const answer = yield* asked(
      "The bridge was not allowed",
      () =>
        openid.authorizationCodeGrant(config, returned, { pkceCodeVerifier: verifier, expectedState: state }, {
          resource: `${url}/mcp`
        })
    )
    return yield* stored(config.clientMetadata().client_id, answer)
  },
  Effect.scoped
)
