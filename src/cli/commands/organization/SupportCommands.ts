/** The commands about requests to the support. */
import { Argument, Command } from "effect/cli"
import type * as Support from "../../../operator/organization/Support.ts"
import { asking, flag, organization, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

type Request = typeof Support.closeSupport.output.Type

const number = Argument.Int("number").pipe(Argument.withDescription("The request's number"))

const lines = (request: Request): ReadonlyArray<string> =>
  Output.columns([
    ["Number", String(request.number)],
    ["State", request.state],
    ["Category", request.category],
    ["Subject", request.subject],
    ["Message", request.message],
    ["Account", request.account_id ?? "none"],
    ["Request-Id", request.related_request_id ?? "none"],
    ["Asked", request.created_at.toISOString()],
    ["Answer", request.answer ?? "none"]
  ])

const list = Command.make(
  "list",
  asking({ organization }),
  sending((requests, asked) => requests.support_list(asked), ({ requests }) =>
    requests.length === 0
      ? ["There is no request."]
      : requests.flatMap((request) => [...lines(request), ""]))
).pipe(Command.withDescription("List the newest requests of an organization to the support"))

const answer = Command.make(
  "answer",
  asking({ organization, number, answer: flag("text", "The answer, which is kept and mailed to who asked") }),
  sending((requests, asked) => requests.support_answer(asked), lines)
).pipe(
  Command.withDescription("Answer a request; another answer replaces it"),
  Output.examples(["support answer acme 12 --text \"Yes, from today on.\"", "Answer it"])
)

const close = Command.make(
  "close",
  asking({ organization, number }),
  sending((requests, asked) => requests.support_close(asked), lines)
).pipe(Command.withDescription("Close a request"))

export const support = Command.make("support").pipe(Command.withSubcommands([list, answer, close]))
