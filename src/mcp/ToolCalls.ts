/** The calls of tools: what was decided about them, and how they run. */
import { Effect, type Result } from "effect"
import type { EncodedAnswer } from "../kernel/Encoding.ts"
import type * as Operation from "../kernel/Operation.ts"
import type { AdmissionFailure } from "../kernel/Refusals.ts"
import type { RateState } from "../ports/RateLimits.ts"
import { codes, recover } from "../transport/Answer.ts"
import * as RequestLog from "../transport/RequestLog.ts"
import type { Site } from "../transport/Site.ts"
import * as AnswerText from "./AnswerText.ts"
import * as Arguments from "./Arguments.ts"
import * as Contents from "./Contents.ts"
import * as DirectCalls from "./DirectCalls.ts"
import type * as Messages from "./Messages.ts"
import * as Pages from "./Pages.ts"
import * as PersonalInput from "./PersonalInput.ts"
import * as ToolSelection from "./ToolSelection.ts"

export type Admission = Result.Result<RateState, AdmissionFailure>

type AdmittedMessage = Messages.PendingMessage & { readonly admission: Admission }

/** The decisions about a request's messages before they are answered. */
export class Admissions {
  readonly #calls: Array<AdmittedMessage> = []

  keep(message: Messages.PendingMessage, admission: Admission): void {
    this.#calls.push({ ...message, admission })
  }

  /** The call with what was decided about it, logged once. */
  take(id: unknown, tool: string): AdmittedMessage | undefined {
    const at = this.#calls.findIndex((call) => call.id === id && call.tool === tool)
    return at === -1 ? undefined : this.#calls.splice(at, 1)[0]
  }
}

const endpoints = new Map<string, RequestLog.Endpoint>()

/** The tool as an endpoint of its own. */
const endpointOf = ({ id }: Operation.Any): RequestLog.Endpoint => {
  const endpoint = endpoints.get(id) ?? new RequestLog.Endpoint("mcp", ToolSelection.path, id)
  endpoints.set(id, endpoint)
  return endpoint
}

/** The status that the answer would have over HTTP. */
const statusOf = (code: string | undefined): number => code === undefined ? 200 : codes.get(code) ?? 500

/** Runs a tool; whatever fails is a result with the body that the failure has over HTTP. */
export const call = Effect.fnUntraced(
  function*(
    operation: Operation.Any,
    input: unknown,
    admission: Admission | undefined,
    _console: Site | undefined,
    unasked: string | undefined
  ) {
    yield* admission === undefined ? operation.admit : Effect.fromResult(admission)
    if (unasked !== undefined) return yield* PersonalInput.refusal(unasked)
    const prepared = Arguments.prepare(operation, input)
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
    const written: EncodedAnswer = yield* operation.respond(prepared)
    const { content } = written
    const resource = content === undefined ? undefined : yield* Contents.embedInTurn(operation, prepared, content)
    const result: DirectCalls.ToolAnswer = {
      text: AnswerText.render(operation, written),
      structured: written.text,
      resource
    }
    return result
  },
  // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
  (called, operation, input, _admission, console, _unasked) =>
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
    recover((failure) => Effect.succeed(DirectCalls.failed(Pages.leading(failure, operation, input, console))))(called),
  // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
  (called, operation) => RequestLog.recordedWithin(endpointOf(operation), statusOf, called)
)
