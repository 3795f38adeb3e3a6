/** People of the simulated platform who write to each other now and then, so that a demo's archive grows. */
import { Array, Context, Duration, Effect, Layer, Random } from "effect"
import { demoEvent } from "./DemoEvent.ts"
import { type ChatOf, type NewSimulatedChat, SimulatedChats } from "./SimulatedChats.ts"
import { type HeldAccount, SimulatedPlatform } from "./SimulatedPlatform.ts"

/** The number of messages that are written while a process runs, so that an archive that nobody reads stays small. */
const messagesAtMost = 2000

const firstPause = { from: Duration.seconds(3), to: Duration.seconds(10) }
const laterPause = { from: Duration.seconds(5), to: Duration.seconds(18) }

/** Lines of each conversation that are there when the others begin. */
const firstLines = 2

const colleague = { id: "7100001", name: "Noor Haddad", username: "noor_haddad" }
const customer = { id: "7100002", name: "Tomasz Wilk", username: null }
const planner = { id: "7100003", name: "Ines Duarte", username: "ines_duarte" }

interface Conversation {
  readonly chat: NewSimulatedChat
  /** Each in turn, and then from the beginning; null speaks for the account itself. */
  readonly lines: Array.NonEmptyReadonlyArray<
    readonly [speaker: typeof colleague | typeof customer | null, text: string]
  >
}

const member = (person: typeof colleague | typeof customer) => ({ ...person, role: "member" as const })

const conversations: Array.NonEmptyReadonlyArray<Conversation> = [
  {
    chat: { chatId: 7_100_001n, type: "private", shared: false, title: colleague.name, members: [member(colleague)] },
    lines: [
      [colleague, "Did the supplier answer about the delivery date?"],
      [null, "Not yet. I asked again this morning."],
      [colleague, "Thanks. The warehouse needs it by Thursday."],
      [null, "Then I will call them after lunch."],
      [colleague, "They confirmed: Friday, before noon."],
      [null, "Good enough. I tell the warehouse."]
    ]
  },
  {
    chat: { chatId: 7_100_002n, type: "private", shared: false, title: customer.name, members: [member(customer)] },
    lines: [
      [customer, "Hello, could you send the invoice for October once more?"],
      [null, "Of course, it is on its way to your accounting."],
      [customer, "Got it. Two items are listed twice, I think."],
      [null, "You are right. A corrected invoice follows today."],
      [customer, "Perfect, then we can pay this week."]
    ]
  },
  {
    chat: {
      chatId: -1_000_007_100_003n,
      type: "group",
      shared: true,
      title: "Office move",
      members: [member(planner), member(colleague)]
    },
    lines: [
      [planner, "The movers come on the 14th at eight."],
      [colleague, "Do we keep the old desks?"],
      [planner, "Only those on the second floor."],
      [colleague, "Who has the keys of the new building?"],
      [planner, "The reception, from Monday on."]
    ]
  }
]

const between = ({ from, to }: typeof firstPause) =>
  Effect.map(
    Random.nextBetween(Duration.toMillis(from), Duration.toMillis(to)),
    (millis) => Duration.millis(Math.round(millis))
  )

/** A small document, each with a content of its own. */
const note = (key: string, turn: number) => ({
  kind: "document" as const,
  files: [{
    messengerFile: `note ${key}/${turn}`,
    name: `Note ${turn + 1}.txt`,
    mimeType: "text/plain",
    content: Buffer.from(`Note ${turn + 1} of this conversation.\n`).toString("base64")
  }]
})

/** The conversations of a demo; they change only the simulated messenger. */
export class Conversations extends Context.Service<Conversations, {
  /** Somebody writes to one of the accounts, or one of the accounts answers; now and then a message is changed. */
  readonly write: Effect.Effect<void>
  /** They go on from now on, a bounded number of messages. */
  readonly goOn: Effect.Effect<void>
}>()("org-security-console/layers/messenger/simulated/Conversations") {
  static readonly layer = Layer.effect(
    Conversations,
    Effect.gen(function*() {
      const platform = yield* SimulatedPlatform
      const chats = yield* SimulatedChats
      const spoken = new Map<string, number>()

      const say = Effect.fnUntraced(function*({ phone, userId }: HeldAccount, { chat, lines }: Conversation) {
        const where: ChatOf = { userId, chatId: chat.chatId, shared: chat.shared }
        yield* chats.join(userId, chat)
        const key = `${userId}/${chat.chatId}`
        const turn = spoken.get(key) ?? 0
        spoken.set(key, turn + 1)
        const [speaker, text] = lines[turn % lines.length] ?? lines[0]
        const self = { id: userId, name: phone === null ? null : `+${phone}`, username: null }
        const id = yield* chats.send(where, { from: speaker ?? self, text })
        const chance = yield* Random.nextIntBetween(0, 12)
        if (chance === 0) yield* chats.edit(where, id, `${text} (edited)`)
        if (chance === 1) yield* chats.remove(where, [id])
        if (chance === 2) yield* chats.send(where, { from: speaker ?? self, text: null, ...note(key, turn) })
      })

      const write = Effect.gen(function*() {
        const connected = yield* platform.connected
        if (!Array.isReadonlyArrayNonEmpty(connected)) return
        yield* say(yield* Random.choice(connected), yield* Random.choice(conversations))
      })

      const begin = Effect.gen(function*() {
        for (const account of yield* platform.connected) {
          for (const conversation of conversations) {
            yield* Effect.repeat(say(account, conversation), { times: firstLines - 1 })
          }
        }
      })

      return Conversations.of({
        write,
        goOn: Effect.gen(function*() {
          yield* Effect.sleep(yield* between(firstPause))
          yield* Effect.annotateLogs(
            Effect.logInfo("People write to the accounts from now on, and the archive keeps it"),
            demoEvent,
            "conversation"
          )
          yield* Effect.catchCause(
            begin,
            (cause) => Effect.logWarning("The conversations of the demo could not begin", cause)
          )
          for (let count = 0; count < messagesAtMost; count++) {
            yield* Effect.catchCause(
              write,
              (cause) => Effect.logWarning("A message of the demo could not be written", cause)
            )
            yield* Effect.sleep(yield* between(laterPause))
          }
        })
      })
    })
  )

  /** They go on for as long as the layer lasts. */
  static readonly layerGoingOn = Layer.effectDiscard(
    Effect.flatMap(Conversations, ({ goOn }) => Effect.forkScoped(goOn))
  ).pipe(Layer.provideMerge(Conversations.layer))
}
