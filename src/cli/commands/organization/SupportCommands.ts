/** The commands about requests to the support. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type * as Support from "../../../operator/organization/Support.ts"
import { common, organization, run } from "../DatabaseCommand.ts"
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

const list = Command.make("list", { ...common, organization }, (input) =>
  Effect.gen(function*() {
    const answer = yield* run(input, (requests) => requests.support_list({ organization: input.organization }))
    yield* Output.print(input.json, answer, () =>
      answer.requests.length === 0
        ? ["There is no request."]
        : answer.requests.flatMap((request) => [...lines(request), ""]))
  })).pipe(Command.withDescription("List the newest requests of an organization to the support"))

const answer = Command.make("answer", {
  ...common,
  organization,
  number,
  text: Flag.String("text").pipe(Flag.withDescription("The answer, which is kept and mailed to who asked"))
}, (input) =>
  Effect.gen(function*() {
    const request = yield* run(input, (requests) =>
      requests.support_answer({ organization: input.organization, number: input.number, answer: input.text }))
    yield* Output.print(input.json, request, () =>
      lines(request))
  })).pipe(
    Command.withDescription("Answer a request; another answer replaces it"),
    Command.withExamples([
      { command: "security-console support answer acme 12 --text \"Yes, from today on.\"", description: "Answer it" }
    ])
  )

const close = Command.make("close", { ...common, organization, number }, (input) =>
  Effect.gen(function*() {
    const request = yield* run(input, (requests) =>
      requests.support_close({ organization: input.organization, number: input.number }))
    yield* Output.print(input.json, request, () =>
      lines(request))
  })).pipe(Command.withDescription("Close a request"))

export const support = Command.make("support").pipe(Command.withSubcommands([list, answer, close]))
