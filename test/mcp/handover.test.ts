import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import * as ControlClient from "../../src/cli/process/ControlClient.ts"
import * as Handover from "../../src/cli/process/Handover.ts"
import * as Address from "../../src/cli/process/HolderAddress.ts"
import * as DirectoryLock from "../../src/layers/postgres/DirectoryLock.ts"
import type * as Bridge from "../../src/mcp/Stdio.ts"
import { doneInProcess } from "../support/cli/inProcess.ts"
import { fillDirectory } from "../support/postgres/database.ts"
import { root } from "../support/run/program.ts"
import { scratch } from "../support/run/scratch.ts"
import * as Processes from "./processes.ts"
import * as Mcp from "./support.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(scratch, "handover-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const answered = (text: string): Bridge.McpAnswer => ({ status: 200, contentType: "application/json", text })

/** An assistant's server on a directory, whose database answers `here`, and whose service answers `there`. */
const assistant = Effect.fnUntraced(function*(directory: string) {
  const slow = yield* Deferred.make<void>()
  const events: Array<string> = []
  let release: Effect.Effect<void> = Effect.void
  const ask = yield* Handover.make({
    directory,
    open: (asked) =>
      Effect.gen(function*() {
        yield* DirectoryLock.acquire(directory)
        yield* Effect.acquireRelease(
          Effect.sync(() => events.push("opened")),
          () => Effect.sync(() => events.push("closed"))
        )
        release = asked
        return (_, body) =>
          body === "slow"
            ? Effect.as(Deferred.await(slow), answered("slowly here"))
            : Effect.succeed(answered("here"))
      }),
    askService: () => () => Effect.succeed(answered("there"))
  })
  return {
    events,
    slow,
    release: Effect.suspend(() => release),
    say: (body = "") => Effect.map(ask({}, body), ({ text }) => text)
  }
})

/** A service that waits for the directory, and answers at its address once it has it. */
const service = Effect.fnUntraced(function*(directory: string) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  yield* DirectoryLock.acquire(directory, () => Effect.succeed(true)).pipe(
    Effect.andThen(Address.publish(directory, { url: "http://localhost:1", host: "localhost:1" })),
    Effect.provideService(Scope.Scope, scope)
  )
  return { stop: Scope.close(scope, Exit.void) }
})

/** A conversation with a process of `mcp`, one question after another. */
const converse = Effect.fnUntraced(function*(directory: string, key: string) {
  const mcp = yield* Processes.start(["--data", directory], { CONSOLE_API_KEY: key })
  let id = 0
  const call = (name: string, args: Record<string, unknown> = {}) =>
    Effect.map(mcp.ask(Mcp.legacy("tools/call", { name, arguments: args }, ++id)), ({ result }) => result)
  return { call, stop: mcp.stop }
})

describe("an assistant's server on the embedded database", () => {
  it.live("finishes its calls before it lets the directory go, asks the service then, and opens it again afterwards", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const { events, release, say, slow } = yield* assistant(directory)
      expect(yield* say()).toBe("here")
      const running = yield* Effect.forkChild(say("slow"), { startImmediately: true })
      yield* Effect.yieldNow
      yield* release
      const starting = yield* Effect.forkChild(service(directory), { startImmediately: true })
      const next = yield* Effect.forkChild(say(), { startImmediately: true })
      yield* Effect.sleep("150 millis")
      expect(events).toEqual(["opened"])
      yield* Deferred.succeed(slow, undefined)
      expect(yield* Fiber.join(running)).toBe("slowly here")
      expect(yield* Fiber.join(next)).toBe("there")
      expect(events).toEqual(["opened", "closed"])
      const { stop } = yield* Fiber.join(starting)
      expect(yield* say()).toBe("there")
      yield* stop
      expect(yield* say()).toBe("here")
      expect(events).toEqual(["opened", "closed", "opened"])
    }))

  it.live("does not take the directory back from the service that it was let go for, and gives way every time", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const { events, release, say } = yield* assistant(directory)
      for (const round of [1, 2]) {
        yield* release
        while (events.length < 2 * round) yield* Effect.sleep("10 millis")
        const calls = yield* Effect.forkChild(Effect.all([say(), say(), say()], { concurrency: "unbounded" }), {
          startImmediately: true
        })
        yield* Effect.sleep("250 millis")
        expect(events.length).toBe(2 * round)
        const { stop } = yield* service(directory)
        expect(yield* Fiber.join(calls)).toEqual(["there", "there", "there"])
        yield* stop
        expect(yield* Effect.all([say(), say()], { concurrency: "unbounded" })).toEqual(["here", "here"])
      }
      expect(events).toEqual(["opened", "closed", "opened", "closed", "opened"])
    }))

  it.live("is waited for where its connection breaks as it ends, which is no refusal", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      yield* Effect.acquireRelease(
        Effect.promise(() =>
          new Promise<net.Server>((resolve) => {
            const server = net.createServer((socket) => socket.once("data", () => socket.destroy()))
            server.listen(path.join(directory, "console.sock"), () => resolve(server))
          })
        ),
        (server) => Effect.sync(() => server.close())
      )
      expect(yield* ControlClient.askRelease(directory)).toEqual(Option.none())
    }))

  it.live(
    "loses nothing that it has answered when a service starts, is killed, and starts again while it is killed",
    () =>
      Effect.gen(function*() {
        const directory = yield* folder
        fillDirectory(directory)
        const first = yield* Processes.serve(["--demo", "--data", directory], {}, /Listening on (\S+)\n[^]*Try it/)
        const [key = ""] = first.output().match(/\bosc_live_\S+/) ?? []
        const { call, stop } = yield* converse(directory, key)
        const listed = yield* call("list_protected_accounts")
        const account_id = listed.structuredContent.data[0].id
        const acknowledged: Array<string> = []
        const write = Effect.gen(function*() {
          const role_label = `Label ${acknowledged.length + 1}`
          const { isError, structuredContent } = yield* call("set_account_role_label", { account_id, role_label })
          if (isError === true) return false
          expect(structuredContent.role_label).toBe(role_label)
          acknowledged.push(role_label)
          return true
        })
        const stored = Effect.fnUntraced(function*(url: string) {
          const answer = yield* Effect.promise(() =>
            fetch(`${url}/v1/journal?limit=100`, { headers: { authorization: `Bearer ${key}` } })
          )
          const { data } = yield* Effect.promise(() => answer.json() as Promise<any>)
          return data.filter(({ action }: any) => action === "account.role_label_set").length as number
        })
        /** Writes one after another until the service listens. */
        const through = Effect.fnUntraced(function*(starting: ReturnType<typeof Processes.serve>) {
          const service = yield* Effect.forkChild(starting, { startImmediately: true })
          while (service.pollUnsafe() === undefined) {
            expect(yield* write).toBe(true)
            yield* Effect.sleep("600 millis")
          }
          return yield* Fiber.join(service)
        })

        expect(yield* write).toBe(true)
        yield* first.stop("SIGKILL")
        expect(yield* write).toBe(true)
        const second = yield* through(Processes.serve(["--data", directory]))
        expect(yield* write).toBe(true)
        expect(yield* stored(second.url)).toBe(acknowledged.length)
        yield* second.stop("SIGKILL")
        expect(yield* write).toBe(true)
        const third = yield* Effect.forkChild(Processes.serve(["--data", directory]), { startImmediately: true })
        yield* Effect.sleep("500 millis")
        yield* stop("SIGKILL")
        const both = yield* Fiber.join(third)
        expect(yield* stored(both.url)).toBe(acknowledged.length)
      }),
    300_000
  )

  it.live(
    "goes to the service that starts at the same instant, and the assistant is answered by it",
    () =>
      Effect.gen(function*() {
        const directory = yield* folder
        fillDirectory(directory)
        const seed = path.join(root, "seeds/demo.json")
        const seeded = yield* Effect.promise(() => doneInProcess(["seed", seed, "--data", directory]))
        const [{ key }] = JSON.parse(seeded).keys
        const [{ call }, service] = yield* Effect.all(
          [converse(directory, key), Processes.serve(["--data", directory])],
          { concurrency: "unbounded" }
        )
        const { structuredContent } = yield* call("list_protected_accounts")
        const { data: [{ id: account_id }] } = structuredContent
        const role_label = "Together"
        expect((yield* call("set_account_role_label", { account_id, role_label })).isError).not.toBe(true)
        const seen = yield* Effect.promise(async () => {
          const headers = { authorization: `Bearer ${key}` }
          return (await fetch(`${service.url}/v1/accounts/${account_id}`, { headers })).json()
        })
        expect(seen).toMatchObject({ id: account_id, role_label })
      }).pipe(Effect.scoped),
    120_000
  )
})
