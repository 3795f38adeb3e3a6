/**
 * People write, edit and delete in chats that are archived over the wire, and whatever archives them breaks. At the end
 * the archive is compared with all that was ever written, message by message.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { passwordHeader } from "../../test/support/archive/archivePassword.ts"
import { traces } from "../../test/support/dataCentre/traces.ts"
import * as Clients from "./clients.ts"
import { archivePassword, type Crowd, gather } from "./crowd.ts"
import { fill, smallDisk, unmount } from "./disk.ts"
import { type Fault, spread, unmet } from "./fault.ts"
import { judge } from "./ledger.ts"
import type { Order } from "./outside.ts"
import { pause } from "./stage.ts"
import type { Written } from "./talk.ts"

const people = 4
const processes = 2

interface Archived {
  readonly id: string
  readonly text: string | null
  readonly deleted_at: string | null
  readonly files: ReadonlyArray<{ readonly sha256: string | null; readonly state: string }>
}

const ask = async ({ stage }: Crowd, address: string, path: string): Promise<any> => {
  const response = await fetch(new URL(path, address), {
    headers: { authorization: `Bearer ${Clients.nextKey(stage)}`, ...passwordHeader(archivePassword) },
    signal: AbortSignal.timeout(30_000)
  })
  const body: any = await response.json()
  return response.status === 200 ? body : undefined
}

const archivedOf = async (crowd: Crowd, address: string, account: string, chat: string) => {
  const found: Array<Archived> = []
  for (let next: string | null = ""; next !== null;) {
    const page = await ask(crowd, address, `/v1/archive/accounts/${account}/chats/${chat}/messages?limit=100${next}`)
    if (page === undefined) return found
    found.push(...page.data)
    next = page.next_id === null ? null : `&before_id=${page.next_id}`
  }
  return found
}

/** The differences between an account's archive and what was written. */
const differences = async (crowd: Crowd, address: string, account: string, written: ReadonlyArray<Written>) => {
  const wrong: Array<string> = []
  for (const [chat, messages] of Map.groupBy(written, ({ chat }) => chat)) {
    const found = await archivedOf(crowd, address, account, chat)
    const byId = new Map(found.map((message) => [message.id, message]))
    if (byId.size < found.length) wrong.push(`${chat}: ${found.length - byId.size} doubled`)
    const known = new Map(messages.map((message) => [message.id, message]))
    for (const { id, text } of found) {
      const message = known.get(id)
      if (message === undefined || !message.texts.includes(text ?? "")) wrong.push(`${chat}/${id}: “${text}” invented`)
    }
    for (const { file, id, isGone, texts } of messages) {
      const message = byId.get(id)
      if (message === undefined) {
        if (!isGone) wrong.push(`${chat}/${id}: missing`)
        continue
      }
      if (isGone !== (message.deleted_at !== null)) wrong.push(`${chat}/${id}: gone is ${isGone}`)
      if (isGone) continue
      if ((message.text ?? "") !== texts.at(-1)) wrong.push(`${chat}/${id}: “${message.text}” is not the newest`)
      const [stored] = message.files
      if (file !== (stored?.sha256 ?? null)) wrong.push(`${chat}/${id}: its file is ${stored?.state ?? "missing"}`)
    }
  }
  return wrong
}

type Break = (crowd: Crowd) => Promise<unknown>

const anyOf = <A>(all: ReadonlyArray<A>): A => all[Math.floor(Math.random() * all.length)]!

const killed: Break = async (crowd) => {
  const victim = anyOf(crowd.members)
  await victim.service?.stop("SIGKILL")
  victim.service = undefined
  await pause(2000)
  await crowd.start(victim)
}

/** As if the time for which the dead have claimed runs had passed. */
const claimsEnd = "update archive_run set claimed_until = null"

const killAll: Break = async (crowd) => {
  await Promise.all(crowd.members.map(async (member) => {
    await member.service?.stop("SIGKILL")
    member.service = undefined
  }))
  await crowd.stage.within((query) => query(claimsEnd, []))
  await crowd.outside.tell({ _: "talk", people, deeds: 10 })
  for (const member of crowd.members) await crowd.start(member)
}

const backUp = async ({ accounts, members, stage }: Crowd) => {
  const address = members.find(({ service }) => service !== undefined)?.service?.address ?? ""
  for (const account of accounts.values()) {
    await Clients.send(address, Clients.nextKey(stage), "POST", `/v1/accounts/${account}/archive/backup`)
  }
}

/** Kills the processes while one of them waits for the answer to a request, and so is in a phase of a run. */
const killedAt = (request: string, causes: Break = async () => {}): Break => async (crowd) => {
  const held = crowd.outside.tell({ _: "hold", request })
  await causes(crowd)
  await backUp(crowd)
  if (!(await held)) throw new Error(`Nobody asks for ${request}`)
  await killAll(crowd)
}

/** As if the number of members of each chat had changed. */
const membersChange: Break = ({ stage }) =>
  stage.within((query) => query("update archive_chat set members_at = null", []))

const tell = (does: Extract<Order, { readonly _: "trouble" }>["does"]): Break => ({ outside }) =>
  outside.tell({ _: "trouble", people, does })

/** Everything that is tried, in this order; the place of the files is a disk of its own, where that can be mounted. */
const breaksWith = (disk: string | undefined): Readonly<Record<string, Break>> => ({
  "pushes lost": tell("lost"),
  "a process killed": killed,
  "positions that the messenger has forgotten": tell("forgotten"),
  "floods": tell("flood"),
  "answers lost": tell("dropped"),
  "PostgreSQL killed": async ({ stage }) => {
    await stage.server.kill()
    await pause(1000)
    await stage.server.start()
  },
  "the messenger away for 5 s": tell("away"),
  "a data centre of files dead for 15 s": tell("files away"),
  // They forget which data centres are not to be asked for a while.
  "both processes killed": killAll,
  "both killed while a run starts": killedAt("updates.getDifference"),
  "both killed while a run lists chats": killedAt("messages.getDialogs"),
  "both killed while a run reads messages": killedAt("messages.getHistory", tell("forgotten")),
  "both killed while a file is read": killedAt("upload.getFile", ({ outside }) => outside.tell({ _: "files", people })),
  "both killed while a run finishes": killedAt("channels.getParticipants", membersChange),
  ...(disk === undefined ? {} : {
    "the disk of the files full": async ({ outside }: Crowd) => {
      const ballast = fill(disk)
      await outside.tell({ _: "talk", people, deeds: 60 })
      await pause(5000)
      fs.rmSync(ballast)
    }
  }),
  "the messenger away for 3 minutes, and its boxes forgetful": tell("away for minutes")
})

export const archive: Fault = async ({ only, rounds = 1 }) => {
  const disk = smallDisk(64)
  const folder = disk ?? fs.mkdtempSync(path.join(os.tmpdir(), "faults-archive-"))
  const crowd = await gather(people, processes, 0, ["--blobs", `file:${path.join(folder, "files")}`, "--blobs-shared"])
  const { accounts, members, outside, stage } = crowd
  try {
    const address = () => members.find(({ service }) => service !== undefined)?.service?.address ?? ""
    await outside.tell({ _: "teams" })
    // A first backup finds what is there already.
    await outside.tell({ _: "talk", people, deeds: 200 })
    const rule = await Clients.send(address(), Clients.nextKey(stage), "POST", "/v1/archive/rules", {
      target: { level: "organization", id: null },
      selector: { chat_type: "any", chat_id: null },
      effect: "archive",
      media: "all"
    })
    if (rule.status !== 200) throw new Error(`No rule of the archive: ${JSON.stringify(rule.body)}`)
    const names: Array<string> = []
    for (let round = 0; round < rounds; round++) {
      for (const [name, happen] of Object.entries(breaksWith(disk))) {
        if (only !== undefined && !only.split(",").some((part) => name.includes(part))) continue
        const begun = performance.now()
        const talking = outside.tell({ _: "talk", people, deeds: 40 })
        await pause(Math.random() * 1000)
        await happen(crowd)
        await talking
        await outside.tell({ _: "talk", people, deeds: 10 })
        await pause(3000)
        names.push(name)
        console.error(`archive: ${name}, ${Math.round((performance.now() - begun) / 1000)} s`)
      }
    }
    // The next push of a box shows what was lost of it.
    await outside.tell({ _: "close", people })
    const started = performance.now()
    let wrong: ReadonlyArray<string> = []
    const times: Array<number> = []
    let count = 0
    let files = 0
    for (const { ref, user } of crowd.people.slice(0, people)) {
      const written = await outside.tell({ _: "written", user })
      const account = accounts.get(ref) ?? ""
      await Clients.send(address(), Clients.nextKey(stage), "POST", `/v1/accounts/${account}/archive/backup`)
      let left: ReadonlyArray<string> = ["not compared"]
      for (const end = Date.now() + 150_000; left.length > 0 && Date.now() < end; await pause(1000)) {
        left = await differences(crowd, address(), account, written).catch((error: unknown) => [String(error)])
      }
      times.push(performance.now() - started)
      wrong = [...wrong, ...left.map((text) => `${account}: ${text}`)]
      count += written.length
      files += written.filter(({ file, isGone }) => file !== null && !isGone).length
    }
    const { requests } = await outside.tell({ _: "asked" })
    await Promise.all(members.map(({ service }) => service?.stop()))
    const kept = await stage.settle()
    const shown = traces.filter((name) => requests[name] !== undefined)
    const done = (action: string) => kept.events.filter((event) => event.action === action).length
    return {
      done: `Chats that are archived by two processes over the wire; ${names.join(", ")}`,
      verdict: judge([], kept),
      seen:
        `${count} messages of ${people} accounts, ${files} of them with a file, compared one by one, as the data centre has them or had them; whole after the last trouble: ${
          spread(times)
        }; calls: ${
          ["messages.getHistory", "updates.getDifference", "updates.getChannelDifference", "messages.getDialogs"]
            .map((name) => `${name.split(".")[1]} × ${requests[name] ?? 0}`).join(", ")
        }`,
      failed: unmet({
        [`nothing is missing, doubled or invented: ${wrong.slice(0, 12).join("; ")} (${wrong.length})`]:
          wrong.length === 0,
        [`nothing is marked as read, and no presence shown: ${shown.join(", ")}`]: shown.length === 0,
        "no session is lost, and no takeover seen":
          done("takeover.detected") + done("protection.stopped") + done("session.ended") === 0
      })
    }
  } finally {
    await crowd.remove()
    if (disk === undefined) fs.rmSync(folder, { recursive: true })
    else unmount(disk)
  }
}
