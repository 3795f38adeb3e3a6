/** `npm run bench:viewer`: the time until the archive's viewer shows a long chat and the hits of a search, in a browser. */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import type { Page } from "puppeteer-core"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import * as Browser from "../../test/support/http/browser.ts"
import { fillDatabase } from "../../test/support/postgres/fill.ts"
import { startService } from "../peers/processes.ts"
import { median } from "../support/asking.ts"
import { record, type Table } from "../support/figure.ts"
import { type Ground, startFilled } from "../support/ground.ts"
import { largeChat, messagesPerAccount, wordOf } from "./corpus.ts"
import { accountsOf } from "./measure.ts"
import { consolePassword, organizationId, password, setConsolePassword, writeLargeChat, writeSealed } from "./sealed.ts"

const help = `npm run bench:viewer -- [--messages 1000000] [--kept FOLDER] [--sessions 3]

Archives so many messages, and a chat of ${largeChat.messages.length.toLocaleString("en")}, on a PostgreSQL of its own,
starts the service, and uses the viewer in a headless Chromium. A few minutes.

--kept FOLDER   begins with the messages that an earlier run has left there, or leaves them there
--sessions 3    measures the first searches of so many sessions alone, and keeps no figures`

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "1000000" },
    kept: { type: "string" },
    sessions: { type: "string" },
    help: { type: "boolean", default: false }
  }
})

/** Sessions whose first search is measured, for each kind of words. */
const sessions = Number(values.sessions ?? 5)
/** First searches are all that is measured. */
const isShort = values.sessions !== undefined
const repetitions = isShort ? 0 : 5
/** Milliseconds after which a measurement has failed. */
const deadline = 120_000
/** Requests of a session in a minute that leave room below its limit. */
const room = 80

/** A browser's page whose requests are counted. */
interface Visitor {
  readonly page: Page
  /** When the session of the console has sent each. */
  sent: Array<number>
}

const visitor = (page: Page): Visitor => {
  const made: Visitor = { page, sent: [] }
  page.on("request", () => void made.sent.push(Date.now()))
  return made
}

/** Waits until the last minute of the session had few requests, so that no measurement waits for the limit. */
const pace = async (visitor: Visitor): Promise<void> => {
  for (;;) {
    visitor.sent = visitor.sent.filter((at) => at > Date.now() - 60_000)
    if (visitor.sent.length < room) return
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

/** Runs the action in the page, and answers the milliseconds until the condition has been drawn. */
const timed = (page: Page, action: string, condition: string): Promise<number> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const from = performance.now();
    ${action}
    const look = () => {
      if (${condition}) requestAnimationFrame(() => resolve(performance.now() - from))
      else if (performance.now() - from > ${deadline}) reject(new Error(${JSON.stringify(condition)} + " is not so"))
      else setTimeout(look, 4)
    }
    look()
  })`) as Promise<number>

/** Clicks the button of a chat. */
const clickOn = (title: string): string =>
  `[...document.querySelectorAll("button.chat")].find((each) => each.querySelector("strong").innerText === ${
    JSON.stringify(title)
  }).click()`

const isShown = (title: string): string =>
  `document.querySelector("#chat-title")?.innerText === ${
    JSON.stringify(title)
  } && document.querySelectorAll("li.message").length >= 60`

const search = (words: string): string =>
  `const query = document.querySelector("#query"); query.value = ${JSON.stringify(words)}; query.form.requestSubmit()`

const isFound = `/^(?!Searching)./.test(document.querySelector(".said p")?.innerText ?? "")`

interface Place {
  readonly address: string
  readonly email: string
  /** The account that the viewer begins with: the large chat's. */
  readonly account: string
}

/** Begins another session of the console. */
const signIn = async (visitor: Visitor, { address, email }: Place) => {
  const { page } = visitor
  await (await page.createCDPSession()).send("Network.clearBrowserCookies")
  await page.goto(`${address}/console/archive`)
  await page.type("#sign-in-organization", organizationId)
  await page.type("#sign-in-email", email)
  await page.type("#sign-in-password", consolePassword)
  await Promise.all([page.waitForNavigation(), page.click("main button.main")])
  visitor.sent = []
}

/** Opens the archive anew: nothing that an earlier session read is in memory. */
const open = async (page: Page, { account, address }: Place) => {
  await page.goto(`${address}/console/archive?account=${account}`)
  await page.waitForSelector("#archive-password")
  await page.type("#archive-password", password)
  return timed(page, `document.querySelector(".unlock button.main").click()`, isListed)
}

const listAllChats = async (page: Page) => {
  // All chats of the account are in the list before any of them is looked for.
  for (let more = true; more;) {
    await page.waitForFunction(
      `!/Opening/.test(document.querySelector(".chat-list .foot").innerText)`,
      { timeout: deadline }
    )
    more = await page.evaluate(
      `(() => { const more = [...document.querySelectorAll(".chat-list .foot button")].at(-1); more?.click(); return more !== undefined })()`
    ) as boolean
  }
}

const isListed = `document.querySelectorAll("button.chat").length > 0`

const seconds = (times: ReadonlyArray<number>): string => `${(median(times) / 1000).toFixed(2)} s`

/** The first search of each of several sessions, and further ones of the last. */
const measureSearch = async (visitor: Visitor, place: Place, words: string) => {
  const { page } = visitor
  const first: Array<number> = []
  for (let session = 0; session < sessions; session++) {
    await signIn(visitor, place)
    await open(page, place)
    first.push(await timed(page, search(words), isFound))
  }
  const later: Array<number> = []
  for (let turn = 0; turn < repetitions; turn++) {
    await pace(visitor)
    await page.evaluate(`document.querySelectorAll(".said, .hits").forEach((each) => each.replaceChildren())`)
    later.push(await timed(page, search(words), isFound))
  }
  return { first, later, said: await page.$eval(".said p", (said) => said.textContent) }
}

/** The archive opened, and a long chat in it. */
const measureReading = async (visitor: Visitor, place: Place): Promise<Table["rows"]> => {
  const { page } = visitor
  await signIn(visitor, place)
  const unlocked = await open(page, place)
  await listAllChats(page)
  const chats: Array<number> = []
  for (let turn = 0; turn < repetitions; turn++) {
    await pace(visitor)
    chats.push(await timed(page, clickOn(largeChat.title), isShown(largeChat.title)))
    const other = await page.$eval("button.chat:not([aria-current]) strong", (each) => each.textContent ?? "")
    await timed(page, clickOn(other), isShown(other))
  }
  await timed(page, clickOn(largeChat.title), isShown(largeChat.title))
  const oldest = new Date((largeChat.messages.at(-1)?.at ?? 0) * 1000).toISOString().slice(0, 10)
  await pace(visitor)
  const jump = await timed(
    page,
    `const day = document.querySelector("#go-to-day"); const before = document.querySelector("li.message");
    day.value = ${JSON.stringify(oldest)}; day.dispatchEvent(new Event("change"))`,
    `document.querySelector("li.message") !== before && document.querySelectorAll("li.message").length >= 60`
  )
  return [
    ["the archive opened, from the password to the list of chats", seconds([unlocked]), ""],
    [`a chat of ${largeChat.messages.length.toLocaleString("en")} messages opened`, seconds(chats), "1 s"],
    ["its oldest day opened", seconds([jump]), "1 s"]
  ]
}

const measure = async (visitor: Visitor, place: Place): Promise<Table["rows"]> => {
  const rows = isShort ? [] : [...await measureReading(visitor, place)]
  for (
    const [title, words] of [
      ["nothing found", "zzyzx"],
      ["a rare word", wordOf(29_000)],
      ["a frequent word", wordOf(3)]
    ] as const
  ) {
    const { first, later, said } = await measureSearch(visitor, place, words)
    process.stderr.write(`${title}: ${first.concat(later).map(Math.round).join(", ")} ms\n`)
    rows.push([`search, ${title}, for the first time in a session`, seconds(first), "1 s"])
    if (!isShort) rows.push([`search, ${title}, again (${said})`, seconds(later), "1 s"])
  }
  return rows
}

const fill = async (ground: Ground, messages: number) => {
  const accounts = messages / messagesPerAccount
  await fillDatabase(ground.superuser, [{ id: organizationId, accounts, events: 0, departments: 10 }])
  const ids = await accountsOf(ground)
  const from = performance.now()
  let written = 0
  const key = await writeSealed(ground, ids, () => {
    written += messagesPerAccount
    process.stderr.write(`archived ${written} in ${Math.round((performance.now() - from) / 1000)} s\n`)
  })
  await writeLargeChat(ground, ids[0] ?? "", key)
  await ground.superuser.query("vacuum analyze")
}

const run = async (ground: Ground, messages: number): Promise<Table> => {
  const [account = ""] = await accountsOf(ground)
  const email = await setConsolePassword(ground)
  const server = await startService(ground.url, ground.pepper, { flags: nodeFlags })
  try {
    const rows = await Effect.runPromise(
      Effect.flatMap(
        Browser.newPage(),
        (page) => Effect.promise(() => measure(visitor(page), { address: server.address, email, account }))
      ).pipe(
        Effect.scoped,
        Effect.provide(Browser.Chromium.layer)
      )
    )
    return {
      title: `${messages.toLocaleString("en")} messages of ${messages / messagesPerAccount} accounts`,
      columns: ["measured", "time", "goal"],
      rows
    }
  } finally {
    await server.stop()
  }
}

const messages = Number(values.messages)
if (values.help) console.log(help)
else if (!(messages > 0) || messages % messagesPerAccount !== 0) {
  console.error(`--messages takes a multiple of ${messagesPerAccount}, such as 1000000`)
  process.exitCode = 1
} else {
  const ground = await startFilled(values.kept ?? "", (ground) => fill(ground, messages))
  try {
    const table = await run(ground, messages)
    if (isShort) console.log(table.rows.map(([title, time]) => `${title}: ${time}`).join("\n"))
    else {
      record({
        name: "viewer",
        title: "The viewer of the archive",
        command: "npm run bench:viewer",
        text: [
          "The corpus of the archive's figures, and one chat more. The viewer runs in a headless Chromium on the machine of the service, and opens everything there; a time ends when the browser has drawn the answer. A search of a session finds the vocabularies that earlier ones have read in the memory of the browser; the first one reads them all, where nothing is found. Times are medians: of the first search of five sessions, and of five further ones."
        ],
        tables: [table],
        charts: []
      })
    }
  } finally {
    await ground.remove()
  }
}
