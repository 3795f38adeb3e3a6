import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { vi } from "vitest"
import { archivePassword } from "../../../support/archive/archivePassword.ts"
import { archivedIds } from "../../../support/archive/sealedChats.ts"
import { pngWith, sealFiles } from "../../../support/archive/sealedFiles.ts"
import * as Browser from "../../../support/http/browser.ts"
import { scratch } from "../../../support/run/scratch.ts"
import * as World from "../../../support/world.ts"
import { leaveToService, makeOwnKey } from "./browsedKey.ts"
import { runsItsOwnTexts } from "./browsedPolicy.ts"
import { arrive, click, countOf, pressKey, served, textOf, Traffic, unlock, waitFor } from "./relayed.ts"

/** A word that nothing but messages, names and titles has. */
const canary = "Quastenflosser"

/** Attempts to run something, in every text; each would show in the page's global object or as a request. */
const hostile =
  `${canary} </li></script><script>globalThis.ran=1</script><img src="/console/ran" onerror="ran=1"><svg onload=ran=1>` +
  ` javascript:ran=1 data:text/html,ran https://user:word@evil.example/ http://plain.example/ https://good.example/a_(b).` +
  ` \u202Egnp.exe {{constructor.constructor('ran=1')()}}`

describe("the viewer of the archive", () => {
  layer(served, { excludeTestServices: true })((it) => {
    it.effect(
      "the owner sets, changes and recovers the archive password, and it never leaves the browser",
      () => makeOwnKey,
      120_000
    )

    it.effect(
      "without a script, and where the owner asks for it, the service makes the archive's key",
      () => leaveToService,
      60_000
    )

    it.effect("begins with the account that the address names, also where only another one has chats; a browser that lacks something says what", () =>
      Effect.gen(function*() {
        const { id, page } = yield* arrive("Text")
        const other = yield* World.makeAccount(id, { first_name: "Zoe" })
        yield* Effect.promise(() => page.goto(`${page.url()}?account=${other}`))
        yield* waitFor(page, "#archive-password")
        yield* unlock(page, archivePassword)
        yield* waitFor(page, ".chat-list .empty")
        const chosen: unknown = yield* Effect.promise(() => page.evaluate("document.querySelector('#account').value"))
        expect(chosen).toBe(other)

        yield* Effect.promise(async () => {
          await page.evaluateOnNewDocument("delete globalThis.Worker")
          await page.reload()
        })
        yield* waitFor(page, "#viewer h1")
        expect(yield* textOf(page, "#viewer")).toContain("workers")
        expect(yield* countOf(page, "#archive-password")).toBe(0)
        expect(yield* Browser.inspect(page, "viewer-lacking")).toEqual([])
      }))

    it.effect(
      "has a policy that binds its scripts to their texts: no other one runs, wherever it comes from",
      () => runsItsOwnTexts,
      60_000
    )

    it.effect(
      "opens chats in the browser alone, runs nothing that they say, and is forgotten once it is locked",
      () =>
        Effect.gen(function*() {
          const { account, page } = yield* arrive(hostile)
          const errors: Array<string> = []
          page.on("pageerror", (error) => errors.push(String(error)))
          page.on("console", (message) => {
            if (message.type() === "error") errors.push(message.text())
          })
          const wrong: Array<string> = []
          const look = (name: string) => Effect.map(Browser.inspect(page, name), (found) => wrong.push(...found))
          yield* unlock(page, `${archivePassword} no`)
          yield* waitFor(page, ".unlock .problem")
          expect(yield* textOf(page, ".unlock .problem")).toContain("not the archive password")
          expect(yield* countOf(page, ".unlock a[href=archive-key]")).toBe(1)
          yield* look("viewer-refused")
          yield* unlock(page, archivePassword)
          yield* waitFor(page, "button.chat")
          expect(yield* countOf(page, "button.chat")).toBe(archivedIds.chat.length)
          expect(yield* textOf(page, "button.chat strong")).toContain(hostile.slice(0, 60))
          yield* look("viewer-chats")

          yield* click(page, "button.chat")
          yield* waitFor(page, "li.message")
          expect(yield* countOf(page, "li.message")).toBe(archivedIds.message.length)
          // Only the address over https, without a name in it, is a link.
          const links: unknown = yield* Effect.promise(() =>
            page.$$eval("li.message a:not(.redact)", (found) =>
              found.map((each) => [each.getAttribute("href"), each.getAttribute("rel")]))
          )
          const link = ["https://good.example/a_(b)", "noopener noreferrer nofollow"]
          expect(links).toEqual([link, link])
          const redactions: unknown = yield* Effect.promise(() =>
            page.$$eval("li.message a.redact", (found) =>
              found.map((each) => each.getAttribute("href")))
          )
          expect(redactions).toEqual(
            archivedIds.message.map((id) =>
              `archive-redactions?account=${account}&chat=${archivedIds.chat[0]}&message=${id}`
            )
          )
          yield* click(page, "button.edited")
          yield* waitFor(page, ".side-by-side li:nth-child(2)")
          expect(yield* textOf(page, ".side-by-side ins")).toContain("edited")
          yield* look("viewer-conversation")

          yield* pressKey(page, "Escape")
          yield* pressKey(page, "Slash")
          yield* Effect.promise(() => page.keyboard.type(`"${canary.toLowerCase()}" edited`))
          yield* pressKey(page, "Enter")
          yield* waitFor(page, "button.hit")
          expect(yield* countOf(page, "button.hit")).toBe(archivedIds.chat.length)
          expect((yield* textOf(page, "button.hit mark")).toLowerCase()).toBe(canary.toLowerCase())
          yield* look("viewer-hits")
          yield* Effect.promise(() => page.focus("button.hit"))
          yield* pressKey(page, "KeyJ")
          yield* pressKey(page, "Enter")
          yield* waitFor(page, "li.message.reached mark")
          // What scrolls would cut the mark around the message off.
          const overflow = `getComputedStyle(document.querySelector("li.message.reached")).overflowY`
          expect(yield* Effect.promise(() => page.evaluate(overflow))).toBe("visible")

          yield* pressKey(page, "KeyF")
          yield* pressKey(page, "Enter")
          const [author, reader] = archivedIds.member
          const narrowed = [[null, 1], [reader, 0], [author, 1], ["", 1]] as const
          for (const [sender, hits] of narrowed) {
            if (sender !== null) {
              yield* waitFor(page, `#sender option[value="${sender}"]`)
              yield* Effect.promise(() => page.select("#sender", sender))
            }
            const shown = `!/Searching/.test(document.querySelector(".said").innerText) &&
              document.querySelectorAll("button.hit").length === ${hits}`
            yield* Effect.promise(() => page.waitForFunction(shown))
          }
          expect(yield* textOf(page, ".search-form summary")).toContain(`Filters · Chat: ${canary}`)
          yield* look("viewer-hits-of-chat")

          expect(yield* Effect.promise(() => page.evaluate("typeof ran"))).toBe("undefined")
          expect(yield* countOf(page, ":is(#viewer script, #viewer img, #viewer svg, #viewer iframe)")).toBe(0)
          yield* click(page, "button.lock")
          yield* waitFor(page, "#archive-password")
          expect(yield* Effect.promise(() => page.content())).not.toContain(canary)
          expect(
            yield* Effect.promise(() => page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]"))
          ).toEqual([0, 0, ""])
          expect(
            yield* Effect.promise(() => page.evaluate("Promise.all([caches.keys(), indexedDB.databases()])"))
          ).toEqual([[], []])

          const traffic = (yield* Traffic).text()
          expect(traffic).toContain("POST /console/archive/data/archive/sealed/blocks")
          for (const secret of [archivePassword, canary, canary.toLowerCase(), "evil.example", "/console/ran"]) {
            for (
              const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64").slice(0, -3)]
            ) {
              expect([form, traffic.includes(form)]).toEqual([form, false])
            }
          }
          expect([wrong, errors]).toEqual([[], []])
        }),
      120_000
    )

    it.effect(
      "shows images by their bytes alone, stores every file as it was, and says of each other why it is not there",
      () =>
        Effect.gen(function*() {
          const { account, id, page } = yield* arrive("plain")
          const large = new Uint8Array(crypto.randomBytes(2_500_000))
          const script = Buffer.from(`<script>globalThis.ran=1</script>${canary}`)
          const files = yield* sealFiles(id, account, BigInt(archivedIds.chat[0]), 86_400, [
            { name: `${canary}.png`, type: "image/png", content: pngWith(canary), album: "5" },
            { name: "page.png", type: "image/png", content: script, album: "5" },
            { name: "drawing.svg", type: "image/svg+xml", content: script, album: "6" },
            { name: "../\u202Egnp.exe", type: "application/x-anything", content: large, album: "6" },
            { name: "film.mp4", type: "video/mp4", content: null },
            { name: "note.ogg", type: "audio/ogg", content: Buffer.from("OggS\0 no sound") }
          ])
          yield* World.query<object>(id, (sql) =>
            sql`update archive_file set state = 'skipped', reason = 'size'
              where organization_id = ${id} and file_id = ${files[4] ?? ""}::uuid`)
          const errors: Array<string> = []
          page.on("pageerror", (error) => errors.push(String(error)))
          yield* unlock(page, archivePassword)
          yield* waitFor(page, "button.chat")
          yield* click(page, "button.chat")
          yield* waitFor(page, "li.file img")
          yield* Effect.promise(() =>
            page.waitForFunction("document.querySelector('li.file img').naturalWidth === 240")
          )
          yield* waitFor(page, "li.file .problem")
          const texts: unknown = yield* Effect.promise(() =>
            page.$$eval("li.file", (found) => found.map((each) => (each as unknown as { innerText: string }).innerText))
          )
          expect(texts).toEqual([
            expect.stringMatching(/plain\.txt[^]*Download$/),
            expect.stringContaining(`${canary}.png`),
            expect.stringContaining("not of a type that is shown here"),
            expect.stringMatching(/drawing\.svg[^]*Download$/),
            expect.stringMatching(/__gnp\.exe[^]*2\.5 MB/),
            expect.stringContaining("Not saved: larger than the rules allow"),
            expect.stringMatching(/note\.ogg[^]*Play\s+Download$/)
          ])
          expect(yield* countOf(page, "#viewer img")).toBe(1)
          // The files of two albums were sent a second apart, the others as well.
          const joined: unknown = yield* Effect.promise(() =>
            page.$$eval("li.message.album", (found) => found.map((each) => each.getAttribute("data-id")))
          )
          expect(joined).toEqual(["1001", "1003"])
          expect(yield* Effect.promise(() => page.$eval("li.file img", (image) => image.getAttribute("src"))))
            .toMatch(/^blob:/)
          yield* Effect.promise(() => page.evaluate("[...document.querySelectorAll('li.file button')].at(-2).click()"))
          yield* waitFor(page, "li.file:has(audio), li.message:last-of-type li.file .problem")

          const folder = yield* Effect.acquireRelease(
            Effect.sync(() => fs.mkdtempSync(path.join(scratch, "viewer-"))),
            (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
          )
          yield* Effect.promise(async () => {
            const session = await page.createCDPSession()
            await session.send("Page.setDownloadBehavior", { behavior: "allow", downloadPath: folder })
          })
          const names = yield* Effect.promise(() =>
            page.evaluate(`[...document.querySelectorAll("li.file")].filter((each) =>
              /drawing|2.5 MB/.test(each.innerText)).map((each) => each.querySelector("button").click()).length`)
          )
          expect(names).toBe(2)
          const stored = () => fs.readdirSync(folder).filter((name) => !name.endsWith(".crdownload"))
          yield* Effect.promise(() => vi.waitFor(() => expect(stored()).toHaveLength(2), { timeout: 20_000 }))
          expect(stored().toSorted()).toEqual(["__gnp.exe", "drawing.svg"])
          expect(Buffer.compare(fs.readFileSync(path.join(folder, "__gnp.exe")), large)).toBe(0)
          expect(Buffer.compare(fs.readFileSync(path.join(folder, "drawing.svg")), script)).toBe(0)

          expect(yield* Browser.inspect(page, "viewer-files")).toEqual([])
          expect(yield* Effect.promise(() => page.evaluate("typeof ran"))).toBe("undefined")
          const address = yield* Effect.promise(() => page.$eval("li.file img", (image) => image.getAttribute("src")))
          const load = Effect.promise(() =>
            page.evaluate(`new Promise((resolve) => {
              const image = new Image()
              image.onload = () => resolve("there")
              image.onerror = () => resolve("gone")
              image.src = ${JSON.stringify(address)}
            })`)
          )
          expect(yield* load).toBe("there")
          yield* click(page, "button.lock")
          yield* waitFor(page, "#archive-password")
          expect(yield* load).toBe("gone")
          const traffic = (yield* Traffic).text()
          expect(traffic).toContain("GET /console/archive/data/archive/sealed/files/")
          const base64 = Buffer.from(large.subarray(0, 30)).toString("base64")
          for (const secret of [archivePassword, canary, "globalThis.ran", base64]) {
            expect([secret, traffic.includes(secret)]).toEqual([secret, false])
          }
          expect(errors).toEqual([])
        }).pipe(Effect.scoped),
      120_000
    )

    it.effect(
      "has chats to review decided about, many at once, and says what is archived of them",
      () =>
        Effect.gen(function*() {
          const { account, id, page } = yield* arrive("plain")
          yield* World.query<object>(id, (sql) =>
            sql`update archive_chat set effect = 'review'
            where organization_id = ${id} and account_id = ${account}::uuid`)
          yield* unlock(page, archivePassword)
          yield* waitFor(page, ".to-review")
          expect(yield* textOf(page, ".to-review summary")).toBe("2 chats to review")
          yield* click(page, ".to-review summary")
          expect(yield* textOf(page, ".to-review")).toContain("Files are archived as the rule says")
          yield* click(page, ".to-review button.main")
          expect(yield* textOf(page, ".to-review .problem")).toBe("Tick the chats that you decide about.")
          yield* click(page, "#review-all")
          expect(yield* Browser.inspect(page, "viewer-review")).toEqual([])
          yield* click(page, ".to-review button.main")
          yield* Effect.promise(() => page.waitForFunction("document.querySelector('.to-review') === null"))
          const rules = yield* World.query<object>(id, (sql) =>
            sql`
            select chat_id::text as chat, effect, media from archive_rule where organization_id = ${id} order by chat_id`)
          expect(rules).toEqual(archivedIds.chat.map((chat) => ({ chat, effect: "archive", media: "none" })))
        }),
      60_000
    )

    it.effect("is refused to other sites, without a session, and to changes without the page's token", () =>
      Effect.gen(function*() {
        const { account, page } = yield* arrive("plain")
        const { port } = yield* Traffic
        const data = `http://127.0.0.1:${port}/console/archive/data/archive`
        const statusOf = (path: string, init: object) =>
          page.evaluate(`fetch(${JSON.stringify(data + path)}, ${JSON.stringify(init)}).then(({ status }) => status)`)
        const json = { "content-type": "application/json" }
        const body = JSON.stringify({ chats: { limit: 5 } })
        const sealed = `/sealed/accounts/${account}/pages`
        const token: unknown = yield* Effect.promise(() =>
          page.$eval("#viewer", (element) => element.getAttribute("data-token"))
        )
        const asked = yield* Effect.promise(() =>
          Promise.all([
            statusOf("/keys", {}),
            statusOf(sealed, { method: "POST", headers: { ...json, "x-token": token }, body }),
            statusOf(sealed, { method: "POST", headers: json, body }),
            statusOf("/keys", { credentials: "omit" })
          ])
        )
        expect(asked).toEqual([200, 200, 400, 401])
        const foreign = yield* Effect.promise(async () => {
          const response = await fetch(`${data}/keys`, { headers: { "sec-fetch-site": "cross-site" } })
          return response.status
        })
        expect(foreign).toBe(400)
      }))
  })
})
