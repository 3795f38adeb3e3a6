import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { ExportId, partFileName } from "../../../../src/domain/archive/ArchiveExport.ts"
import { exportPartsOfOrganization } from "../../../../src/domain/Limits.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { ArchiveExports } from "../../../../src/ports/archive/ArchiveExports.ts"
import { ExportTurns } from "../../../../src/ports/archive/ExportTurns.ts"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { makeExported } from "../../../support/archive/exportedArchive.ts"
import { sealChats } from "../../../support/archive/sealedChats.ts"
import { entriesOfZip } from "../../../support/archive/zips.ts"
import * as Fixtures from "../../../support/fixtures.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { scratch } from "../../../support/run/scratch.ts"
import * as World from "../../../support/world.ts"
import { press, served, signIn, stage, textOf, type } from "../browsed.ts"

const home = "/console/archive-exports"

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
        yield* World.makeAccount(id, { first_name: "Nothing", last_name: "Archived" })
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const made = Pages.formOf(yield* Pages.visit("GET", home, { cookie }), home)
        const none = yield* Pages.visit("POST", home, { cookie, form: { ...made.hidden, format: "html" } })
        expect(none.text).toContain("Choose an account.")
        expect(none.text).not.toContain("Nothing Archived")
        expect(none.text).toContain("1 account has nothing archived, and is not listed.")
        const at = (yield* Pages.visit("POST", home, {
          cookie,
          form: { ...made.hidden, account_id: accountId, format: "html", media: "yes" }
        })).location ?? ""
        const page = yield* Pages.visit("GET", at, { cookie })
        expect(page.text).toContain("Download part 1")
        expect(page.text).toMatch(new RegExp(`/console/accounts/${accountId}"><bdi dir="auto">(?!Account<)`))
        expect(page.text).toContain(`verify-export ${partFileName(at.split("/").at(-1) ?? "", 1, 1)}`)
        const { action, hidden } = Pages.formOf(page, `${at}/download`)
        const wrong = yield* Pages.visit("POST", action, {
          cookie,
          form: { ...hidden, password: "wrong", number: "1" }
        })
        expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining("This is not the archive password.")])
        const turns = yield* ExportTurns
        const busy = yield* Effect.scoped(Effect.andThen(
          Effect.replicateEffect(turns.take(OrganizationId.make(id)), exportPartsOfOrganization),
          Pages.visit("POST", action, { cookie, form: { ...hidden, password: archivePassword, number: "1" } })
        ))
        expect([busy.status, busy.text]).toEqual([
          503,
          expect.stringContaining("The service makes as many parts, or checks")
        ])
        const sent = yield* bytesOf(action, cookie, { ...hidden, password: archivePassword, number: "1" })
        expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "application/zip"])
        expect(sent.headers.get("content-disposition")).toContain("attachment")
        const entries = entriesOfZip(sent.bytes)
        expect(entries.map((entry) => entry.path)).toContain("manifest.json")
        expect(entries.some(({ content }) => content.includes("text 0"))).toBe(true)
        const after = yield* Pages.visit("GET", at, { cookie })
        expect(after.text).toContain(`: ${sent.bytes.length.toLocaleString("en")} bytes.`)
        expect(after.text).toContain("<dd><span data-count>1</span> of 1 part</dd>")
        const forged = yield* bytesOf(action, cookie, { password: archivePassword, number: "1" })
        expect(forged.status).toBe(403)
        const missing = yield* bytesOf(action, cookie, { ...hidden, password: archivePassword, number: "77" })
        expect(missing.status).toBe(404)
      }))

    it.effect("are explained to who may not read the archive", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* makeExported
        const cookie = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", home, { cookie })).text).toContain("Only admins who may read the archive")
      }))
  })

  layer(served, { excludeTestServices: true })((it) => {
    it.effect(
      "fit every screen, say how far a download is without being loaded again, and write a large part to a file that goes on where it broke off",
      () =>
        Effect.gen(function*() {
          const { accounts: [account = ""], base, email, id } = yield* stage()
          yield* sealChats(id, account, "Words")
          const folder = yield* Effect.acquireRelease(
            Effect.sync(() => fs.mkdtempSync(path.join(scratch, "export-page-"))),
            (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
          )
          const page = yield* Browser.newPage()
          const wrong: Array<string> = []
          page.on("console", (message) => void wrong.push(message.text()))
          const go = (address: string) => Effect.promise(() => page.goto(`${base}${address}`))
          yield* go("/console/accounts")
          yield* signIn(page, id, email)
          yield* go(`${home}?account=${account}`)
          expect(yield* Browser.inspect(page, "archive-exports-new")).toEqual([])
          yield* press(page, "main section form button.main")
          expect(yield* textOf(page)).toContain("Download part 1")
          const exportId = page.url().split("/").at(-1) ?? ""
          const downloads = yield* ArchiveExports
          const organizationId = OrganizationId.make(id)
          const keep = yield* downloads.download(organizationId, ExportId.make(exportId), 1, {
            adminId: account,
            adminName: "Grace <b>Hopper</b>"
          })
          const report = (bytes: number, end: "unexpected" | null) =>
            Fixtures.within(id, keep({ bytes, messages: 2, files: 1, at: new Date(), end }))
          yield* report(1000, null)
          yield* Effect.promise(() => page.reload())
          expect(yield* textOf(page)).toContain("Being sent to \u2068Grace <b>Hopper</b>\u2069: 1 kB of about")
          expect(yield* Browser.inspect(page, "archive-export")).toEqual([])
          yield* report(2000, "unexpected")
          yield* Effect.promise(() => page.waitForFunction("document.body.innerText.includes('something unexpected')"))
          yield* type(page, "#password", "wrong password")
          yield* press(page, "main form button[name=number]")
          expect(yield* textOf(page)).toContain("This is not the archive password.")
          wrong.length = 0
          yield* type(page, "#password", archivePassword)
          // The page stays where it is, and says that the part is downloaded.
          yield* Effect.promise(async () => {
            const session = await page.createCDPSession()
            await session.send("Page.setDownloadBehavior", { behavior: "allow", downloadPath: folder })
            await page.click("main form button[name=number]")
            await page.waitForFunction("document.querySelector('[data-sent]').hidden === false")
          })
          expect(yield* textOf(page)).toContain("Part 1 is downloaded.")
          expect(yield* textOf(page)).toContain("1 of 1 part")
          expect(yield* textOf(page)).not.toContain("This is not the archive password.")
          expect(yield* textOf(page)).toMatch(/Downloaded just now by .*: [\d,]+ bytes\./)
          expect(wrong).toEqual([])

          // A large part is written to a file by the page; its connection is cut twice.
          yield* Effect.promise(() =>
            page.evaluate(`
          const parts = []
          const written = () => parts.reduce((sum, each) => sum + each.length, 0)
          window.saved = { parts, asked: [], isClosed: false }
          window.showSaveFilePicker = ({ suggestedName }) => Promise.resolve({
            createWritable: () => Promise.resolve({
              write: (part) => { parts.push(part); return Promise.resolve() },
              truncate: () => { parts.length = 0; return Promise.resolve() },
              close: () => { saved.isClosed = suggestedName; return Promise.resolve() },
              abort: () => Promise.resolve()
            })
          })
          const send = window.fetch
          window.fetch = async (to, init) => {
            saved.asked.push(Number(init.body.get("after_bytes")))
            const answer = await send(to, init)
            if (saved.asked.length > 2) return answer
            let left = 2000
            return new Response(answer.body.pipeThrough(new TransformStream({
              transform: (part, controller) => {
                controller.enqueue(part.slice(0, left))
                left -= Math.min(left, part.length)
                if (left === 0) controller.error(new Error("cut"))
              }
            })), { headers: answer.headers })
          }
          const wait = window.setTimeout
          window.setTimeout = (run, time) => wait(run, Math.min(time, 300))
          document.querySelector("[data-part]").dataset.file = "part.zip"
        `)
          )
          yield* Effect.promise(async () => {
            await page.click("main form button[name=number]")
            await page.waitForFunction("saved.isClosed === 'part.zip'")
          })
          const saved = yield* Effect.promise(() =>
            page.evaluate(`new Blob(saved.parts).arrayBuffer().then((bytes) => crypto.subtle.digest("SHA-256", bytes))
            .then((hash) => ({ asked: saved.asked, sha256: [...new Uint8Array(hash)].join() }))`)
          )
          const native = fs.readFileSync(path.join(folder, fs.readdirSync(folder)[0] ?? ""))
          const sha256 = [...crypto.createHash("sha256").update(native).digest()].join()
          expect(saved).toEqual({ asked: [0, 2000, 4000], sha256 })
          expect(yield* textOf(page)).toContain("Part 1 is stored as part.zip.")
          expect(wrong).toEqual([])
          yield* go(new URL(page.url()).pathname.replace(/download$/, "progress"))
          expect(yield* Browser.inspect(page, "archive-export-progress")).toEqual([])
          yield* press(page, "main p.back a")
          yield* press(page, "main p.back a")
          expect(yield* Browser.inspect(page, "archive-exports")).toEqual([])
        }),
      120_000
    )
  })
})
