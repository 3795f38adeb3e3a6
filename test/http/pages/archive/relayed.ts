/** The service behind a relay that keeps every byte, with a browser in front of both, and the viewer's password form. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import type { Page } from "puppeteer-core"
import * as Server from "../../../../src/http/Server.ts"
import { ConsoleAddress } from "../../../../src/ports/signin/ConsoleAddress.ts"
import * as Site from "../../../../src/transport/Site.ts"
import { sealChats } from "../../../support/archive/sealedChats.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as Relay from "../../../support/http/relay.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { signIn, type } from "../browsed.ts"

/** The relay that the browser reaches the service through. */
export class Traffic extends Context.Service<Traffic, Relay.Relay>()("test/http/pages/archive/relayed/Traffic") {}

const portOf = ({ address }: HttpServer.HttpServer["Service"]) => "port" in address ? address.port : 0

export const served = Server.layer.pipe(
  Layer.provideMerge(Layer.effect(ConsoleAddress, Effect.map(Site.Sites, ({ addressOf }) => addressOf))),
  Layer.provideMerge(
    Layer.effect(
      Site.Sites,
      Effect.map(Traffic, ({ port }) => Site.make([{ baseUrl: `http://127.0.0.1:${port}`, organizationId: null }]))
    )
  ),
  Layer.provideMerge(
    Layer.effect(Traffic, Effect.flatMap(HttpServer.HttpServer, (server) => Relay.make(portOf(server))))
  ),
  Layer.provideMerge(Server.layerListen({ host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(World.core(postgres)),
  Layer.provideMerge(Browser.Chromium.layer)
)

export const waitFor = (page: Page, selector: string) =>
  Effect.promise(() => page.waitForSelector(selector, { timeout: 30_000 }))

export const textOf = (page: Page, selector: string) =>
  Effect.promise(() => page.$eval(selector, (element) => (element as unknown as { innerText: string }).innerText))

export const countOf = (page: Page, selector: string) => Effect.promise(async () => (await page.$$(selector)).length)

export const click = (page: Page, selector: string) => Effect.promise(() => page.click(selector))

export const pressKey = (page: Page, key: "Escape" | "Slash" | "KeyF" | "KeyJ" | "KeyK" | "Enter") =>
  Effect.promise(() => page.keyboard.press(key))

/** An owner at the viewer, who has not opened it yet. */
export const arrive = Effect.fnUntraced(function*(text: string) {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  const account = yield* World.makeAccount(id, { first_name: "Ada", last_name: "Lovelace" })
  yield* sealChats(id, account, text)
  const { port } = yield* Traffic
  const page = yield* Browser.newPage()
  yield* Effect.promise(() => page.goto(`http://127.0.0.1:${port}/console/archive`))
  yield* signIn(page, id, yield* Pages.emailOf(id, admins.owner.id))
  yield* waitFor(page, "#archive-password")
  return { account, id, page }
})

export const unlock = Effect.fnUntraced(function*(page: Page, password: string) {
  yield* type(page, "#archive-password", password)
  yield* click(page, ".unlock button.main")
})
