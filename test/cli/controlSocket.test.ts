import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as ControlClient from "../../src/cli/process/ControlClient.ts"
import * as ControlSocket from "../../src/cli/process/ControlSocket.ts"
import { Directory } from "../../src/ports/organization/Directory.ts"
import { embeddedDirectory } from "../support/cli/embeddedDirectory.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "control-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** What the holder of the directory answers, where somebody holds it. */
const ask = <A>(data: string, asked: ControlClient.ControlRequest<ControlClient.CommandClient, A>) =>
  ControlClient.invoke(
    embeddedDirectory(data),
    asked,
    Effect.die(new Error("Nobody holds the directory"))
  )

/** A holder of the directory whose list of organizations is as given. */
const holding = Effect.fnUntraced(function*(data: string, organizations: Directory["Service"]["organizations"]) {
  const whole = yield* Directory
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.buildWithScope(
    Layer.provide(ControlSocket.layer(data), Layer.succeed(Directory, { ...whole, organizations })),
    scope
  )
  return scope
})

/** Sends bytes to the socket, and waits until it has answered or closed. */
const send = (data: string, text: string) =>
  Effect.callback<void>((resume) => {
    const socket = net.connect(ControlClient.socketPath(data), () => socket.write(text))
    const done = () => {
      socket.destroy()
      resume(Effect.void)
    }
    socket.once("data", done).once("close", done).on("error", done)
  })

describe("the socket of a data directory", () => {
  layer(World.world(postgres))((it) => {
    it.effect("goes on after a request that fails unexpectedly, and after bytes that are no request", () =>
      Effect.gen(function*() {
        const data = yield* folder
        yield* holding(data, Effect.die(new Error("a fault of the service")))
        const listed = yield* Effect.flip(ask(data, (requests) => requests.organizations_list({})))
        expect(listed.message).toBe("The running service could not do it; its log says why.")
        yield* send(data, "GET / HTTP/1.1\n\n")
        yield* send(
          data,
          "{\"_tag\":\"Request\",\"id\":\"1\",\"tag\":\"drop_everything\",\"payload\":{},\"headers\":[]}\n"
        )
        const shown = yield* Effect.flip(ask(data, (requests) => requests.organizations_show({ organization: "nope" })))
        expect(shown.message).toBe("There is no organization nope.")
        expect(yield* ControlClient.askRelease(data)).toEqual(Option.some(false))
      }))

    it.effect("says of a holder that ends before its answer that it did, and is gone with it", () =>
      Effect.gen(function*() {
        const data = yield* folder
        const asked = yield* Deferred.make<void>()
        const scope = yield* holding(data, Effect.andThen(Deferred.succeed(asked, undefined), Effect.never))
        const answer = yield* Effect.forkChild(Effect.flip(ask(data, (requests) => requests.organizations_list({}))))
        yield* Deferred.await(asked)
        yield* Scope.close(scope, Exit.void)
        expect((yield* Fiber.join(answer)).message).toBe("The running service ended before it answered.")
        expect(fs.existsSync(ControlClient.socketPath(data))).toBe(false)
      }))

    it.effect("refuses an input that is not of the request's schema before it is sent, in one line", () =>
      Effect.gen(function*() {
        const data = yield* folder
        yield* holding(data, Effect.succeed([]))
        const input = { id: "b", name: "B", owner: "nobody", plan: "protect", seats: 1, valid_until: null } as const
        const refused = yield* Effect.flip(ask(data, (requests) => requests.organizations_create(input)))
        expect(refused.message).toBe("owner: Expected an email address.")
      }))
  })
})
