/** A call of an earlier revision for which a person is asked: its answer is a stream, of the question and the result. */
import { Effect, Option, Result, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "../domain/people/Access.ts"
import type * as Operation from "../kernel/Operation.ts"
import type { Operations } from "../operations/index.ts"
import { RequestId } from "../transport/TransportSettings.ts"
import * as Arguments from "./Arguments.ts"
import * as DirectCalls from "./DirectCalls.ts"
import type { ToolView } from "./Exchange.ts"
import * as Messages from "./Messages.ts"
import * as PersonalInput from "./PersonalInput.ts"
import * as Questions from "./Questions.ts"
import { type Admissions, call } from "./ToolCalls.ts"
import type * as Tools from "./Tools.ts"
import * as ToolSelection from "./ToolSelection.ts"

type Answering = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Operation.Services<Operations>>

const encoder = new TextEncoder()

const event = (message: string): Uint8Array => encoder.encode(`event: message\ndata: ${message}\n\n`)

/** Answers a request that is one call whose client can be asked, and has not said what is asked for; undefined for any other. */
export const answering = (
  request: HttpServerRequest.HttpServerRequest,
  body: unknown,
  tools: Tools.Tools,
  caller: Caller["Service"],
  admissions: Admissions,
  questions: Questions.Questions,
  { console, personalArguments, selection }: ToolView
): Answering | undefined => {
  const [message] = Array.isArray(body) ? [] : Messages.askingIn(body)
  const operation = tools.find(message?.tool)
  if (
    message === undefined || !DirectCalls.isId(message.id) || operation?.personal === undefined ||
    !Questions.areHeard(request.headers) || ToolSelection.refusal(selection, operation) !== undefined ||
    PersonalInput.says(message.input, operation.personal)
  ) return undefined
  const { id, meta } = message
  const { personal: member } = operation
  const admitted = admissions.take(id, operation.id)
  if (admitted === undefined) return undefined
  const said = message.input ?? {}
  const run = (
    responses: Readonly<Record<string, unknown>> | undefined
  ): Effect.Effect<DirectCalls.ToolAnswer, never, Operation.Services<Operations>> => {
    const { input, unasked } = PersonalInput.given(operation, said, responses, personalArguments)
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
    return call(operation, input, admitted.admission, console, unasked).pipe(
      Effect.provideService(Caller, Arguments.carrying(caller, meta, request.headers))
    )
  }
  const credential = caller.credential.id
  return Effect.gen(function*() {
    const context = yield* Effect.context<Operation.Services<Operations>>()
    const requestId = yield* RequestId
    const { unasked } = PersonalInput.given(operation, said, undefined, personalArguments)
    const mayAsk = Result.isSuccess(admitted.admission) && questions.hasRoom(credential)
    if (unasked === undefined || !mayAsk) {
      const called = yield* run(undefined)
      if (!mayAsk || PersonalInput.lacking(operation, called.about) === undefined) {
        return HttpServerResponse.text(DirectCalls.message(id, called), { contentType: "application/json" })
      }
    }
    const question = { jsonrpc: "2.0", id: `ask_${requestId}`, method: "elicitation/create" }
    const conversation = Effect.gen(function*() {
      const answer = yield* questions.open(credential, question.id)
      const asked = event(JSON.stringify({ ...question, params: PersonalInput.form(operation, member) }))
      const result = Effect.flatMap(answer, (answered) => run({ [member]: Option.getOrUndefined(answered) }))
      return Stream.concat(
        Stream.succeed(asked),
        Stream.fromEffect(Effect.map(result, (called) => event(DirectCalls.message(id, called))))
      )
    })
    const stream = Stream.provideContext(Stream.unwrap(conversation), context)
    return HttpServerResponse.stream(stream, { contentType: "text/event-stream" })
  })
}
