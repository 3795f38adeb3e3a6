/** What the messenger is to several workers, in a process of its own: people, their chats, and who used which key. */
import { Context, Effect, Layer, Scope } from "effect"
import type { MessengerUserId, SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { SimulatedChats } from "../../src/layers/messenger/simulated/SimulatedChats.ts"
import { type Fault, Refusal } from "../../test/support/dataCentre/Faults.ts"
import { Loopback } from "../../test/support/dataCentre/index.ts"
import { late } from "../../test/support/dataCentre/late.ts"
import { makeTalk, type Written } from "./talk.ts"

const day = 86_400_000

/** A person that the service has a session of. */
export interface Person {
  readonly phone: string
  readonly user: MessengerUserId
  readonly ref: SessionRef
  /** The key of the session, in base64. */
  readonly secret: string
}

/** What happens outside, by what the parent says. */
export type Order =
  | { readonly _: "people"; readonly count: number }
  | { readonly _: "strangers"; readonly round: number }
  /** The first so many people get a message each. */
  | { readonly _: "write"; readonly people: number; readonly text: string }
  | { readonly _: "coverage"; readonly since: number; readonly lost: ReadonlyArray<string> }
  | { readonly _: "seen" }
  /** The people share a group. */
  | { readonly _: "teams" }
  | { readonly _: "talk"; readonly people: number; readonly deeds: number }
  /** The first people get a file each. */
  | { readonly _: "files"; readonly people: number }
  /** The first people get one more message in each chat. */
  | { readonly _: "close"; readonly people: number }
  | {
    readonly _: "trouble"
    readonly people: number
    readonly does: "away" | "away for minutes" | "dropped" | "files away" | "flood" | "forgotten" | "lost"
  }
  /** The next request of this name is not answered. */
  | { readonly _: "hold"; readonly request: string }
  | { readonly _: "written"; readonly user: MessengerUserId }
  | { readonly _: "asked" }

export interface Replies {
  readonly people: { readonly people: ReadonlyArray<Person>; readonly port: number; readonly publicKey: string }
  readonly strangers: null
  readonly write: null
  /** The longest time in ms that an account had no session, of sessions that were not lost at the beginning. */
  readonly coverage: number
  readonly seen: {
    /** Keys that two connections used in turn. */
    readonly duplicated: number
    /** The changes of profiles that have come, as often as they did. */
    readonly abouts: ReadonlyArray<string>
  }
  readonly teams: null
  readonly talk: null
  readonly files: null
  readonly close: null
  readonly trouble: null
  /** True once it was made; false where it was not for a minute. */
  readonly hold: boolean
  readonly written: ReadonlyArray<Written>
  /** The names of all requests that clients have made, with their numbers. */
  readonly asked: { readonly requests: Readonly<Record<string, number>> }
}

const grace = { id: "901", name: "Grace", username: "grace" }

const { behind, layer, millis } = late(2)
behind.millis = 5 * day
const context = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(Effect.provideContext(effect, context))
const { centre, centres, world } = Context.get(context, Loopback)
const chats = Context.get(context, SimulatedChats)

const talk = makeTalk(chats, run)
const people: Array<Person> = []
const requests: Record<string, number> = {}
centre.faults.push({
  which: (_, request) => {
    requests[request._] = (requests[request._] ?? 0) + 1
    return false
  },
  does: "stay silent",
  times: Infinity
})
const abouts: Array<string> = []
centre.faults.push({
  request: "account.updateProfile",
  which: (_, { about }) => {
    abouts.push(about)
    return false
  },
  does: "stay silent",
  times: Infinity
})

const chatOf = ({ user }: Person) => ({ userId: user, chatId: 7001n, shared: false })

const makePerson = async (place: number) => {
  const phone = `49155513${10_000 + place}`
  const user = await run(world.createAccount({ phone, first_name: `Person ${place}` }))
  await run(world.logIn(user, { device_model: "Phone", created_at: new Date(millis() - 30 * day) }))
  const ref = await run(world.connect(user, { created_at: new Date(millis()) }))
  const key = [...centre.keys.values()].find(({ of }) => of["ref"] === ref)!
  await run(
    chats.join(user, {
      chatId: 7001n,
      type: "private",
      shared: false,
      title: grace.name,
      members: [{ ...grace, role: "member" }]
    })
  )
  people.push({ phone, user, ref, secret: key.secret.toString("base64") })
}

/** The longest time within the last one that none of the spans covers. */
const longestGap = (spans: ReadonlyArray<readonly [number, number]>, since: number, now: number): number => {
  let [longest, covered] = [0, since]
  for (const [from, until] of spans.toSorted(([a], [b]) => a - b)) {
    longest = Math.max(longest, Math.min(from, now) - covered)
    covered = Math.max(covered, until)
  }
  return Math.max(longest, now - covered)
}

const users = (count: number) => people.slice(0, count).map(({ user }) => user)

const isAwayFor = async (milliseconds: number, away = centre) => {
  await away.down()
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  await away.up()
}

/** A request is waited for this long. */
const holdTime = 60_000

const hold = (request: string) =>
  new Promise<boolean>((resolve) => {
    const fault: Fault = {
      request,
      which: () => {
        resolve(true)
        return true
      },
      does: "stay silent",
      times: 1
    }
    for (const { faults } of centres) faults.push(fault)
    setTimeout(() => {
      for (const { faults } of centres) if (faults.includes(fault)) faults.splice(faults.indexOf(fault), 1)
      resolve(false)
    }, holdTime)
  })

const troubles = {
  away: () => isAwayFor(5000),
  /** It is longer than what its boxes remember. */
  "away for minutes": async (count: number) => {
    await isAwayFor(180_000)
    await talk.forget(users(count))
  },
  dropped: async () => {
    for (const request of ["messages.getHistory", "updates.getDifference", "updates.getChannelDifference"]) {
      centre.faults.push({ request, does: "drop after", times: 2 })
    }
  },
  /** The centre of every other file; the accounts' own goes on. */
  "files away": () => isAwayFor(15_000, centres[1]),
  flood: async () => {
    for (const request of ["messages.getHistory", "updates.getDifference", "messages.getDialogs"]) {
      centre.faults.push({ request, does: new Refusal(420, "FLOOD_WAIT_2"), times: 2 })
    }
  },
  forgotten: (count: number) => talk.forget(users(count)),
  lost: (count: number) => talk.losePushes(users(count), 10)
}

const does: { readonly [Kind in Order["_"]]: (order: Extract<Order, { readonly _: Kind }>) => Promise<Replies[Kind]> } =
  {
    people: async ({ count }) => {
      for (let place = 0; place < count; place++) await makePerson(place)
      behind.millis = 0
      return { people, port: centre.port, publicKey: centres.map(({ publicKey }) => publicKey).join("\n") }
    },
    strangers: async ({ round }) => {
      for (const { user } of people) await run(world.logIn(user, { device_model: `Stranger ${round}` }))
      return null
    },
    write: async ({ people: count, text }) => {
      for (const person of people.slice(0, count)) await run(chats.send(chatOf(person), { from: grace, text }))
      return null
    },
    coverage: async ({ lost, since }) => {
      const now = Date.now()
      const gone = new Set(lost)
      return Math.max(...people.map(({ ref }) => {
        const spans = centre.spans.filter(({ from, key, until }) =>
          key.of["ref"] === ref && until >= since && (from >= since || !gone.has(ref))
        )
        return longestGap(spans.map(({ from, until }) => [from, until] as const), since, now)
      }))
    },
    teams: async () => {
      for (const { user } of people) await talk.join(user)
      return null
    },
    talk: async ({ deeds, people: count }) => {
      await talk.talk(users(count), deeds)
      return null
    },
    files: async ({ people: count }) => {
      await talk.sendFiles(users(count))
      return null
    },
    close: async ({ people: count }) => {
      await talk.close(users(count))
      return null
    },
    trouble: async ({ does, people: count }) => {
      await troubles[does](count)
      return null
    },
    hold: ({ request }) => hold(request),
    written: async ({ user }) => talk.written(user),
    asked: async () => ({ requests }),
    seen: async () => ({
      duplicated: [...centre.keys.values()].filter(({ of }) => of["duplicated"] === true).length,
      abouts
    })
  }

process.on("disconnect", () => process.exit(0))
process.on("message", ({ id, order }: { readonly id: number; readonly order: Order }) => {
  void does[order._](order as never).then((reply) => process.send!({ id, reply }))
})
