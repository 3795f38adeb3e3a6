/** How many answers of the database the service waits for. */
import { Effect } from "effect"
import { vi } from "vitest"
import { WireSession } from "../../../src/layers/postgres/protocol/ServerSession.ts"
import { oneLine } from "./statements.ts"

/** The beginning of the entrance, by which every request finds out who asks. */
const entrance = "with me as ("

/**
 * Runs the effect, and answers the messages to the database besides whose answers it waited for, the entrances left
 * out: each as the statements that travelled in it. What is asked for while another answer is on its way waits no
 * longer.
 */
export const awaiting = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<ReadonlyArray<string>> = []
  const { run, runAll } = WireSession.prototype
  const note = ({ outstanding }: WireSession, statements: ReadonlyArray<{ readonly text: string }>) => {
    const texts = statements.map(({ text }) => oneLine(text))
    if (outstanding === 0 && !texts.some((text) => text.startsWith(entrance))) messages.push(texts)
  }
  const spies = [
    vi.spyOn(WireSession.prototype, "run").mockImplementation(function(this: WireSession, statements, ...rest) {
      note(this, statements)
      return run.call(this, statements, ...rest)
    }),
    vi.spyOn(WireSession.prototype, "runAll").mockImplementation(function(this: WireSession, statements, ...rest) {
      note(this, statements)
      return runAll.call(this, statements, ...rest)
    })
  ]
  const restore = Effect.sync(() => {
    for (const spy of spies) spy.mockRestore()
  })
  const answer = yield* Effect.ensuring(effect, restore)
  return { answer, messages }
})
