/** The way of a data directory from an assistant's server to the service, and back when the service has ended. */
import { Clock, Deferred, Duration, Effect, Exit, Fiber, FiberSet, Option, Result, type Scope, Semaphore } from "effect"
import * as EffectScope from "effect/Scope"
import * as DirectoryLock from "../../layers/postgres/DirectoryLock.ts"
import * as Stdio from "../../mcp/Stdio.ts"
import * as ControlClient from "./ControlClient.ts"
import * as Address from "./HolderAddress.ts"

/** The time that calls in flight may take to end before the directory is let go. */
const finishing = Duration.seconds(30)

/** The time that a starting process waits for a holder that does not answer: it may be starting, or about to end. */
const meeting = Duration.seconds(30)

/** The time that the directory is reserved for the service that asked for it, which may crash before it takes it. */
const reserved = Duration.seconds(10)

/** The time that a call waits for a process that can answer it. */
const waiting = Duration.seconds(30)

/**
 * What a starting service does where another process holds the directory: an assistant's server is asked for it, and
 * waited for as long as its calls may take; a service, or a holder that cannot be asked, keeps it.
 */
export const request = Effect.fnUntraced(function*(directory: string) {
  const clock = yield* Clock.Clock
  let until: number | undefined
  let promised = false
  const whenInUse: DirectoryLock.WhenInUse = ({ holder }) =>
    Effect.gen(function*() {
      const now = clock.currentTimeMillisUnsafe()
      const answer = yield* ControlClient.askRelease(directory)
      if (Option.contains(answer, false)) return false
      if (until === undefined) {
        until = now + Duration.toMillis(meeting)
        if (Option.isNone(answer)) {
          yield* Effect.logInfo(
            `Process ${holder ?? "that"} holds the directory and answers nothing yet: it is waited for`
          )
        }
      }
      if (Option.isSome(answer) && !promised) {
        promised = true
        until = now + Duration.toMillis(finishing) + Duration.toMillis(reserved)
        yield* Effect.logInfo(`Process ${holder ?? "that"} serves an assistant, and hands the directory over`)
      }
      return now < until
    })
  return whenInUse
})

/** The assistant's open server, and how requests are sent to it. */
interface OpenServer {
  readonly ask: Stdio.Ask
  readonly scope: EffectScope.Closeable
  readonly calls: FiberSet.FiberSet<Stdio.McpAnswer, Stdio.Unreachable>
}

/** Runs the call among those that are waited for before the directory is let go. */
const within = ({ ask, calls }: Pick<OpenServer, "ask" | "calls">): Stdio.Ask => (headers, body) =>
  Effect.gen(function*() {
    const call = yield* FiberSet.run(calls, ask(headers, body))
    const exit = yield* Effect.onInterrupt(Fiber.await(call), () => Fiber.interrupt(call))
    return yield* Exit.hasInterrupts(exit)
      ? new Stdio.Unreachable({ message: "The call took too long, and was given up for a service that started." })
      : exit
  })

/** The way to open the directory, or to call the service that has it. */
export interface HandoverOptions<E, R> {
  readonly directory: string
  /** Opens the directory for as long as the scope lasts; `release` asks for its end. */
  readonly open: (
    release: Effect.Effect<void>
  ) => Effect.Effect<Stdio.Ask, E | DirectoryLock.DirectoryInUse, R | Scope.Scope>
  readonly askService: (address: Address.Address) => Stdio.Ask
}

/**
 * Asks the process that has the directory: this one as long as no service wants it, the service while one runs, and
 * this process again afterwards. The lock on the directory decides; what cannot be answered in time is refused.
 *
 * Returns once there is a process to ask.
 */
export const make = Effect.fnUntraced(
  function*<E extends Error, R>({ askService, directory, open }: HandoverOptions<E, R>) {
    const context = yield* Effect.context<R>()
    const whole = yield* Effect.scope
    const turn = yield* Semaphore.make(1)
    const clock = yield* Clock.Clock
    let held: OpenServer | undefined
    let leaving = false
    let reservedUntil = 0
    let doubtful = false

    /** Lets the directory go, once the calls in flight have ended. */
    const letGo = Effect.fnUntraced(function*({ calls, scope }: OpenServer) {
      leaving = true
      held = undefined
      yield* Effect.timeoutOption(FiberSet.awaitEmpty(calls), finishing)
      yield* EffectScope.close(scope, Exit.void)
      reservedUntil = clock.currentTimeMillisUnsafe() + Duration.toMillis(reserved)
      leaving = false
      yield* Effect.logInfo("The directory is handed over to a service")
    })

    const take = Effect.gen(function*() {
      const scope = yield* EffectScope.fork(whole)
      const asked = yield* Deferred.make<void>()
      const taken = yield* Effect.gen(function*() {
        const ask = yield* open(Effect.asVoid(Deferred.succeed(asked, undefined)))
        const calls = yield* FiberSet.make<Stdio.McpAnswer, Stdio.Unreachable>()
        return { ask: within({ ask, calls }), calls, scope }
      }).pipe(
        Effect.provideService(EffectScope.Scope, scope),
        Effect.provideContext(context),
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : EffectScope.close(scope, exit))
      )
      held = taken
      yield* Effect.forkIn(Effect.andThen(Deferred.await(asked), letGo(taken)), whole)
      return taken.ask
    })

    const there = (address: Address.Address): Stdio.Ask => (headers, body) =>
      askService(address)(headers, body).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            doubtful = false
          })
        ),
        Effect.tapError(() =>
          Effect.sync(() => {
            doubtful = true
          })
        )
      )

    /** True if the directory is another's for the moment, by this process's own doing. */
    const spokenFor = () =>
      leaving || clock.currentTimeMillisUnsafe() < reservedUntil && DirectoryLock.isLetGo(directory)

    const reach = Effect.fnUntraced(function*(wait: Duration.Duration) {
      const until = clock.currentTimeMillisUnsafe() + Duration.toMillis(wait)
      const look = Effect.gen(function*() {
        while (true) {
          if (held !== undefined) return held.ask
          const address = yield* Address.find(directory)
          if (Option.isSome(address) && !doubtful) {
            reservedUntil = 0
            return there(address.value)
          }
          const taken = spokenFor() ? undefined : yield* Effect.result(take)
          if (taken !== undefined && Result.isSuccess(taken)) return taken.success
          if (taken !== undefined && !(taken.failure instanceof DirectoryLock.DirectoryInUse)) {
            return yield* Effect.fail(taken.failure)
          }
          if (Option.isSome(address)) return there(address.value)
          if (clock.currentTimeMillisUnsafe() >= until) {
            return yield* Effect.fail(
              taken?.failure ??
                new Stdio.Unreachable({ message: "The service that asked for the directory has not started yet." })
            )
          }
          yield* Effect.sleep("100 millis")
        }
      })
      return yield* turn.withPermit(look)
    })

    const ask: Stdio.Ask = (headers, body) =>
      reach(waiting).pipe(
        Effect.mapError(({ message }) =>
          new Stdio.Unreachable({
            message: `There is no service to answer, and the database cannot be opened: ${message}`
          })
        ),
        Effect.flatMap((reached) => reached(headers, body))
      )
    yield* reach(meeting)
    return ask
  }
)
