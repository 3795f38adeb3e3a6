/** The data centre of the measurement, in a process of its own, which its parent tells what happens. */
import { Long } from "@mtcute/core"
import { MessengerUserId } from "../../src/domain/messenger/Messenger.ts"
import * as DataCentre from "../../test/support/dataCentre/DataCentre.ts"
import { authorizationOf, configOf, userOf } from "../../test/support/dataCentre/Said.ts"
import type { Word } from "../../test/support/dataCentre/Words.ts"
import { own } from "../monitor/platform.ts"

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

const profile = {
  user_id: MessengerUserId.make("1"),
  first_name: "Ada",
  last_name: null,
  username: null,
  about: null,
  phone: "4915550000000",
  photo_id: null,
  premium: false
}

const stranger = { ...own, current: false, device_model: "Pixel 9", app_name: "App" }

const list = (key: DataCentre.Key): ReadonlyArray<Word> => [
  authorizationOf(own),
  ...(strangers.has(key.id)
    ? [{ ...authorizationOf({ ...stranger, created_at: new Date() }), hash: Long.fromString("77") }]
    : [])
]

const answers: Readonly<Record<string, (key: DataCentre.Key) => DataCentre.Answer>> = {
  "help.getConfig": () => configOf(1, [centre.port]),
  "updates.getState": () => ({ _: "updates.state", pts: 1, qts: 0, date: 1, seq: 0, unreadCount: 0 }),
  "account.getAuthorizations": (key) => ({
    _: "account.authorizations",
    authorizationTtlDays: 180,
    authorizations: list(key)
  }),
  "account.updateProfile": () => userOf(profile),
  "account.getPasskeys": () => ({ _: "account.passkeys", passkeys: [] }),
  "users.getFullUser": () => ({
    _: "users.userFull",
    fullUser: {
      _: "userFull",
      id: 1,
      settings: { _: "peerSettings" },
      notifySettings: { _: "peerNotifySettings" },
      commonChatsCount: 0
    },
    chats: [],
    users: [userOf(profile)]
  })
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
let before = 0
setInterval(() => {
  busiest = Math.max(busiest, centre.accepted() - before)
  before = centre.accepted()
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
      const update = { _: "updateNewAuthorization", unconfirmed: true, hash: Long.fromString("77"), date: 1 }
      centre.push(key, {
        _: "updateShort",
        update: { ...update, device: "", location: "" },
        date: Math.floor(Date.now() / 1000)
      })
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
