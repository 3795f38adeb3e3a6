/** The way of commands to the database: through the process that holds it, or by opening it where none does. */
import * as NodeSocket from "@effect/platform-node-shared/NodeSocket"
import { Duration, Effect, Exit, Fiber, Layer, Option, Predicate, Schema, type Scope } from "effect"
import * as RpcClient from "effect/rpc/RpcClient"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as fs from "node:fs"
import * as path from "node:path"
import { Refused } from "../../operator/UseCase.ts"
import { refusedInput } from "../commands/InputChecks.ts"
import type * as Settings from "../settings/Settings.ts"
import { type CommandRequests, SocketRequests } from "./Administration.ts"

const socketName = "console.sock"

export const socketPath = (directory: string): string => path.join(path.resolve(directory), socketName)

/** A socket's address may not be longer than this on every system that has them. */
export const maxSocketPath = 100

/** The length of one message at most; a seed is the longest. */
const maxMessage = 256 * 1024 * 1024

export const serialization = RpcSerialization.layerNdjsonWith({ maxBufferSize: maxMessage })

/** All requests to the holder of a directory. */
export type Holder = RpcClient.FromGroup<typeof SocketRequests, RpcClientError>

/** The requests that commands send. */
export type CommandClient = RpcClient.FromGroup<typeof CommandRequests, RpcClientError>

/** The connection to the holder of the directory broke before its answer. */
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { message: Schema.String }) {}

/** True if no process listens there. */
const isNobody = ({ reason }: RpcClientError): boolean =>
  reason._tag === "SocketOpenError" && Predicate.hasProperty(reason.cause, "code") &&
  (reason.cause.code === "ECONNREFUSED" || reason.cause.code === "ENOENT")

/** A local socket breaks when its other end is gone, so that no keep-alive is needed. */
const connection = (file: string) =>
  RpcClient.layerProtocolSocket({ pingInterval: Duration.infinity }).pipe(
    Layer.provide([Layer.orDie(NodeSocket.layerNet({ path: file })), serialization])
  )

/** Requests, which answer or are refused. */
export type ControlRequest<Requests, A> = (requests: Requests) => Effect.Effect<A, Refused | RpcClientError>

/** A holder that ends interrupts the request that it handles, which does not interrupt the client. */
const untilEnd = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    const exit = yield* Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber))
    return yield* Exit.hasInterrupts(exit)
      ? new Unanswered({ message: "The running service ended before it answered." })
      : exit
  })

/** Asks the holder of the directory; none where there is none. */
const ask = <A>(directory: string, asked: ControlRequest<Holder, A>) =>
  Effect.gen(function*() {
    const file = socketPath(directory)
    if (!fs.existsSync(file)) return Option.none<A>()
    return yield* Effect.flatMap(RpcClient.make(SocketRequests, { disableTracing: true }), asked).pipe(
      Effect.scoped,
      untilEnd,
      Effect.provide(connection(file)),
      Effect.map(Option.some),
      Effect.catchTag(
        "RpcClientError",
        (error) =>
          isNobody(error)
            ? Effect.succeedNone
            : new Unanswered({ message: `The running service did not answer: ${error.reason.message}` })
      )
    )
  })

/** Asks the holder of the directory to release it: whether it will, none if there is no answer. */
export const askRelease = (directory: string): Effect.Effect<Option.Option<boolean>> =>
  ask(directory, (holder) => holder.release()).pipe(
    // A holder that ends breaks its connections; one that breaks while it is written to is a defect of the library's.
    Effect.catch(() => Effect.succeedNone),
    Effect.catchDefect(() => Effect.succeedNone),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeedNone })
  )

/**
 * Asks where the database is: on PostgreSQL this process itself, on the embedded one the process that holds the
 * directory, or this process where nobody does.
 */
export const invoke = Effect.fnUntraced(function*<Name extends keyof Holder, A, E, R>(
  settings: Settings.Database,
  asked: ControlRequest<Pick<Holder, Name>, A>,
  here: Effect.Effect<Pick<Holder, Name>, E, R | Scope.Scope>
) {
  const there = Option.isSome(settings.databaseUrl)
    ? Option.none()
    : yield* Effect.catchTag(
      refusedInput(ask(settings.data, asked)),
      "Unanswered",
      ({ message }) => new Refused({ message })
    )
  if (Option.isSome(there)) return there.value
  return yield* Effect.scoped(
    Effect.flatMap(here, (requests) => refusedInput(Effect.catchTag(asked(requests), "RpcClientError", Effect.die)))
  )
})
