/** What the messenger is to several workers, in a process of its own: people, their chats, and who used which key. */
import { Context, Effect, Layer, Scope } from "effect"
import type { MessengerUserId, SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { SimulatedChats } from "../../src/layers/messenger/simulated/SimulatedChats.ts"
import { Loopback } from "../../test/support/dataCentre/index.ts"
import { late } from "../../test/support/dataCentre/late.ts"

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
}

const grace = { id: "901", name: "Grace", username: "grace" }

const { behind, layer, millis } = late()
behind.millis = 5 * day
const context = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(Effect.provideContext(effect, context))
const { centre, world } = Context.get(context, Loopback)
const chats = Context.get(context, SimulatedChats)

const people: Array<Person> = []
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

const does: { readonly [Kind in Order["_"]]: (order: Extract<Order, { readonly _: Kind }>) => Promise<Replies[Kind]> } =
  {
    people: async ({ count }) => {
      for (let place = 0; place < count; place++) await makePerson(place)
      behind.millis = 0
      return { people, port: centre.port, publicKey: centre.publicKey }
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
    seen: async () => ({
      duplicated: [...centre.keys.values()].filter(({ of }) => of["duplicated"] === true).length,
      abouts
    })
  }

process.on("disconnect", () => process.exit(0))
process.on("message", ({ id, order }: { readonly id: number; readonly order: Order }) => {
  void does[order._](order as never).then((reply) => process.send!({ id, reply }))
})
