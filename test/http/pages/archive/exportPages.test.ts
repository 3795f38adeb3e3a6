import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { makeExported } from "../../../support/archive/exportedArchive.ts"
import { sealChats } from "../../../support/archive/sealedChats.ts"
import { entriesOfZip } from "../../../support/archive/zips.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { press, served, signIn, stage, textOf, type } from "../browsed.ts"

const path = "/console/archive-exports"

/** The bytes that the form answers. */
const bytesOf = Effect.fnUntraced(function*(address: string, cookie: string, form: Readonly<Record<string, string>>) {
  const handler = yield* World.handlerHere
  return yield* Effect.promise(async () => {
    const response = await handler(
      new Request(new URL(address, World.baseUrl), {
        method: "POST",
        headers: {
          host: new URL(World.baseUrl).host,
          cookie,
          "content-type": "application/x-www-form-urlencoded"
        },
        body: new URLSearchParams(form).toString()
      })
    )
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()), status: response.status }
  })
})

describe("exports in the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are made by a form, and a part is downloaded by the archive password, which a wrong one does not do", () =>
      Effect.gen(function*() {
        const { accountId, admins, id } = yield* makeExported
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const made = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), path)
        const none = yield* Pages.visit("POST", path, { cookie, form: { ...made.hidden, format: "html" } })
        expect(none.text).toContain("Choose an account.")
        const at = (yield* Pages.visit("POST", path, {
          cookie,
          form: { ...made.hidden, account_id: accountId, format: "html", media: "yes" }
        })).location ?? ""
        const page = yield* Pages.visit("GET", at, { cookie })
        expect(page.text).toContain("Download part 1")
        const { action, hidden } = Pages.formOf(page, `${at}/download`)
        const wrong = yield* Pages.visit("POST", action, {
          cookie,
          form: { ...hidden, password: "wrong", number: "1" }
        })
        expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining("This is not the archive password.")])
        const sent = yield* bytesOf(action, cookie, { ...hidden, password: archivePassword, number: "1" })
        expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "application/zip"])
        expect(sent.headers.get("content-disposition")).toContain("attachment")
        const entries = entriesOfZip(sent.bytes)
        expect(entries.map((entry) => entry.path)).toContain("manifest.json")
        expect(entries.some(({ content }) => content.includes("text 0"))).toBe(true)
        const after = yield* Pages.visit("GET", at, { cookie })
        expect(after.text).toContain(`${sent.bytes.length.toLocaleString("en")} bytes, SHA-256`)
        const forged = yield* bytesOf(action, cookie, { password: archivePassword, number: "1" })
        expect(forged.status).toBe(403)
        const missing = yield* bytesOf(action, cookie, { ...hidden, password: archivePassword, number: "77" })
        expect(missing.status).toBe(404)
      }))

    it.effect("are explained to who may not read the archive", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* makeExported
        const cookie = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", path, { cookie })).text).toContain("Only admins who may read the archive")
      }))
  })

  layer(served)((it) => {
    it.effect("fit every screen, in light and dark", () =>
      Effect.gen(function*() {
        const { accounts: [account = ""], base, email, id } = yield* stage()
        yield* sealChats(id, account, "Words")
        const page = yield* Browser.newPage()
        const go = (address: string) => Effect.promise(() => page.goto(`${base}${address}`))
        yield* go("/console/accounts")
        yield* signIn(page, id, email)
        yield* go(`${path}?account=${account}`)
        expect(yield* Browser.inspect(page, "archive-exports-new")).toEqual([])
        yield* press(page, "main section form button.main")
        expect(yield* textOf(page)).toContain("Download part 1")
        yield* type(page, "#password", "wrong password")
        yield* press(page, "main form button[name=number]")
        expect(yield* textOf(page)).toContain("This is not the archive password.")
        expect(yield* Browser.inspect(page, "archive-export")).toEqual([])
        yield* press(page, "main p.back a")
        expect(yield* Browser.inspect(page, "archive-exports")).toEqual([])
      }), 120_000)
  })
})
