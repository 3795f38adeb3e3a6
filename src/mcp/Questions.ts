/**
 * What the earlier revisions ask a person: a request of the server's in the stream that answers a call, to which the
 * client answers by a request of its own.
 */
import { Deferred, Duration, Effect, Predicate } from "effect"
import * as PersonalInput from "./PersonalInput.ts"

/** The header by which a client of these revisions names its connection again. */
export const sessionHeader = "mcp-session-id"

/** The prefix of a connection's id whose client can be asked: the id says so itself, and no process keeps it. */
const asks = "asks_"

/** The id of a connection that a message opens, where its client can be asked. */
export const opened = (message: unknown, requestId: string): string | undefined =>
  Predicate.hasProperty(message, "method") && message.method === "initialize" &&
    Predicate.hasProperty(message, "params") && Predicate.hasProperty(message.params, "capabilities") &&
    PersonalInput.canAsk(message.params.capabilities)
    ? `${asks}${requestId}`
    : undefined

/** True if the request's client can be asked, and takes the question in a stream. */
export const areHeard = (headers: Readonly<Record<string, string | undefined>>): boolean =>
  headers[sessionHeader]?.startsWith(asks) === true && headers["accept"]?.includes("text/event-stream") === true

/** The time that a person is waited for: less than an answer may take. */
const questionTimeout = Duration.seconds(100)

/** Questions that a credential, and that all of them, may have open: each holds a connection. */
const perCredential = 4
const atMost = 256

/** The questions that this process has asked and that are not answered. */
export class Questions {
  readonly #open = new Map<string, { readonly credential: string; readonly answer: Deferred.Deferred<unknown> }>()

  /** True if the credential may have one more. */
  hasRoom(credential: string): boolean {
    const open = [...this.#open.values()]
    return open.length < atMost && open.filter((question) => question.credential === credential).length < perCredential
  }

  /** Opens a question for as long as the scope; its answer is none where the person does not answer in time. */
  open(credential: string, id: string) {
    const answer = Deferred.makeUnsafe<unknown>()
    return Effect.acquireRelease(
      Effect.sync(() => this.#open.set(id, { credential, answer })),
      () => Effect.sync(() => this.#open.delete(id))
    ).pipe(Effect.as(Effect.timeoutOption(Deferred.await(answer), questionTimeout)))
  }

  /** Takes a message that answers one of the credential's questions, and no other message. */
  take(credential: string, message: unknown): boolean {
    if (!Predicate.hasProperty(message, "id") || Predicate.hasProperty(message, "method")) return false
    const question = typeof message.id === "string" ? this.#open.get(message.id) : undefined
    if (question?.credential !== credential) return false
    const result = Predicate.hasProperty(message, "result") ? message.result : undefined
    Deferred.doneUnsafe(question.answer, Effect.succeed(result))
    return true
  }
}
