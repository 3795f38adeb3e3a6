import { describe, expect, it } from "@effect/vitest"
import * as Current from "@modelcontextprotocol/client"
import { auth as olderAuth } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client as Older } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type * as Processes from "../mcp/processes.ts"
import { replicas } from "./replicas.ts"

const callback = "http://127.0.0.1:33418/callback"

/** What an assistant keeps of its connection, and where it has sent its person. */
class Provider {
  readonly redirectUrl = callback
  readonly clientMetadata
  readonly #state = crypto.randomUUID()
  client: any
  granted: any
  verifier = ""
  sentTo: URL | undefined

  constructor(method: string | undefined) {
    this.clientMetadata = {
      client_name: "An assistant",
      redirect_uris: [callback],
      ...(method === undefined ? {} : { token_endpoint_auth_method: method })
    }
  }
  state() {
    return this.#state
  }
  clientInformation() {
    return this.client
  }
  saveClientInformation(client: unknown) {
    this.client = client
  }
  tokens() {
    return this.granted
  }
  saveTokens(tokens: unknown) {
    this.granted = tokens
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier
  }
  codeVerifier() {
    return this.verifier
  }
}

/** An assistant at a server: what it does without a connection, at the callback, and with one. */
interface Assistant {
  connect(url: URL, provider: Provider): Promise<Processes.Client>
  finish(url: URL, provider: Provider, answer: URLSearchParams): Promise<string>
  refresh(url: URL, provider: Provider): Promise<string>
}

const current = (mode: NonNullable<Current.VersionNegotiationOptions["mode"]>): Assistant => ({
  async connect(url, provider) {
    const client = new Current.Client({ name: "test", version: "1" }, { versionNegotiation: { mode } })
    await client.connect(new Current.StreamableHTTPClientTransport(url, { authProvider: provider }))
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close()
    }
  },
  finish: (url, provider, answer) =>
    Current.auth(provider, {
      serverUrl: url,
      authorizationCode: answer.get("code")!,
      iss: answer.get("iss")!
    }),
  refresh: (url, provider) => Current.auth(provider, { serverUrl: url })
})

const older: Assistant = {
  async connect(url, provider) {
    const client = new Older({ name: "test", version: "1" })
    const transport = new OlderHttp(url, { authProvider: provider })
    // Its own transports leave out what exactOptionalPropertyTypes asks for.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close()
    }
  },
  finish: (url, provider, answer) => olderAuth(provider, { serverUrl: url, authorizationCode: answer.get("code")! }),
  refresh: (url, provider) => olderAuth(provider, { serverUrl: url })
}

const assistants: Readonly<Record<string, Assistant>> = {
  "2.x on 2026-07-28": current({ pin: "2026-07-28" }),
  "2.x that finds out": current("auto"),
  "2.x that shakes hands": current("legacy"),
  "1.x": older
}

/** A client works: it lists the tools, and calls one. */
const converse = async (client: Processes.Client, id: string) => {
  expect(await client.list()).toContain("get_organization")
  const read = await client.call("get_organization", {})
  expect(read.structuredContent).toMatchObject({ object: "organization", id })
}

describe("OAuth with the assistants' own clients, over two replicas in turn", () => {
  it.live(
    "those of both lines find out where to go, register, are authorized, call tools and refresh",
    () =>
      Effect.gen(function*() {
        const { base, expire, id, walk } = yield* replicas
        const url = new URL(`${base}/mcp`)
        for (const [name, { connect, finish, refresh }] of Object.entries(assistants)) {
          for (
            const method of name === "2.x on 2026-07-28" || name === "1.x"
              ? [undefined, "none", "client_secret_post"]
              : [undefined]
          ) {
            const provider = new Provider(method)
            yield* Effect.promise(async () => {
              await expect(connect(url, provider)).rejects.toThrow()
              const sentTo = provider.sentTo!
              expect([name, sentTo.origin, sentTo.pathname]).toEqual([name, base, "/oauth/authorize"])
              expect(provider.client.client_secret === undefined).toBe(method === "none")
              const asked = Object.fromEntries(sentTo.searchParams)
              expect(asked).toMatchObject({
                client_id: provider.client.client_id,
                redirect_uri: callback,
                resource: `${base}/mcp`,
                scope: "archive:read org:read accounts:write security:write admins:write archive:delete",
                state: provider.state(),
                code_challenge_method: "S256"
              })
              const answer = await walk(sentTo, ["archive:read", "org:read"])
              expect([answer.searchParams.get("state"), answer.searchParams.get("iss")]).toEqual([
                provider.state(),
                base
              ])
              expect(await finish(url, provider, answer.searchParams)).toBe("AUTHORIZED")
              expect(provider.granted).toMatchObject({
                token_type: expect.stringMatching(/^bearer$/i),
                expires_in: 3600,
                scope: "archive:read org:read"
              })
            })
            const first = provider.granted
            const client = yield* Effect.acquireRelease(
              Effect.promise(() => connect(url, provider)),
              (client) => Effect.promise(() => client.close())
            )
            yield* Effect.promise(() => converse(client, id))
            expect(provider.granted).toBe(first)
            provider.sentTo = undefined
            expect((yield* expire).length).toBeGreaterThan(0)
            yield* Effect.promise(() => converse(client, id))
            const second = provider.granted
            expect(second.access_token).not.toBe(first.access_token)
            expect(second.refresh_token).not.toBe(first.refresh_token)
            expect(yield* Effect.promise(() => refresh(url, provider))).toBe("AUTHORIZED")
            expect(provider.granted.refresh_token).not.toBe(second.refresh_token)
            yield* Effect.promise(() => converse(client, id))
            expect(provider.sentTo).toBeUndefined()
          }
        }
      }),
    60_000
  )
})
