/** The service with a browser in front of it, and what a person does there. */
import { type Vitest } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as crypto from "node:crypto"
import * as http from "node:http"
import type { Page } from "puppeteer-core"
import * as Server from "../../../src/http/Server.ts"
import { KnownAssistants } from "../../../src/ports/oauth/OAuthPorts.ts"
import { ConsoleAddress } from "../../../src/ports/signin/ConsoleAddress.ts"
import * as Site from "../../../src/transport/Site.ts"
import * as Browser from "../../support/http/browser.ts"
import * as Pages from "../../support/http/pages.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0
export const baseUrl = Effect.map(HttpServer.HttpServer, (server) => `http://127.0.0.1:${portOf(server)}`)

/** The callback address of an assistant that is known. */
export const known = "https://assistant.example/callback"

const servedWith = (sending: typeof World.mail | null) =>
  Server.layer.pipe(
    Layer.provideMerge(Layer.effect(ConsoleAddress, Effect.map(Site.Sites, ({ addressOf }) => addressOf))),
    Layer.provideMerge(
      Layer.effect(Site.Sites, Effect.map(baseUrl, (baseUrl) => Site.make([{ baseUrl, organizationId: null }])))
    ),
    Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
    Layer.provideMerge(Layer.succeed(KnownAssistants, new Map([[known, "assistant_a" as const]]))),
    Layer.provideMerge(World.core(postgres, undefined, undefined, sending)),
    Layer.provideMerge(Browser.Chromium.layer)
  )

export const served = servedWith(World.mail)
export const servedWithoutMail = servedWith(null)

/** An application's own server, which answers its callback by one more redirect, as many do. */
export const callback = Effect.acquireRelease(
  Effect.callback<{ readonly server: http.Server; readonly address: string; readonly asked: Array<string> }>(
    (resume) => {
      const asked: Array<string> = []
      const server = http.createServer((request, response) => {
        asked.push(request.url ?? "")
        if (request.url?.startsWith("/callback") === true) response.writeHead(302, { location: "/done" }).end()
        else response.writeHead(200, { "content-type": "text/html" }).end("<title>Connected</title>")
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ server, address: `http://127.0.0.1:${port}/callback`, asked }))
      })
    }
  ),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

export const press = (page: Page, selector: string) =>
  Effect.promise(() => Promise.all([page.waitForNavigation(), page.click(selector)]))

/** Presses a button of the consent page, and gets to where the application ends. */
export const answer = (page: Page, selector: string) =>
  Effect.promise(async () => {
    await page.click(selector)
    await page.waitForFunction("document.title === 'Connected'")
  })

/** Writes the text in place of what the field holds, at once as an input method does: keys have tests of their own. */
export const type = (page: Page, selector: string, text: string) =>
  Effect.promise(async () => {
    await page.$eval(selector, (input) => {
      ;(input as unknown as { value: string }).value = ""
    })
    await page.focus(selector)
    await page.keyboard.sendCharacter(text)
  })

export const textOf = (page: Page) =>
  Effect.promise(() => page.$eval("main", (main) => (main as unknown as { innerText: string }).innerText))

export const signIn = Effect.fnUntraced(function*(page: Page, organization: string, email: string) {
  yield* type(page, "#sign-in-organization", organization)
  yield* type(page, "#sign-in-email", email)
  yield* type(page, "#sign-in-password", Pages.password)
  yield* press(page, "main button.main")
})

/** An organization whose owner has a console password, with two accounts and a department. */
export const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization({ name: "Acme & Sons" })
  yield* Pages.givePassword(id, admins.owner.id)
  const department = yield* World.makeDepartment(id, "Sales <b>bold</b>")
  const accounts = [
    yield* World.makeAccount(id, { first_name: "Ada", last_name: "Lovelace" }),
    yield* World.makeAccount(id, { first_name: "Grace", last_name: "Hopper", facts: { department_id: department } })
  ]
  return { id, admins, accounts, department, email: yield* Pages.emailOf(id, admins.owner.id), base: yield* baseUrl }
})

export const register = Effect.fnUntraced(function*(base: string, redirect: string, name: string) {
  const { client_id } = yield* Effect.promise(async () => {
    const response = await fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: "none" })
    })
    return await response.json() as { client_id: string }
  })
  const verifier = crypto.randomBytes(32).toString("base64url")
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: redirect,
    code_challenge: crypto.createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${base}/v1`,
    state: "a state"
  })
  return `${base}/oauth/authorize?${query}`
})

/** The tests of a file, which share a browser. */
export type It = Vitest.MethodsNonLive<Layer.Success<typeof served>>
