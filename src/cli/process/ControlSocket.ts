/** The socket in a data directory at which its holder answers commands. */
import * as NodeSocketServer from "@effect/platform-node-shared/NodeSocketServer"
import { Effect, Layer } from "effect"
import { HttpServerError } from "effect/http"
import * as RpcServer from "effect/rpc/RpcServer"
import { SocketServer } from "effect/socket"
import * as fs from "node:fs"
import { Refused } from "../../operator/UseCase.ts"
import { Contained, HolderRequests, SocketRequests } from "./Administration.ts"
import { maxSocketPath, serialization, socketPath } from "./ControlClient.ts"
import { commandHandlers, databaseHandlers } from "./Handlers.ts"

/** The server at the file, which only the directory's owner may open. */
const listening = (file: string) =>
  Layer.effect(
    SocketServer.SocketServer,
    Effect.gen(function*() {
      fs.rmSync(file, { force: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(file, { force: true })))
      const server = yield* Effect.mapError(
        NodeSocketServer.make({ path: file }),
        (cause) => new HttpServerError.ServeError({ cause })
      )
      fs.chmodSync(file, 0o600)
      return server
    })
  )

const contained = Layer.succeed(
  Contained,
  Effect.catchDefect((defect) =>
    Effect.andThen(
      Effect.logError("A command failed", defect),
      new Refused({ message: "The running service could not do it; its log says why." })
    )
  )
)

/**
 * Serves commands on a socket in the data directory, to its owner only: mode 0600 in a directory of mode 0700.
 *
 * The caller holds the directory, so that a socket found there is left over. Who starts a service may ask for the
 * directory there, where `release` lets it go.
 */
export const layer = (directory: string, release?: Effect.Effect<void>) => {
  const file = socketPath(directory)
  if (file.length > maxSocketPath) {
    return Layer.effectDiscard(
      Effect.logWarning(
        `The path of ${file} is too long for a socket: commands cannot reach this service while it runs`
      )
    )
  }
  const holder = HolderRequests.toLayer({
    release: () => release === undefined ? Effect.succeed(false) : Effect.as(release, true)
  })
  return RpcServer.layer(SocketRequests, { disableFatalDefects: true, disableTracing: true }).pipe(
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provide([listening(file), serialization, commandHandlers, databaseHandlers, holder, contained])
  )
}
