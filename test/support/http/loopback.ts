/** Servers of tests, on a free port of loopback, as long as the scope is open. */
import { Effect } from "effect"
import type { Server } from "node:http"

/** Has the server listen, and answers its port. */
export const listening = Effect.fnUntraced(function*(server: Server) {
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()))),
    () =>
      Effect.promise(() =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        })
      )
  )
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
})
