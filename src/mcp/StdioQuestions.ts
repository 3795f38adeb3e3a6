/**
 * Questions to the person over standard input and output, for clients of the earlier revisions: the call is made in the
 * newest revision, which answers what is to be asked, and again with what the client was answered.
 */
import { Deferred, Effect, Predicate } from "effect"
import * as PersonalInput from "./PersonalInput.ts"

type Message = Readonly<Record<string, unknown>>

const newest = "2026-07-28"

const member = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined

const objectIn = (value: unknown, name: string): Message => {
  const found = member(value, name)
  return Predicate.isObject(found) ? { ...found } : {}
}

/** The call as one of the newest revision, whose client can ask a person. */
const lifted = (message: Message, inputResponses: Message | undefined): Message => {
  const params = objectIn(message, "params")
  const named = { [PersonalInput.revision]: newest, [PersonalInput.capabilities]: { elicitation: { form: {} } } }
  return {
    ...message,
    params: {
      ...params,
      _meta: { ...objectIn(params, "_meta"), ...named },
      ...(inputResponses === undefined ? {} : { inputResponses })
    }
  }
}

/** The answer as one of the earlier revisions. */
const lowered = (answer: unknown): unknown => {
  if (!Predicate.hasProperty(answer, "result")) return answer
  const members = Object.entries(objectIn(answer, "result")).filter(([name]) => name !== "resultType")
  return { ...answer, result: Object.fromEntries(members) }
}

export class StdioQuestions {
  #isAsking = false
  #count = 0
  readonly #open = new Map<string, Deferred.Deferred<unknown>>()

  /** Learns from the message that opens the connection whether its client can be asked. */
  opened(message: unknown): void {
    if (member(message, "method") !== "initialize") return
    this.#isAsking = PersonalInput.canAsk(member(member(message, "params"), "capabilities"))
  }

  /** True if the message is a call for which the person may be asked. */
  isFor(message: unknown): message is Message {
    const meta = member(member(message, "params"), "_meta")
    return this.#isAsking && member(message, "method") === "tools/call" &&
      member(meta, PersonalInput.revision) === undefined
  }

  /** Takes a message that answers a question. */
  take(message: unknown): boolean {
    const id = member(message, "id")
    const question = Predicate.hasProperty(message, "method") || typeof id !== "string" ? undefined : this.#open.get(id)
    if (question === undefined) return false
    Deferred.doneUnsafe(question, Effect.succeed(member(message, "result")))
    return true
  }

  /** Asks the client one thing, and waits for its answer. */
  #ask(request: unknown, write: (message: unknown) => Effect.Effect<unknown>): Effect.Effect<unknown> {
    const id = `ask_${this.#count += 1}`
    const answer = Deferred.makeUnsafe<unknown>()
    this.#open.set(id, answer)
    return write({ jsonrpc: "2.0", id, method: member(request, "method"), params: member(request, "params") }).pipe(
      Effect.andThen(Deferred.await(answer)),
      Effect.ensuring(Effect.sync(() => this.#open.delete(id)))
    )
  }

  /** Makes a call, and again with the person's answers while it answers what is to be asked. */
  readonly converse = <E, R>(
    message: Message,
    call: (message: Message) => Effect.Effect<ReadonlyArray<unknown>, E, R>,
    write: (message: unknown) => Effect.Effect<unknown>
  ): Effect.Effect<ReadonlyArray<unknown>, E, R> => {
    const once = (inputResponses: Message | undefined): Effect.Effect<ReadonlyArray<unknown>, E, R> =>
      Effect.flatMap(call(lifted(message, inputResponses)), (answers) => {
        const [answer] = answers
        const requests = member(member(answer, "result"), "inputRequests")
        if (!Predicate.isObject(requests)) return Effect.succeed(answers.map(lowered))
        return Effect.forEach(
          Object.entries(requests),
          ([name, request]) =>
            Effect.map(this.#ask(request, write), (answered) => [name, answered ?? { action: "cancel" }] as const)
        ).pipe(
          Effect.flatMap((entries) => once(Object.fromEntries(entries)))
        )
      })
    return once(undefined)
  }
}
