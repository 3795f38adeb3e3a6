/** Identity providers on this machine: a real one, whose people sign in by themselves, and one that lies. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type { IncomingMessage, RequestListener } from "node:http"
import * as https from "node:https"
import { Provider } from "oidc-provider"
import { providerDeadline } from "../../../src/domain/Limits.ts"
import type { Internet } from "../../../src/layers/documents/Https.ts"
import { certificate, key } from "../http/documents.ts"
import { listening } from "../http/loopback.ts"

/** An internet in which every name leads to this machine. */
export const loopback: Internet = {
  deadline: providerDeadline,
  resolve: () => Promise.resolve(["127.0.0.1"]),
  isRefused: () => false,
  request: (options, answered) => https.request({ ...options, ca: certificate }, answered)
}

/** A server that answers until the test has ended, and keeps what it is asked. */
const serve = Effect.gen(function*() {
  const asked: Array<string> = []
  const made: { answer: RequestListener } = { answer: (_, response) => response.writeHead(404).end() }
  const server = https.createServer({ key, cert: certificate }, (request, response) => {
    asked.push(`${request.method} ${new URL(request.url ?? "/", "https://app.example").pathname}`)
    made.answer(request, response)
  })
  server.on("tlsClientError", () => {})
  const port = yield* listening(server)
  return Object.assign(made, { asked, port, issuer: `https://app.example:${port}` })
})

/** What the real provider keeps, in memory: with an adapter of its own it does not print that it has none. */
class Kept {
  static readonly all = new Map<string, Record<string, unknown>>()
  readonly #kind: string

  constructor(kind: string) {
    this.#kind = kind
  }

  #key(id: string): string {
    return `${this.#kind} ${id}`
  }

  async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
    Kept.all.set(this.#key(id), payload)
  }

  async find(id: string): Promise<Record<string, unknown> | undefined> {
    return Kept.all.get(this.#key(id))
  }

  async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
    return [...Kept.all.values()].find((payload) => payload["uid"] === uid)
  }

  async consume(id: string): Promise<void> {
    const payload = Kept.all.get(this.#key(id))
    if (payload !== undefined) payload["consumed"] = Math.floor(new Date().getTime() / 1000)
  }

  async destroy(id: string): Promise<void> {
    Kept.all.delete(this.#key(id))
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of Kept.all) if (payload["grantId"] === grantId) Kept.all.delete(key)
  }
}

const signingKey = (kid: string) => ({
  ...crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
  kid,
  use: "sig",
  alg: "ES256"
})

/** The client id and the secret of the console at every provider here. */
export const clientId = "console"
export const clientSecret = "a secret that the console has at the provider"

/** A real provider, at which `person` is signed in by whatever factors `amr` says. */
export const real = Effect.fnUntraced(function*(redirectUris: ReadonlyArray<string>) {
  const server = yield* serve
  const made = { ...server, person: "person-1", amr: ["pwd"], denies: false }
  const start = (keys: ReadonlyArray<object>) => {
    const provider: Provider = new Provider(server.issuer, {
      clients: [{
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        id_token_signed_response_alg: "ES256"
      }],
      jwks: { keys },
      pkce: { required: () => true },
      cookies: { keys: ["a key of cookies"] },
      claims: { openid: ["sub", "amr"] },
      features: { devInteractions: { enabled: false } },
      adapter: Kept,
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      interactions: { url: () => "/interaction" },
      findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
      loadExistingGrant: async (context: { oidc: { session: { accountId: string } } }) => {
        const grant = new provider.Grant({ accountId: context.oidc.session.accountId, clientId })
        grant.addOIDCScope("openid")
        await grant.save()
        return grant
      }
    })
    const answer = provider.callback()
    server.answer = (request, response) => {
      if (request.url !== "/interaction") return answer(request, response)
      const result = made.denies
        ? { error: "access_denied" }
        : { login: { accountId: made.person, amr: made.amr, remember: false } }
      provider.interactionFinished(request, response, result).catch((error: unknown) => {
        response.writeHead(500).end(String(error))
      })
    }
  }
  start([signingKey("first")])
  return Object.assign(made, { rotate: (kid: string) => start([signingKey(kid)]) })
})

const get = (url: URL, cookie: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    https.get({
      hostname: "127.0.0.1",
      servername: url.hostname,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, cookie },
      ca: certificate,
      agent: false
    }, resolve).on("error", reject)
  })

/**
 * What a browser does at the real provider, with the cookies that it has there: it follows redirects until one leads
 * elsewhere, and answers that address.
 */
export const follow = (start: string, jar = new Map<string, string>()) =>
  Effect.promise(async () => {
    let url = new URL(start)
    const { host } = url
    for (let steps = 0; steps < 10; steps++) {
      const response = await get(url, [...jar].map(([name, value]) => `${name}=${value}`).join("; "))
      for (const cookie of response.headers["set-cookie"] ?? []) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        jar.set(name, value)
      }
      response.resume()
      const { location } = response.headers
      if (location === undefined) throw new Error(`The provider answers ${response.statusCode} at ${url.href}`)
      url = new URL(location, url)
      if (url.host !== host) return url
    }
    throw new Error("The provider does not come to an end")
  })

/** A token as the lying provider makes it. */
export interface Issued {
  header: Record<string, unknown>
  claims: Record<string, unknown>
  sign: (text: string) => Buffer
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/**
 * A provider that signs whatever it is told: `document` changes what it says of itself, `token` the token that it gives
 * for the next code, `answer` all else.
 */
export const lying = Effect.gen(function*() {
  const server = yield* serve
  const pair = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 })
  const keys = [{ ...pair.publicKey.export({ format: "jwk" }), kid: "first", use: "sig", alg: "RS256" }]
  const made = {
    ...server,
    keys,
    /** What the last sign-in sent as its nonce, as the provider would remember it with the code. */
    nonce: "",
    codes: [] as Array<URLSearchParams>,
    document: {} as Record<string, unknown>,
    token: (_: Issued): void => {},
    tokenAnswer: {} as Record<string, unknown>,
    other: null as RequestListener | null
  }
  const json = (response: Parameters<RequestListener>[1], body: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  const tokenNow = () => {
    const now = Math.floor(new Date().getTime() / 1000)
    const issued: Issued = {
      header: { alg: "RS256", kid: "first" },
      claims: {
        iss: server.issuer,
        sub: "person-1",
        aud: clientId,
        exp: now + 300,
        iat: now,
        nonce: made.nonce
      },
      sign: (text) => crypto.sign("sha256", Buffer.from(text), pair.privateKey)
    }
    made.token(issued)
    const text = `${part(issued.header)}.${part(issued.claims)}`
    return `${text}.${issued.sign(text).toString("base64url")}`
  }
  server.answer = (request, response) => {
    if (made.other !== null) return made.other(request, response)
    const { pathname } = new URL(request.url ?? "/", server.issuer)
    if (pathname === "/.well-known/openid-configuration") {
      return json(response, {
        issuer: server.issuer,
        authorization_endpoint: `${server.issuer}/authorize`,
        token_endpoint: `${server.issuer}/token`,
        jwks_uri: `${server.issuer}/keys`,
        response_types_supported: ["code"],
        ...made.document
      })
    }
    if (pathname === "/keys") return json(response, { keys: made.keys })
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      made.codes.push(new URLSearchParams(Buffer.concat(chunks).toString()))
      json(response, {
        access_token: "an access token",
        token_type: "Bearer",
        id_token: tokenNow(),
        ...made.tokenAnswer
      })
    })
  }
  return made
})
