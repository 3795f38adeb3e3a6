/** What an operator asks, answered in the test's process. */
import { Effect } from "effect"
import { RpcTest } from "effect/rpc"
import { refusedInput } from "../../../src/cli/commands/InputChecks.ts"
import { CommandRequests, DatabaseRequests } from "../../../src/cli/process/Administration.ts"
import type { ControlRequest, Holder } from "../../../src/cli/process/ControlClient.ts"
import { commandHandlers, databaseHandlers } from "../../../src/cli/process/Handlers.ts"

type Requests = Omit<Holder, "release">

/** What is answered, or the line of the refusal. */
export const act = <A>(asked: ControlRequest<Requests, A>) =>
  RpcTest.makeClient(CommandRequests.merge(DatabaseRequests), { disableFatalDefects: true }).pipe(
    Effect.flatMap((requests) => refusedInput(asked(requests))),
    Effect.catchTag("Refused", ({ message }) => Effect.succeed(message)),
    Effect.catchTag("RpcClientError", Effect.die),
    Effect.scoped,
    Effect.provide([commandHandlers, databaseHandlers]),
    // Tests look at what they expect.
    Effect.map((answer): any => answer)
  )
