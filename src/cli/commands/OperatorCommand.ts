/** The shared parts of the commands that work on a database: each sends one request. */
import { Effect, Option, Redacted, Stdio, Stream } from "effect"
import { Argument, type Command, Flag, Prompt } from "effect/cli"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import type { Refused } from "../../operator/UseCase.ts"
import type { CommandClient, ControlRequest } from "../process/ControlClient.ts"
import type { CommandEffect } from "../process/LocalRequests.ts"
import * as Settings from "../settings/Settings.ts"
import * as Output from "./Output.ts"

/** Sends a request to where the database is; both sides are loaded when they are needed. */
export const run = Effect.fnUntraced(function*<A>(
  settings: Settings.Database,
  asked: ControlRequest<CommandClient, A>,
  doing: CommandEffect = {}
) {
  const { invoke } = yield* Effect.promise(() => import("../process/ControlClient.ts"))
  const here = Effect.flatMap(
    Effect.promise(() => import("../process/LocalRequests.ts")),
    ({ commands }) => commands(settings, doing)
  )
  return yield* invoke(settings, asked, here)
})

/** The settings of every command that works on a database. */
export const common = { ...Settings.database, json: Output.json }

/** The settings of a command with the members of its request, by their names in it. */
export const asking = <const Members extends Command.Command.Config>(asked: Members) => ({ ...common, asked })

/** The input of a command that sends a request. */
export interface Input<Request> extends Settings.Database {
  readonly json: boolean
  readonly asked: Request
}

/** Sends the request of a command, and prints the answer: as JSON, or in lines. */
export const sending = <Request, A>(
  send: (requests: CommandClient, asked: Request) => Effect.Effect<A, Refused | RpcClientError>,
  lines: (answer: A, asked: Request, input: Settings.Database) => ReadonlyArray<string>,
  doing: CommandEffect = {}
) =>
(input: Input<Request>) =>
  Effect.tap(
    run(input, (requests) => send(requests, input.asked), doing),
    (answer) => Output.print(input.json, answer, () => lines(answer, input.asked, input))
  )

/** The first line of standard input: secrets are never an argument, which others on the machine see. */
export const firstLine = Effect.gen(function*() {
  const text = yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
  return Redacted.make(text.split(/\r?\n/, 1)[0] ?? "")
})

/** A password: from the prompt on a terminal, else from standard input. */
export const passwordInput = Effect.fnUntraced(function*(message: string) {
  return process.stdin.isTTY ? yield* Prompt.run(Prompt.Password({ message })) : yield* firstLine
})

/** A flag that may be left out: null in the request. */
export const orNull = <A>(flag: Flag.Flag<A>): Flag.Flag<A | null> => Flag.map(Flag.optional(flag), Option.getOrNull)

export const flag = (name: string, description: string) => Flag.withDescription(Flag.String(name), description)

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

/** The arguments that name an organization and one of its admins. */
export const organization = argument("organization", "The organization's id")
export const email = argument("email", "The admin's address")
