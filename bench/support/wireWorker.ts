/** The service's worker over a data centre that is a process of its own, as benches of the wire measure it. */
import { Array, Effect, Exit, Layer, Redacted, Schedule, Scope } from "effect"
import * as childProcess from "node:child_process"
import type { Capture } from "../../src/capture/Capture.ts"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { SessionRef } from "../../src/domain/messenger/Messenger.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import { captureArchives } from "../../src/jobs/archive/capture_archives.ts"
import { closeArchiveDays } from "../../src/jobs/archive/close_archive_days.ts"
import * as Keys from "../../src/layers/memory/MessengerKeys.ts"
import * as Messenger from "../../src/layers/messenger/wire/index.ts"
import type * as Worker from "../../src/layers/Worker.ts"
import { LiveSessions } from "../../src/messenger/OpenSessions.ts"
import { MessengerKeys } from "../../src/ports/messenger/MessengerKeys.ts"
import { Ownership } from "../../src/ports/messenger/Ownership.ts"
import type { Engine } from "../../src/protection/PollLoop.ts"
import { organization, watching, workerOver } from "../monitor/measure.ts"
import type { Ground } from "./ground.ts"

/** A program as a process of its own, which answers each order by a message. */
export const startChild = <Order extends childProcess.Serializable, Answer>(program: string) => {
  const child = childProcess.fork(program, { stdio: "inherit" })
  const send = (order: Order) =>
    new Promise<Answer>((resolve) => {
      child.once("message", (answer) => resolve(answer as Answer))
      child.send(order)
    })
  return { send, stop: () => child.kill() }
}

/** The address of a data centre. */
export interface CentreAddress {
  readonly port: number
  readonly publicKey: string
}

/** A worker over the data centre with the keys of the sessions, until it is closed. */
export const startWorker = async (
  ground: Ground,
  { port, publicKey }: CentreAddress,
  sessions: ReadonlyMap<string, Uint8Array>,
  options?: Worker.Options
) => {
  const messenger = Messenger.layer({
    applicationId: 1,
    applicationHash: Redacted.make("0".repeat(32)),
    dataCentre: { id: 1, ipAddress: "127.0.0.1", port },
    publicKeys: [publicKey],
    version: "1"
  })
  const kept = Layer.effectDiscard(
    Effect.flatMap(MessengerKeys, (keys) =>
      Effect.forEach(
        sessions,
        ([ref, secret]) => keys.save(SessionRef.make(ref), "key:1", Redacted.make(new Uint8Array(secret)), 0)
      ))
  )
  const scope = await Effect.runPromise(Scope.make())
  const context = await Effect.runPromise(Layer.buildWithScope(
    workerOver(
      ground,
      Layer.mergeAll(messenger, kept).pipe(Layer.provide(Layer.merge(Keys.layer, Ownership.layerAlone)), Layer.orDie),
      options
    ),
    scope
  ))
  const run = <A, E>(effect: Effect.Effect<A, E, Capture | Engine | LiveSessions>) =>
    Effect.runPromise(Effect.provideContext(effect, context))
  const session = (ref: string) =>
    Effect.flatMap(LiveSessions, ({ use }) =>
      Effect.retry(
        use(
          { organizationId: OrganizationId.make(organization), accountId: AccountId.make(ref) },
          SessionRef.make(ref)
        ),
        Schedule.spaced("1 second")
      ))
  return {
    run,
    open: (refs: ReadonlyArray<string>) =>
      run(Effect.forEach(refs, (ref) => Effect.scoped(session(ref)), { concurrency: 32, discard: true })),
    /** Each session makes so many requests, one after the other. */
    ask: (refs: ReadonlyArray<string>, times: number) =>
      run(Effect.forEach(
        refs,
        (ref) =>
          Effect.scoped(
            Effect.flatMap(
              session(ref),
              ({ profile }) => Effect.forEach(Array.range(1, times), () => profile, { discard: true })
            )
          ),
        { concurrency: 32, discard: true }
      )),
    watch: () => run(Effect.forkIn(watching, scope)),
    /** Archives as the jobs do. */
    capture: () =>
      run(
        Effect.forEach([captureArchives, closeArchiveDays], ({ period, start }) =>
          Effect.flatMap(start, ({ run }) =>
            Effect.forkIn(Effect.forever(Effect.andThen(Effect.ignore(run), Effect.sleep(period))), scope)))
      ),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
