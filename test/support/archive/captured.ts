/** Accounts whose chats are captured in tests, with the people who write in them. */
import { Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { Capture } from "../../../src/capture/Capture.ts"
import { SimulatedChats } from "../../../src/layers/messenger/simulated/SimulatedChats.ts"
import * as Worker from "../../../src/layers/Worker.ts"
import * as World from "../world.ts"
import { setArchiveKey } from "./archiveKeys.ts"
import { passwordHeader } from "./archivePassword.ts"
import { beginning } from "./archives.ts"

export const grace = { id: "901", name: "Grace Hopper", username: "grace" }

/** The people on the simulated platform. */
const people = Effect.map(Effect.serviceOption(SimulatedChats), Option.getOrThrow)

/** A live account in an organization with an archive password. */
export const stageCapture = Effect.fnUntraced(function*() {
  yield* TestClock.setTime(beginning)
  const organization = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(organization.id)
  const account = yield* World.makeLiveAccount(organization.id, {}, { facts: { baselined: true } })
  return { ...organization, account }
})
type Staged = Effect.Success<ReturnType<typeof stageCapture>>

/** A chat between the account and Grace, with messages that she wrote a minute apart, the last one a minute ago. */
export const converse = Effect.fnUntraced(function*(
  { account }: Pick<Staged, "account">,
  count: number,
  { chatId = 7001n, shared = false }: { readonly chatId?: bigint; readonly shared?: boolean } = {}
) {
  const chats = yield* people
  const where = { userId: account.userId, chatId, shared }
  const type = shared ? "group" as const : "private" as const
  yield* chats.join(account.userId, {
    chatId,
    type,
    shared,
    title: shared ? "Team" : grace.name,
    members: [{ ...grace, role: "member" }]
  })
  for (let n = 1; n <= count; n++) {
    yield* chats.send(where, { from: grace, text: `word ${n}`, at: new Date(beginning - (count - n + 1) * 60_000) })
  }
  return { chats, where }
})

/** Lets the Clock go on, and what waits for the database with it. */
export const passes = Effect.fnUntraced(function*(duration: Duration.Input) {
  const steps = Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(duration)) / 100)
  for (let step = 0; step < steps; step++) {
    yield* TestClock.adjust("100 millis")
    yield* TestClock.withLive(Effect.sleep("5 millis"))
  }
})

const unpaced = { rate: 1_000_000, burst: 1_000_000 }

/** A watch whose runs need not wait between their calls. */
export const watch = Worker.layer({ archivePace: unpaced, mediaPace: unpaced })

/** Runs everything that is due; what waits for looks of the watch has the Clock go on after ten seconds. */
export const runs = Effect.raceFirst(
  Effect.flatMap(Capture, ({ tick }) => tick),
  Effect.andThen(TestClock.withLive(Effect.sleep("10 seconds")), Effect.forever(passes("100 millis")))
)

/** The same while the Clock goes on, as after a long time, when looks are due as well. */
export const runsInTime = Effect.gen(function*() {
  const running = yield* Effect.forkChild(runs)
  do yield* passes("100 millis")
  while (running.pollUnsafe() === undefined)
  return yield* Fiber.join(running)
})

/** What the archive answers of the chat, oldest first. */
export const archived = Effect.fnUntraced(function*({ account, admins }: Staged, chatId: bigint) {
  const path = `/v1/archive/accounts/${account.id}/chats/${chatId}/messages?limit=100`
  const messages: Array<{ id: string; text: string | null; edits: number; deleted_at: string | null }> = []
  let next: string | null = null
  do {
    const { body, status }: World.Answer = yield* World.send(
      "GET",
      next === null ? path : `${path}&before_id=${next}`,
      {
        key: admins.owner.key,
        headers: passwordHeader()
      }
    )
    if (status !== 200) return yield* Effect.die(new Error(JSON.stringify(body)))
    messages.push(...body.data)
    next = body.next_id
  } while (next !== null)
  return messages.toReversed()
})

/** What the account sees of the chat, oldest first. */
export const visible = Effect.fnUntraced(function*({ account }: Staged, chatId: bigint) {
  const chats = yield* people
  const all = yield* chats.visible(account.userId)
  return all.filter((message) => message.chatId === chatId).map(({ record }) => ({
    id: String(record.id),
    text: record.text
  }))
})
