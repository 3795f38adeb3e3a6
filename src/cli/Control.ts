/** How commands reach the database: through the service that holds it, or by opening it where none does. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Option, Predicate, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import { type Command, commands, type CommandServices } from "./Administration.ts"
import { Refused, unreadable } from "./Declared.ts"
import type * as Settings from "./Settings.ts"

const socketName = "console.sock"

const socketPath = (directory: string): string => path.join(path.resolve(directory), socketName)

/** A socket's address may not be longer than this on every system that has them. */
const maxSocketPath = 100

const byName: ReadonlyMap<string, Pick<Command<unknown, unknown>, "execute">> = new Map(
  commands.map((command) => [command.name, command])
)

/** The request to let the directory go, which is no command. */
const releaseName = "release"

const handle = Effect.fnUntraced(function*(release: Effect.Effect<void> | undefined) {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (request.url === `/${releaseName}`) {
    if (release === undefined) return HttpServerResponse.jsonUnsafe({ refused: "A service keeps its directory." })
    return HttpServerResponse.jsonUnsafe({ value: yield* Effect.as(release, null) })
  }
  const input = yield* Effect.orDie(request.json)
  const command = byName.get(request.url.slice(1))
  if (command === undefined) return HttpServerResponse.jsonUnsafe({ refused: "There is no such command." })
  return yield* command.execute(input).pipe(
    Effect.match({
      onSuccess: (value) => ({ value }),
      onFailure: ({ message }) => ({ refused: message })
    }),
    Effect.catchDefect((defect) => Effect.as(Effect.logError("A command failed", defect), { failed: true })),
    Effect.map((answer) => HttpServerResponse.jsonUnsafe(answer))
  )
})

/**
 * Serves commands on a socket in the data directory, for whoever may open it: mode 0600 in a directory of mode 0700.
 *
 * The caller holds the directory, so that a socket found there is left over. Who starts a service may ask for the
 * directory there, where `release` lets it go.
 */
export const layer = (directory: string, release?: Effect.Effect<void>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const file = socketPath(directory)
    if (file.length > maxSocketPath) {
      return yield* Effect.logWarning(
        `The path of ${file} is too long for a socket: commands cannot reach this service while it runs`
      )
    }
    fs.rmSync(file, { force: true })
    const services = yield* Effect.context<CommandServices>()
    const server = yield* NodeHttpServer.make(() => http.createServer(), { path: file })
    yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(file, { force: true })))
    fs.chmodSync(file, 0o600)
    yield* server.serve(Effect.provideContext(handle(release), services))
  }))

/** The connection to the holder of the directory broke before its answer. */
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { message: Schema.String }) {}

/** Asks the service that holds the directory; none when no service does. */
const ask = (directory: string, name: string, input: unknown) =>
  Effect.callback<Option.Option<unknown>, Refused | Unanswered>((resume) => {
    const file = socketPath(directory)
    if (!fs.existsSync(file)) return resume(Effect.succeed(Option.none()))
    const request = http.request({ socketPath: file, method: "POST", path: `/${name}` }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const answer: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"))
        resume(
          Predicate.hasProperty(answer, "value")
            ? Effect.succeed(Option.some(answer.value))
            : Effect.fail(
              new Refused({
                message: Predicate.hasProperty(answer, "refused")
                  ? String(answer.refused)
                  : "The running service could not do it; its log says why."
              })
            )
        )
      })
    })
    request.on("error", (error: NodeJS.ErrnoException) =>
      resume(
        error.code === "ECONNREFUSED" || error.code === "ENOENT"
          ? Effect.succeed(Option.none())
          : Effect.fail(new Unanswered({ message: `The running service did not answer: ${error.message}` }))
      ))
    request.end(JSON.stringify(input))
    return Effect.sync(() => request.destroy())
  })

/** Asks the holder of the directory to let it go: whether it will, none where nobody answers. */
export const askRelease = (directory: string): Effect.Effect<Option.Option<boolean>> =>
  ask(directory, releaseName, null).pipe(
    Effect.map(Option.map(() => true)),
    Effect.catchTags({
      Refused: () => Effect.succeed(Option.some(false)),
      // A holder that ends breaks its connections.
      Unanswered: () => Effect.succeed(Option.none())
    }),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed(Option.none()) })
  )

/**
 * Runs a command where the database is: on PostgreSQL directly, on the embedded one through the running service, or by
 * opening the directory where none runs.
 */
export const invoke = Effect.fnUntraced(function*<Input, Output, R, E>(
  settings: Settings.Database,
  command: Omit<Command<Input, Output>, "execute"> & {
    execute(json: unknown): Effect.Effect<unknown, Refused, R>
  },
  input: Input,
  open: Layer.Layer<R, E>
) {
  const json = yield* Effect.mapError(Schema.encodeEffect(command.input)(input), unreadable)
  const asked = Option.isSome(settings.databaseUrl)
    ? Option.none()
    : yield* Effect.catchTag(
      ask(settings.data, command.name, json),
      "Unanswered",
      ({ message }) => new Refused({ message })
    )
  const answer = Option.isSome(asked) ? asked.value : yield* Effect.provide(command.execute(json), open)
  return yield* Effect.orDie(Schema.decodeUnknownEffect(command.output)(answer))
})
