import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Logger, Redacted, Result } from "effect"
import * as crypto from "node:crypto"
import type { RequestListener } from "node:http"
import * as zlib from "node:zlib"
import { isSpecial, isSpecialAtHome } from "../../../src/layers/documents/specialAddresses.ts"
import * as Provider from "../../../src/layers/identity/Provider.ts"
import type { ProviderWithSecret } from "../../../src/ports/signin/ProviderClient.ts"
import * as Identity from "../../support/signin/identityProvider.ts"

type Lying = Effect.Success<typeof Identity.lying>

const redirectUri = "https://console.example/callback"
const secrets = { state: "a state of 43 letters", nonce: "a nonce", verifier: "v".repeat(43) }

const knownOf = (
  issuer: string,
  max_age_minutes: number | null,
  version = crypto.randomUUID()
): ProviderWithSecret => ({
  issuer,
  version,
  client_id: Identity.clientId,
  secret: Redacted.make(Identity.clientSecret),
  required: false,
  second_factor: "console",
  private_network: false,
  max_age_minutes
})

const internet = (changes: object = {}) => () => ({ ...Identity.loopback, ...changes })

/** Goes to the provider and comes back with a code: who it is, or what went wrong. */
const ask = Effect.fnUntraced(function*(
  server: Lying,
  answer: Record<string, string> = {},
  outside: object = {},
  { left = 0, maxAge = null }: { readonly left?: number; readonly maxAge?: number | null } = {}
) {
  const client = yield* Effect.provideService(Provider.make, Provider.ProviderInternet, internet(outside))
  const provider = knownOf(server.issuer, maxAge)
  server.nonce = secrets.nonce
  const result = yield* Effect.result(Effect.gen(function*() {
    yield* client.address(provider, redirectUri, secrets, null)
    const back = new URL(redirectUri)
    for (const [name, value] of Object.entries({ code: "a code", state: secrets.state, ...answer })) {
      back.searchParams.set(name, value)
    }
    return yield* client.person(provider, back, { ...secrets, since: new Date().getTime() - left * 1000 })
  }))
  return Result.match(result, { onSuccess: (person) => person, onFailure: ({ _tag }) => _tag })
}, Effect.provide(Logger.layer([])))

const now = () => Math.floor(new Date().getTime() / 1000)

/** Tokens that are none of ours, each by what a provider or somebody between would have to do. */
const forged: Record<string, (issued: Identity.Issued) => void> = {
  "of another issuer": ({ claims }) => claims["iss"] = "https://other.example",
  "of the issuer with a slash": ({ claims }) => claims["iss"] += "/",
  "for another client": ({ claims }) => claims["aud"] = "other",
  "for others too, without a party": ({ claims }) => claims["aud"] = ["console", "other"],
  "for others too, of another party": ({ claims }) =>
    Object.assign(claims, { aud: ["console", "other"], azp: "other" }),
  "of another party": ({ claims }) => claims["azp"] = "other",
  "that has ended": ({ claims }) => claims["exp"] = now() - 60,
  "without an end": ({ claims }) => delete claims["exp"],
  "of the future": ({ claims }) => claims["iat"] = now() + 120,
  "of an hour ago": ({ claims }) => claims["iat"] = now() - 3600,
  "without a time": ({ claims }) => delete claims["iat"],
  "of another sign-in": ({ claims }) => claims["nonce"] = "another nonce",
  "of no sign-in": ({ claims }) => delete claims["nonce"],
  "about nobody": ({ claims }) => delete claims["sub"],
  "about somebody empty": ({ claims }) => claims["sub"] = "",
  "about a number": ({ claims }) => claims["sub"] = 1,
  "about a name that is too long": ({ claims }) => claims["sub"] = "a".repeat(256),
  "without a signature": (issued) => Object.assign(issued, { header: { alg: "none" }, sign: () => Buffer.alloc(0) }),
  "signed with the client's secret": (issued) =>
    Object.assign(issued, {
      header: { alg: "HS256" },
      sign: (text: string) => crypto.createHmac("sha256", Identity.clientSecret).update(text).digest()
    }),
  "signed by a key that the provider does not show": ({ header }) => header["kid"] = "other",
  "signed by another key": (issued) => {
    const { privateKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 })
    issued.sign = (text) => crypto.sign("sha256", Buffer.from(text), privateKey)
  },
  "changed after it was signed": (issued) => {
    const { sign } = issued
    issued.sign = (text) => sign(`${text} `)
  },
  "with a demand that is not understood": ({ header }) => Object.assign(header, { crit: ["b64"], b64: false })
}

const page: RequestListener = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")

/** Providers that cannot be asked, by how they answer for their document. */
const unfit: Record<string, (server: Lying) => void> = {
  "answers with a page": (server) => server.other = page,
  "answers nothing of the kind": (server) => server.other = (_, response) => response.writeHead(404).end(),
  "leads elsewhere": (server) =>
    server.other = (_, response) => response.writeHead(302, { location: `${server.issuer}/other` }).end(),
  "says more than is read": (server) => server.document = { more: "x".repeat(70_000) },
  "packs what it says": (server) =>
    server.other = (_, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(
        zlib.gzipSync(JSON.stringify({ issuer: server.issuer }))
      ),
  "is another issuer": (server) => server.document = { issuer: "https://other.example" },
  "is the issuer with a slash": (server) => server.document = { issuer: `${server.issuer}/` },
  "signs by secrets alone": (server) => server.document = { id_token_signing_alg_values_supported: ["HS256", "none"] },
  "leads people over http": (server) => server.document = { authorization_endpoint: "http://app.example/authorize" },
  "leads people into a script": (server) => server.document = { authorization_endpoint: "javascript:alert(1)" },
  "leads people nowhere": (server) => server.document = { authorization_endpoint: undefined }
}

describe("an identity provider", () => {
  it.live("is believed who comes back, once everything about the token is right", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      expect(yield* ask(server)).toEqual({ subject: "person-1", multiFactor: false })
      expect(Object.fromEntries(server.codes[0]!)).toMatchObject({
        grant_type: "authorization_code",
        code: "a code",
        code_verifier: secrets.verifier,
        redirect_uri: redirectUri
      })
      server.token = ({ claims }) => Object.assign(claims, { amr: ["pwd", "mfa"], aud: ["console"], azp: "console" })
      expect(yield* ask(server)).toEqual({ subject: "person-1", multiFactor: true })
      server.token = ({ claims }) => Object.assign(claims, { amr: "mfa", iat: now() + 20 })
      expect(yield* ask(server)).toEqual({ subject: "person-1", multiFactor: false })
    }))

  it.live("is not believed a token that is forged, old, or another's", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      for (const [what, token] of Object.entries(forged)) {
        server.token = token
        expect([what, yield* ask(server)]).toEqual([what, "ProviderRefused"])
      }
      server.token = () => {}
      for (const tokenAnswer of [{ id_token: undefined }, { id_token: "a.b" }, { id_token: "a.b.c.d.e" }]) {
        server.tokenAnswer = tokenAnswer
        expect(yield* ask(server)).toBe("ProviderRefused")
      }
    }))

  it.live("has to say that somebody signed in there lately where that is asked for, seen from when they left", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      /** Who comes back after so many seconds, having signed in there so many seconds ago. */
      const signedIn = (maxAge: number | null, ago: number | null | string, left = 0) => {
        server.token = ({ claims }) =>
          Object.assign(claims, ago === null ? {} : { auth_time: typeof ago === "string" ? ago : now() - ago })
        return Effect.map(ask(server, {}, {}, { maxAge, left }), (person) => typeof person !== "string")
      }
      const cases = [
        // Whoever is not asked may say what they like, or nothing.
        [null, null, 0, true],
        [null, 1_000_000, 0, true],
        [60, 3_600 - 30, 0, true],
        [60, 3_600 + 120, 0, false],
        [60, null, 0, false],
        [0, 5, 0, true],
        [0, 120, 0, false],
        // The five minutes that somebody takes at the provider do not count against them.
        [0, 290, 300, true],
        [0, 420, 300, false],
        [0, null, 0, false],
        [0, "now", 0, false],
        // A provider whose clock is wrong, or that says what is to come.
        [0, -20, 0, true],
        [0, -600, 0, false]
      ] as const
      for (const [maxAge, ago, left, good] of cases) {
        expect([maxAge, ago, left, yield* signedIn(maxAge, ago, left)]).toEqual([maxAge, ago, left, good])
      }
      const client = yield* Effect.provideService(Provider.make, Provider.ProviderInternet, internet())
      for (
        const [maxAge, sent] of [[null, {}], [60, { max_age: "3600" }], [0, { max_age: "0", prompt: "login" }]] as const
      ) {
        const { searchParams } = new URL(
          yield* client.address(knownOf(server.issuer, maxAge), redirectUri, secrets, null)
        )
        const { max_age, prompt } = Object.fromEntries(searchParams)
        expect({ max_age, prompt }).toEqual({ max_age: undefined, prompt: undefined, ...sent })
      }
    }))

  it.live("is not asked for a code that somebody else's answer brought", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      const answers = [
        { iss: "https://other.example" },
        { state: "another state" },
        { error: "access_denied" },
        { response: "a.b.c" },
        { id_token: "a.b.c" }
      ]
      for (const answer of answers) expect([answer, yield* ask(server, answer)]).toEqual([answer, "ProviderRefused"])
      server.document = { authorization_response_iss_parameter_supported: true }
      expect(yield* ask(server)).toBe("ProviderRefused")
      expect(server.codes).toEqual([])
      expect(yield* ask(server, { iss: server.issuer })).toMatchObject({ subject: "person-1" })
    }))

  it.live("is not gone to where it is no provider, or leads anywhere but to https", () =>
    Effect.gen(function*() {
      for (const [what, change] of Object.entries(unfit)) {
        const server = yield* Identity.lying
        change(server)
        expect([what, yield* ask(server)]).toEqual([what, "ProviderAway"])
      }
    }))

  it.live("is asked nothing at special addresses, over http, by number, or for longer than a moment", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      expect(yield* ask(server, {}, { isRefused: isSpecial })).toBe("ProviderAway")
      expect(server.asked).toEqual([])
      for (const token_endpoint of ["http://app.example/token", "https://127.0.0.1/token", "https://[::1]/token"]) {
        server.document = { token_endpoint }
        expect([token_endpoint, yield* ask(server)]).toEqual([token_endpoint, "ProviderAway"])
      }
      server.document = {}
      server.other = () => {}
      const before = now()
      expect(yield* ask(server, {}, { deadline: Duration.millis(200) })).toBe("ProviderAway")
      expect(now() - before).toBeLessThan(3)
    }))

  it.live("is asked for its document once at a time and not again soon, also where it has none", () =>
    Effect.gen(function*() {
      const server = yield* Identity.lying
      const client = yield* Effect.provideService(Provider.make, Provider.ProviderInternet, internet())
      const provider = knownOf(server.issuer, null)
      const address = client.address(provider, redirectUri, secrets, null)
      yield* Effect.all([address, address, address], { concurrency: "unbounded" })
      yield* address
      expect(server.asked).toEqual(["GET /.well-known/openid-configuration"])
      server.other = page
      const other = client.address(knownOf(server.issuer, null), redirectUri, secrets, null)
      const tags = yield* Effect.forEach([1, 2, 3], () => Effect.flip(other))
      expect(tags.map(({ _tag }) => _tag)).toEqual(["ProviderAway", "ProviderAway", "ProviderAway"])
      expect(server.asked).toHaveLength(2)
    }).pipe(Effect.provide(Logger.layer([]))))

  it("is asked at private addresses where the operator says so, and nowhere else of one's own", () => {
    const home = ["10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"]
    const never = ["127.0.0.1", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "::ffff:10.0.0.1", "x"]
    expect(home.filter(isSpecial)).toEqual(home)
    expect(home.filter(isSpecialAtHome)).toEqual([])
    expect(never.filter(isSpecialAtHome)).toEqual(never)
    expect(["8.8.8.8", "2606:4700::1"].filter(isSpecialAtHome)).toEqual([])
  })
})
