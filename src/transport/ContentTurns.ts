/** The number of contents that are sent at a time: each holds a connection, a file and some buffers while it lasts. */
import { Context, Effect, Option, Scope } from "effect"
import { RateLimited, ServiceUnavailable } from "../domain/Failure.ts"
import { contentsAtOnce, contentsOfCredential, heldContentsAtOnce } from "../domain/Limits.ts"

/** The most at a time: of one credential, of the process, and of those that are held in memory whole. */
export interface ContentLimits {
  readonly credential: number
  readonly process: number
  readonly held: number
}

/** A turn; it is given back once, however often it is released. */
export interface Turn {
  readonly release: Effect.Effect<void>
}

/** The number that runs of each key; what is not running takes no memory. */
export const makeCounter = () => {
  const running = new Map<string, number>()
  const change = (key: string, by: number) => {
    const now = (running.get(key) ?? 0) + by
    if (now === 0) running.delete(key)
    else running.set(key, now)
  }
  return { change, of: (key: string) => running.get(key) ?? 0 }
}

const tooMany = (most: number) =>
  new RateLimited({ retry_after: 5, message: `At most ${most} contents are sent to a credential at a time.` })

export class ContentTurns {
  readonly #limits: ContentLimits
  readonly #credentials = makeCounter()
  readonly #all = makeCounter()

  constructor(limits: ContentLimits) {
    this.#limits = limits
  }

  /** A turn of the credential; fails immediately where as many are being sent as may. */
  take(credentialId: string, kind: "sent" | "held" = "sent"): Effect.Effect<Turn, RateLimited | ServiceUnavailable> {
    return Effect.suspend((): Effect.Effect<Turn, RateLimited | ServiceUnavailable> => {
      const { credential, held, process } = this.#limits
      if (this.#credentials.of(credentialId) >= credential) return Effect.fail(tooMany(credential))
      if (this.#all.of(kind) >= (kind === "held" ? held : process)) {
        return Effect.fail(new ServiceUnavailable({ retry_after: 1 }))
      }
      this.#credentials.change(credentialId, 1)
      this.#all.change(kind, 1)
      let isReleased = false
      const release = Effect.sync(() => {
        if (isReleased) return
        isReleased = true
        this.#credentials.change(credentialId, -1)
        this.#all.change(kind, -1)
      })
      return Effect.succeed({ release })
    })
  }
}

const limits = { credential: contentsOfCredential, process: contentsAtOnce, held: heldContentsAtOnce }

/** The turns of this process. */
export const CurrentContentTurns = Context.Reference<ContentTurns>(
  "org-security-console/transport/ContentTurns/CurrentContentTurns",
  { defaultValue: () => new ContentTurns(limits) }
)

/** A turn that ends with the request's scope at the latest, so also where no byte of the body is ever asked for. */
export const turnOfRequest = Effect.fnUntraced(function*(credentialId: string) {
  const turn = yield* (yield* CurrentContentTurns).take(credentialId)
  const scope = yield* Effect.serviceOption(Scope.Scope)
  if (Option.isSome(scope)) yield* Scope.addFinalizer(scope.value, turn.release)
  return turn
})
