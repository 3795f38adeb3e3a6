/** The data centre of the measurement, in a process of its own, which its parent tells what happens. */
import * as DataCentre from "../../test/support/dataCentre/DataCentre.ts"
import { configOf } from "../../test/support/dataCentre/Said.ts"
import { fullUser, sessions, signIn, user } from "../support/heldAccount.ts"

/** What the parent says; `keys` are the secrets of all sessions. */
export type Command =
  | { readonly _: "keys"; readonly keys: ReadonlyArray<string> }
  | { readonly _: "cut" | "down" | "up" | "state" }
  | { readonly _: "signIn"; readonly places: ReadonlyArray<number> }

/** What it answers. */
export interface State {
  readonly port: number
  readonly publicKey: string
  /** Sessions that have asked anything since all connections were cut last. */
  readonly back: number
  /** Connections until now, and the most in one second. */
  readonly accepted: number
  readonly busiest: number
  /** Sessions with a connection, and those whose key two connections used in turn. */
  readonly open: number
  readonly duplicated: number
  /** Lists of sessions that were asked for until now. */
  readonly looks: number
}

const strangers = new Set<string>()
const places: Array<DataCentre.Key> = []
const back = new Set<string>()
let looks = 0

const answers: Readonly<Record<string, (key: DataCentre.Key) => DataCentre.Answer>> = {
  "help.getConfig": () => configOf(1, [centre.port]),
  "updates.getState": () => ({ _: "updates.state", pts: 1, qts: 0, date: 1, seq: 0, unreadCount: 0 }),
  "account.getAuthorizations": (key) => sessions(strangers.has(key.id)),
  "account.updateProfile": () => user,
  "account.getPasskeys": () => ({ _: "account.passkeys", passkeys: [] }),
  "users.getFullUser": () => fullUser
}

const centre = await DataCentre.start({
  answer: async (key, { _ }) => {
    back.add(key.id)
    if (_ === "account.getAuthorizations") looks++
    const answer = answers[_]?.(key)
    if (answer === undefined) throw new DataCentre.Refusal(400, `METHOD_INVALID ${_}`)
    return answer
  },
  gone: () => {}
})

let busiest = 0
let before = { accepted: 0, at: performance.now() }
setInterval(() => {
  const now = { accepted: centre.accepted(), at: performance.now() }
  // A busy process is late for it.
  busiest = Math.max(busiest, Math.round((now.accepted - before.accepted) / (now.at - before.at) * 1000))
  before = now
}, 1000).unref()

const does: { readonly [Kind in Command["_"]]: (order: Extract<Command, { readonly _: Kind }>) => unknown } = {
  keys: ({ keys }) => places.push(...keys.map((key) => centre.know(Buffer.from(key, "base64")))),
  cut: () => {
    centre.cut()
    back.clear()
    busiest = 0
  },
  down: () => {
    back.clear()
    busiest = 0
    return centre.down()
  },
  up: () => centre.up(),
  state: () => {},
  signIn: ({ places: order }) => {
    for (const place of order) {
      const key = places[place]!
      strangers.add(key.id)
      centre.push(key, signIn())
    }
  }
}

process.on("disconnect", () => process.exit(0))
process.on("message", async (order: Command) => {
  await does[order._](order as never)
  const { port, publicKey } = centre
  process.send!(
    {
      port,
      publicKey,
      back: back.size,
      accepted: centre.accepted(),
      busiest,
      open: centre.open(),
      duplicated: places.filter(({ of }) => of["duplicated"] === true).length,
      looks
    } satisfies State
  )
})
