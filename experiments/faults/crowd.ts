/** Several processes that serve and watch, their ways to the database, and the messenger in a process of its own. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { storeKeys } from "../../bench/support/heldSessions.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { slotOf } from "../../src/domain/accounts/Slot.ts"
import type { Service } from "../../test/support/cli/commandProcess.ts"
import * as Command from "../../test/support/cli/commandProcess.ts"
import { freePorts } from "../../test/support/cli/freePorts.ts"
import { openWay, type SilentWay } from "../../test/support/postgres/silentWay.ts"
import { slotsOf } from "../../test/support/postgres/slotsOf.ts"
import type { Order, Person, Replies } from "./outside.ts"
import { onPostgres, type PostgresStage } from "./stage.ts"

/** A process, which may be dead at the moment. */
export interface Member {
  service: Service | undefined
  readonly way: SilentWay
  /** The port at which the others reach it. */
  readonly port: number
}

/** The messenger's process. */
export const startOutside = () => {
  const child = childProcess.fork(path.join(import.meta.dirname, "outside.ts"), { stdio: "inherit" })
  const waiting = new Map<number, (reply: never) => void>()
  let last = 0
  child.on("message", ({ id, reply }: { readonly id: number; readonly reply: never }) => {
    waiting.get(id)?.(reply)
    waiting.delete(id)
  })
  return {
    tell: <Kind extends Order["_"]>(order: Extract<Order, { readonly _: Kind }>) =>
      new Promise<Replies[Kind]>((resolve) => {
        waiting.set(++last, resolve)
        child.send({ id: last, order })
      }),
    stop: () => child.kill()
  }
}

export type Outside = ReturnType<typeof startOutside>

/** The accounts of people, with sessions whose keys the database holds. */
const connected = `
  with person as (
    select account.id, account.organization_id, held.user_id, held.ref, now() - interval '5 days' as since
    from unnest($1::text[], $2::text[], $3::text[]) as held (phone, user_id, ref)
    join account on phone_number = '+' || held.phone
  ), watched as (
    update account set messenger_user_id = user_id, session_ref = ref, monitoring_state = 'active',
      connected_at = since, enrolled_at = since, enforcement_active_at = since + interval '1 day', baselined = false
    from person where account.id = person.id
  ), claimed as (
    insert into messenger_identity (messenger_user_id, organization_id, account_id)
    select user_id, organization_id, id from person
  ), held as (
    insert into service_session (organization_id, account_id, slot, session_ref, created_at)
    select organization_id, id, 'main', ref, since from person
  )
  update monitor set started_at = since, next_at = now() from person
  where (monitor.organization_id, monitor.account_id) = (person.organization_id, person.id)
  returning person.id::text as id, ref`

export interface Crowd {
  readonly stage: PostgresStage
  readonly outside: Outside
  readonly people: ReadonlyArray<Person>
  /** The accounts of the people, by the references of their sessions. */
  readonly accounts: ReadonlyMap<string, string>
  readonly members: Array<Member>
  readonly start: (member: Member) => Promise<void>
  /** Makes a member and starts it. */
  readonly add: () => Promise<Member>
  /** The member is gone for good: another one may have its port. */
  readonly giveBack: (member: Member) => void
  /** The sessions of the accounts that the member has. */
  readonly sessionsOf: (member: Member) => Promise<ReadonlyArray<string>>
  readonly remove: () => Promise<void>
}

/** The archive password of the organization. */
export const archivePassword = "harbour lantern archive"

/** Starts `size` processes over an organization of `count` people; `room` more can be added. They are served so. */
export const gather = async (
  count: number,
  size: number,
  room: number,
  serving: ReadonlyArray<string> = []
): Promise<Crowd> => {
  const outside = startOutside()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faults-cluster-"))
  const { people, port, publicKey } = await outside.tell({ _: "people", count })
  const keys = path.join(folder, "data-centre.pem")
  fs.writeFileSync(keys, publicKey)
  const stage = await onPostgres(1, undefined, {
    live: 0,
    phones: people.map(({ phone }) => `+${phone}`),
    serving: [
      serving,
      ["--messenger", "wire"],
      ["--messenger-application", "1"],
      ["--messenger-data-centre", `1@127.0.0.1:${port}`],
      ["--messenger-keys", keys]
    ].flat(),
    env: { CONSOLE_MESSENGER_HASH: "0".repeat(32) }
  })
  const { CONSOLE_DATABASE_URL: url = "", CONSOLE_PEPPERS: pepper = "" } = stage.env
  await Command.done(["archive", "key", "set", stage.organization], {
    env: stage.env,
    stdin: `${archivePassword}\n`
  })
  await storeKeys(url, pepper, people.map(({ ref, secret }) => ({ ref, secret: Buffer.from(secret, "base64") })))
  const rows = await stage.within((query) =>
    query<{ id: string; ref: string }>(connected, [
      people.map(({ phone }) => phone),
      people.map(({ user }) => user),
      people.map(({ ref }) => ref)
    ])
  )
  const accounts = new Map(rows.map(({ id, ref }) => [ref, id]))
  const ports = [...await freePorts(size + room)]
  const preloads = ["steppedClock.ts", `unheard.ts?ports=${ports.join(",")}`].flatMap((file) => [
    "--import",
    new URL(file, import.meta.url).href
  ])
  const members: Array<Member> = []
  const start: Crowd["start"] = async (member) => {
    const args = ["--cluster-address", `127.0.0.1:${member.port}`]
    member.service = await stage.serve(args, preloads, { CONSOLE_DATABASE_URL: member.way.url })
  }
  const add: Crowd["add"] = async () => {
    const member: Member = { service: undefined, way: await openWay(url), port: ports.shift() ?? 0 }
    members.push(member)
    await start(member)
    return member
  }
  for (let place = 0; place < size; place++) await add()
  return {
    stage,
    outside,
    people,
    accounts,
    members,
    start,
    add,
    giveBack: ({ port, way }) => {
      way.close()
      ports.push(port)
    },
    sessionsOf: async ({ port }) => {
      const slots = await stage.within((query) => slotsOf(query, port))
      return [...accounts].filter(([, id]) => slots.has(slotOf(AccountId.make(id)))).map(([ref]) => ref)
    },
    remove: async () => {
      for (const { service, way } of members) {
        await service?.stop("SIGKILL")
        way.close()
      }
      outside.stop()
      await stage.remove()
      fs.rmSync(folder, { recursive: true })
    }
  }
}
