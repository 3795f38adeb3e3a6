/**
 * Three processes share the accounts over the wire, and break in random order: strangers come meanwhile, people write,
 * clients change profiles at whichever process answers, and backups are asked for. Several such services are tried at
 * once, because most of a round is waiting.
 */
import { passwordHeader } from "../../test/support/archive/archivePassword.ts"
import * as Clients from "./clients.ts"
import { archivePassword, type Crowd, gather, type Member } from "./crowd.ts"
import { answers, type Fault, spread, unmet } from "./fault.ts"
import { type Attempt, judge, type Verdict } from "./ledger.ts"
import { pause } from "./stage.ts"
import { deadlines, isMailedOnce } from "./strangers.ts"
import { type Trouble, troubles } from "./troubles.ts"

const people = 30
/** The people whose chats are read again at the end. */
const writers = 5
const processes = 3

/** No account is without a session for longer, whatever happens; in ms. */
const longestGap = 30_000
/** A stranger whose push was lost is found by a poll, once a minute; in ms. */
const patience = 100_000

const found = "select count(*)::int as count from session where review_deadline is not null"

/** The time until it holds, in ms; undefined where that takes too long. While it cannot be asked, it does not. */
const until = async (holds: () => Promise<boolean>, within = patience): Promise<number | undefined> => {
  for (const start = performance.now(); performance.now() - start < within; await pause(250)) {
    if (await holds().catch(() => false)) return performance.now() - start
  }
}

/** The time until so many strangers are known and not signed out. */
const untilKnown = ({ stage }: Crowd, wanted: number) =>
  until(() => stage.within(async (query) => (await query<{ count: number }>(found))[0]?.count === wanted))

/** The deadlines of all strangers come. */
const setDeadlines = ({ stage }: Crowd) =>
  until(() =>
    stage.within(async (query) => {
      for (const statement of deadlines) await query(statement)
      return true
    })
  )

/** Waits until every account has had a session for a second: what breaks next finds nothing broken. */
const untilWhole = ({ outside }: Crowd) =>
  until(async () => await outside.tell({ _: "coverage", since: Date.now() - 1000, lost: [] }) === 0, longestGap)

const owners = "select distinct split_part(address, ':', -1)::int as port from cluster_locks"

/** One that has accounts: what breaks another one shows nothing. */
const chooseVictim = async ({ members, stage }: Crowd): Promise<Member> => {
  const ports = new Set((await stage.within((query) => query<{ port: number }>(owners))).map(({ port }) => port))
  return anyOf(members.filter(({ port }) => ports.has(port)))
}

/** The backups of some of the people; each process takes the request. */
const askBackup = async ({ accounts, members, people, stage }: Crowd): Promise<number> => {
  const service = anyOf(members.flatMap(({ service }) => service ?? []))
  const account = accounts.get(anyOf(people.slice(0, writers)).ref) ?? ""
  const path = `/v1/accounts/${account}/archive/backup`
  return (await Clients.send(service.address, Clients.nextKey(stage), "POST", path)).status
}

const backupsLeft = "select from archive_run where asked_at is not null"

const anyOf = <A>(all: ReadonlyArray<A>): A => all[Math.floor(Math.random() * all.length)]!

/** Each as often as the others, in an order of its own. */
const drawOrder = (rounds: number, only: string | undefined): ReadonlyArray<readonly [string, Trouble]> => {
  const order: Array<readonly [string, Trouble]> = []
  while (order.length < rounds) {
    const left = Object.entries(troubles).filter(([name]) => only === undefined || name === only)
    if (left.length === 0) throw new Error(`--only is one of: ${Object.keys(troubles).join("; ")}`)
    while (left.length > 0) order.push(...left.splice(Math.floor(Math.random() * left.length), 1))
  }
  return order.slice(0, rounds)
}

/** Clients that change profiles, each at any process that is not dead. */
const startClients = ({ accounts, members, stage }: Crowd) => {
  const attempts: Array<Attempt> = []
  const state = { running: true }
  const client = async (name: number) => {
    for (let number = 0; state.running; number++) {
      const service = anyOf(members).service
      if (service !== undefined) {
        const account = anyOf([...accounts.values()])
        attempts.push(await Clients.write(stage, service.address, "about", account, `${name}/${number}`))
      }
      await pause(100)
    }
  }
  const all = Promise.all([0, 1, 2].map(client))
  return {
    attempts,
    stop: async () => {
      state.running = false
      await all
    }
  }
}

/** The texts of the archived chat, asked for until all of them are there. */
const archivedTexts = async ({ stage }: Crowd, address: string, account: string, wanted: number, end: number) => {
  const texts: Array<string> = []
  do {
    texts.length = 0
    let next = ""
    do {
      const path = `/v1/archive/accounts/${account}/chats/7001/messages?limit=100${next}`
      const response = await fetch(new URL(path, address), {
        headers: { authorization: `Bearer ${Clients.nextKey(stage)}`, ...passwordHeader(archivePassword) }
      })
      const body: any = await response.json()
      if (response.status !== 200) break
      texts.push(...body.data.map(({ text }: { text: string }) => text))
      next = body.next_id === null ? "" : `&before_id=${body.next_id}`
    } while (next !== "")
    if (texts.length >= wanted) break
    await pause(1000)
  } while (Date.now() < end)
  return texts
}

const seconds = (millis: number) => (millis / 1000).toFixed(1)

interface Played {
  readonly rounds: number
  readonly attempts: ReadonlyArray<Attempt>
  readonly verdict: Verdict
  /** Times in ms, those without a session by the trouble. */
  readonly findings: ReadonlyArray<number>
  readonly endings: ReadonlyArray<number>
  readonly gaps: ReadonlyMap<string, number>
  readonly messages: number
  readonly backups: number
  readonly failed: ReadonlyArray<string>
}

const play = async (order: ReturnType<typeof drawOrder>, service: number): Promise<Played> => {
  const rounds = order.length
  const crowd = await gather(people, processes, 2)
  const { accounts, members, outside, stage } = crowd
  try {
    const rule = await Clients.send(
      members[0]?.service?.address ?? "",
      Clients.nextKey(stage),
      "POST",
      "/v1/archive/rules",
      {
        target: { level: "organization", id: null },
        selector: { chat_type: "any", chat_id: null },
        effect: "archive",
        media: "none"
      }
    )
    if (rule.status !== 200) throw new Error(`No rule of the archive: ${JSON.stringify(rule.body)}`)
    // What is signed in already is no stranger.
    while (
      (await stage.within((query) => query("select from account where session_ref is not null and not baselined")))
        .length > 0
    ) {
      await pause(500)
    }
    await pause(5000)
    const clients = startClients(crowd)
    const late: Array<string> = []
    const [findings, endings]: [Array<number>, Array<number>] = [[], []]
    const gaps = new Map<string, number>()
    const written: Array<string> = []
    const backups: Array<number> = []
    const write = async (round: number, place: number) => {
      const text = `round ${round}, ${place}`
      await outside.tell({ _: "write", people: writers, text })
      written.push(text)
    }

    for (const [round, [name, trouble]] of order.entries()) {
      const began = performance.now()
      const victim = await chooseVictim(crowd)
      let [since, lost]: [number, ReadonlyArray<string>] = [Date.now(), []]
      const happen = async () => {
        await pause(Math.random() * 500)
        if (trouble.deaf === true) lost = await crowd.sessionsOf(victim)
        since = Date.now()
        await trouble.happen(crowd, victim)
      }
      const isFirst = Math.random() < 0.5
      await write(round, 0)
      await outside.tell({ _: "strangers", round })
      const first = isFirst ? happen() : undefined
      backups.push(await askBackup(crowd))
      await write(round, 1)
      const foundAfter = await untilKnown(crowd, people)
      if (foundAfter === undefined) late.push(`round ${round}, ${name}: found`)
      else findings.push(foundAfter)
      await setDeadlines(crowd)
      const happening = first ?? happen()
      await write(round, 2)
      const endedAfter = await untilKnown(crowd, 0)
      if (endedAfter === undefined) late.push(`round ${round}, ${name}: signed out`)
      else endings.push(endedAfter)
      await happening
      await write(round, 3)
      await untilWhole(crowd)
      const gap = await outside.tell({ _: "coverage", since, lost })
      gaps.set(name, Math.max(gaps.get(name) ?? 0, gap))
      console.error(
        `service ${service}, round ${round}: ${name}: ${
          Math.round((performance.now() - began) / 1000)
        } s, gap ${gap} ms, found ${foundAfter}, ended ${endedAfter}`
      )
    }

    await clients.stop()
    const address = members[0]?.service?.address ?? ""
    const wrong: Array<string> = []
    const end = Date.now() + 240_000
    for (const { phone, ref } of crowd.people.slice(0, writers)) {
      const texts = await archivedTexts(crowd, address, accounts.get(ref) ?? "", written.length, end)
      const missing = written.filter((text) => !texts.includes(text))
      if (texts.length !== written.length || missing.length > 0) {
        wrong.push(`${phone} has ${texts.length}, without ${missing.join(", ")}`)
      }
    }
    const backedUp = await until(() => stage.within(async (query) => (await query(backupsLeft)).length === 0), 120_000)
    const { abouts, duplicated } = await outside.tell({ _: "seen" })
    await Promise.all(members.map(({ service }) => service?.stop()))
    const kept = await stage.settle()
    const done = (action: string) => kept.events.filter((event) => event.action === action && event.outcome === "done")
    const each = (action: string) => {
      const targets = done(action).map(({ account_id, target_id }) => `${account_id} ${target_id}`)
      return targets.length === rounds * people && new Set(targets).size === targets.length
    }
    const isMailed = await isMailedOnce(stage, kept)
    const twice = clients.attempts.filter(({ text }) => abouts.filter((about) => about === text).length > 1)
    const undone = clients.attempts.filter(({ outcome, text }) => outcome === "acknowledged" && !abouts.includes(text))
    const longest = Math.max(...gaps.values())
    return {
      rounds,
      attempts: clients.attempts,
      verdict: judge(clients.attempts, kept),
      findings,
      endings,
      gaps,
      messages: written.length * writers,
      backups: backups.filter((status) => status === 200).length,
      failed: unmet({
        [`nobody is late: ${late.join("; ")}`]: late.length === 0,
        [`no key is used by two: ${duplicated}`]: duplicated === 0,
        [`no account is without a session for 30 s: ${seconds(longest)} s`]: longest <= longestGap,
        [`every stranger is found once: ${done("session.detected").length}`]: each("session.detected"),
        [`every stranger is signed out once: ${done("session.autokilled").length}`]: each("session.autokilled"),
        "one mail for each event": isMailed("session.detected") && isMailed("session.autokilled"),
        "no takeover is seen, and no session of the service is lost":
          done("takeover.detected").length + done("protection.stopped").length === 0,
        [`each change of a profile is made at most once: ${twice.map(({ text }) => text).join(", ")}`]:
          twice.length === 0,
        [`each acknowledged one is made: ${undone.map(({ text }) => text).join(", ")}`]: undone.length === 0,
        [`each message is archived once: ${wrong.join("; ")}`]: wrong.length === 0,
        [`backups are taken or refused: ${backups.join(", ")}`]: backups.every((status) =>
          [0, 200, 409, 503].includes(status)
        ),
        "each backup that was taken has ended": backedUp !== undefined
      })
    }
  } finally {
    await crowd.remove()
  }
}

export const cluster: Fault = async ({ atOnce = 2, only, rounds: wanted = 10 }) => {
  const order = drawOrder(wanted, only)
  const shares = Array.from({ length: atOnce }, (_, share) => order.filter((_, round) => round % atOnce === share))
    .filter((share) => share.length > 0)
  const outcomes = await Promise.allSettled(shares.map(play))
  const all = outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? outcome.value : [])
  const sum = (of: (played: Played) => number) => all.reduce((total, played) => total + of(played), 0)
  const rounds = sum((played) => played.rounds)
  const attempts = all.flatMap((played) => played.attempts)
  const gaps = Map.groupBy(all.flatMap((played) => [...played.gaps]), ([name]) => name)
  return {
    done: `Three processes over the wire, ${rounds} rounds in random order, by ${shares.length} such services at once`,
    verdict: {
      acknowledged: sum(({ verdict }) => verdict.acknowledged),
      unknown: sum(({ verdict }) => verdict.unknown),
      lost: sum(({ verdict }) => verdict.lost),
      duplicated: sum(({ verdict }) => verdict.duplicated),
      halfDone: sum(({ verdict }) => verdict.halfDone),
      orphans: sum(({ verdict }) => verdict.orphans)
    },
    seen: `${rounds * people} strangers, found: ${
      spread(all.flatMap(({ findings }) => findings))
    }, signed out after the deadline: ${spread(all.flatMap(({ endings }) => endings))}; ${
      sum(({ messages }) => messages)
    } messages archived; ${sum(({ backups }) => backups)} backups; changes of profiles: ${
      answers(attempts)
    }; longest time without a session, s: ${
      [...gaps].map(([name, some]) => `${name} ${seconds(Math.max(...some.map(([, gap]) => gap)))}`).join(", ")
    }`,
    failed: outcomes.flatMap((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.failed : `a service was given up: ${String(outcome.reason)}`
    )
  }
}
