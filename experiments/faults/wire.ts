/**
 * The messenger over its own protocol breaks wherever it can, and so do the processes and the database that use it: no
 * key is used by two, nobody is signed out twice, and no session is lost but those that the messenger ends.
 */
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { MessengerUserId } from "../../src/domain/messenger/Messenger.ts"
import type { Service } from "../../test/support/cli/commandProcess.ts"
import { Refusal } from "../../test/support/dataCentre/Faults.ts"
import { Loopback } from "../../test/support/dataCentre/index.ts"
import { late } from "../../test/support/dataCentre/late.ts"
import * as Clients from "./clients.ts"
import { type Fault, spread, unmet } from "./fault.ts"
import { judge } from "./ledger.ts"
import { onPostgres, pause, type PostgresStage } from "./stage.ts"
import { deadlines, due, until } from "./strangers.ts"

const people = 6
const day = 86_400_000

/** Requests of a login, at each of which its connection is dropped once, before or after they are done. */
const dropped = ["auth.sendCode", "auth.signIn", "account.getAuthorizations"]

const unseen = "select count(*)::int as count from account where monitoring_state = 'unknown'"
/** As if a minute had passed since the watch looked last. */
const aMinutePasses = `update monitor set ${
  ["next_at", "started_at", "last_polled_at", "last_ok_at", "first_failure_at"]
    .map((column) => `${column} = ${column} - interval '1 minute'`).join(", ")
}`

const found = "select count(*)::int as count from session where review_deadline is not null"

/** Runs in front of a world whose clock runs two days late until the accounts are connected. */
const start = async () => {
  const { behind, layer, millis } = late()
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const { centre, world } = Context.get(context, Loopback)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faults-wire-"))
  const keys = path.join(folder, "data-centres.pem")
  fs.writeFileSync(keys, centre.publicKey)
  behind.millis = 2 * day
  return {
    behind,
    centre,
    millis,
    world,
    run: <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(Effect.provideContext(effect, context)),
    messenger: {
      live: 0,
      serving: [
        ["--messenger", "wire"],
        ["--messenger-application", "1"],
        ["--messenger-data-centre", `1@127.0.0.1:${centre.port}`],
        ["--messenger-keys", keys]
      ].flat(),
      env: { CONSOLE_MESSENGER_HASH: "0".repeat(32) }
    },
    remove: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      fs.rmSync(folder, { recursive: true })
    }
  }
}

type Outside = Awaited<ReturnType<typeof start>>

/** Asks until the service has done it; a process that was killed holds a login for half a minute. */
const asked = async (stage: PostgresStage, service: Service, at: string, body: object) => {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(1000)) {
    const answer = await Clients.send(service.address, Clients.nextKey(stage), "POST", at, body)
    if (answer.status !== 503 && answer.status !== 0 && answer.status !== 409) return answer
  }
}

const codeFor = async ({ run, world }: Outside, phone: string) =>
  Redacted.value((await run(world.codes)).findLast((one) => one.phone === phone)!.code)

export const wire: Fault = async () => {
  const outside = await start()
  const { behind, centre, millis, run, world } = outside
  const stage = await onPostgres(1, undefined, outside.messenger)
  try {
    let service = await stage.serve()
    const wrong: Array<string> = []
    const times: Array<number> = []
    const users: Array<MessengerUserId> = []

    const begun: Array<{ readonly at: string; readonly code: string }> = []
    for (let place = 0; place < people; place++) {
      const phone = `49155513${10_000 + place}`
      const user = await run(world.createAccount({ phone, first_name: `Person ${place}` }))
      users.push(user)
      await run(world.logIn(user, { device_model: "Phone", created_at: new Date(millis() - day) }))
      const request = dropped[place % dropped.length]!
      centre.faults.push({ request, does: place < dropped.length ? "drop before" : "drop after", times: 1 })
      const login = await asked(stage, service, "/v1/logins", { phone_number: `+${phone}` })
      if (login?.body.id === undefined) throw new Error(`login ${place} not begun: ${JSON.stringify(login)}`)
      const at = `/v1/logins/${login.body.id}/code`
      const code = await codeFor(outside, phone)
      if (place === 0) {
        // The process dies after the messenger has signed it in, and before it has heard so.
        centre.faults.push({ request: "auth.signIn", does: "stay silent", times: 1 })
        const hanging = Clients.send(service.address, Clients.nextKey(stage), "POST", at, { code })
        await pause(2000)
        await service.stop("SIGKILL")
        await hanging
        service = await stage.serve()
      }
      begun.push({ at, code })
    }
    // What the killed process held is free by the time that its login is asked for.
    for (const [place, { at, code }] of [...begun.entries()].toReversed()) {
      const done = await asked(stage, service, at, { code })
      if (done?.body.state !== "completed") wrong.push(`login ${place}: ${JSON.stringify(done?.body)}`)
    }
    behind.millis = 0
    const made = centre.keys.size

    let come = 0
    const strangersCome = async () => {
      for (const user of users) await run(world.logIn(user, { device_model: `Stranger ${come}` }))
      come += people
    }
    const expect = async (name: string, statement: string, wanted: number) => {
      const time = await until(stage, statement, wanted)
      if (time === undefined) wrong.push(name)
      else times.push(time)
    }
    const areDue = () =>
      stage.within(async (query) => {
        for (const statement of deadlines) await query(statement)
      })

    // A process is frozen while it watches, and goes on when another one has taken over.
    const next = await stage.serve()
    service.signal("SIGSTOP")
    await strangersCome()
    await expect("found while a process is frozen", found, people)
    service.signal("SIGCONT")
    await pause(5000)
    await service.stop()
    service = next

    // A process is killed when the messenger has signed strangers out, and has not said so.
    centre.faults.push({ request: "account.resetAuthorization", does: "stay silent", times: people / 2 })
    await areDue()
    await pause(2000)
    await service.stop("SIGKILL")
    service = await stage.serve()
    await expect("signed out by the next process", found, 0)

    // The data centre is away for ten minutes, each of which is a second and a half of the experiment.
    await strangersCome()
    await centre.down()
    for (let minute = 0; minute < 10; minute++) {
      await pause(1500)
      await stage.within((query) => query(aMinutePasses))
    }
    await expect("unknown while the data centre is away", unseen, people)
    await centre.up()
    await stage.within((query) => query(due))
    await expect("found after the data centre was away", found, people)
    await expect("seen again after the data centre was away", unseen, 0)

    // The messenger asks to wait, and connections are dropped at what it is asked.
    await run(world.script({ answer: { _tag: "Busy", seconds: 5 }, operation: "sign_out", times: people }))
    centre.faults.push({ request: "account.resetAuthorization", does: "drop after", times: people })
    await areDue()
    await expect("signed out after a wait and drops", found, 0)

    // PostgreSQL is away while the sessions are live.
    await strangersCome()
    await stage.server.kill()
    await pause(15_000)
    await stage.server.start()
    await expect("found after PostgreSQL was away", found, people)

    // The messenger does not know the keys for ten seconds.
    for (const key of centre.keys.values()) centre.forget(key)
    centre.cut()
    await pause(10_000)
    for (const key of centre.keys.values()) centre.remember(key)
    await pause(25_000)
    await areDue()
    await expect("signed out after the keys were unknown", found, 0)

    const keyOf = (user: MessengerUserId) => [...centre.keys.values()].find(({ of }) => of["userId"] === user)!
    const quiet = "select count(*)::int as count from account where stopped_at is not null"
    await expect("no session is lost before the messenger ends one", quiet, 0)
    await run(world.revokeService(users[0]!, "revoked"))
    await run(world.revokeService(users[1]!, "banned"))
    const [duplicated, forgotten] = [keyOf(users[2]!), keyOf(users[3]!)]
    centre.faults.push({
      which: (key) => key === duplicated,
      does: new Refusal(406, "AUTH_KEY_DUPLICATED"),
      times: Infinity
    })
    centre.forget(forgotten)
    centre.cut(forgotten)
    await stage.within((query) => query(due))
    await expect("the sessions that the messenger ends are told of", quiet, 3)
    await expect("the key that was used twice is told of", unseen, 1)

    await service.stop()
    const kept = await stage.settle()
    const done = (action: string) => kept.events.filter((event) => event.action === action && event.outcome === "done")
    const each = (action: string) => {
      const targets = done(action).map(({ account_id, target_id }) => `${account_id} ${target_id}`)
      return targets.length === come && new Set(targets).size === come
    }
    const ended = await stage.within((query) =>
      query<{ count: number }>(
        "select count(*)::int as count from termination where actor = 'service' and reason = 'autokill'"
      )
    )
    return {
      done:
        "Over the wire: connections dropped at the requests of a login and of sign-outs, processes killed in both, one frozen, the data centre away for ten minutes, waits, PostgreSQL away, keys unknown for a while, sessions revoked and banned, a key unknown for good, one used twice",
      // A login is told of in several events of one request.
      verdict: judge([], { ...kept, events: kept.events.map((event) => ({ ...event, request_id: null })) }),
      seen:
        `${people} accounts with ${centre.keys.size} keys, ${come} strangers; after each fault found or signed out: ${
          spread(times)
        }`,
      failed: unmet({
        [`everything came: ${wrong.join(", ")}`]: wrong.length === 0,
        "no key is used by two": [...centre.keys.values()].every(({ of }) => of["duplicated"] !== true),
        "no session is signed in anew": centre.keys.size === made,
        "every stranger is told of once": each("session.detected"),
        "every stranger is signed out once": each("session.autokilled"),
        "every termination is the service's, of a deadline": ended[0]?.count === come,
        "each session that the messenger ended is told of once": done("protection.stopped").length === 3,
        "the loss of the key that was used twice is told of once": done("monitoring.lost").filter(({ details }) =>
          details["error"] === "key_duplicated"
        ).length === 1
      })
    }
  } finally {
    await stage.remove()
    await outside.remove()
  }
}
