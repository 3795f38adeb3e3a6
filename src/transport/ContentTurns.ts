/** The number of contents that are sent at a time: each holds a connection, a file and some buffers while it lasts. */
import { Context, Effect } from "effect"
import { RateLimited, ServiceUnavailable } from "../domain/Failure.ts"
import { contentsAtOnce, contentsOfCredential, heldContentsAtOnce } from "../domain/Limits.ts"
import { countedTurn, endingWithRequest, makeCounter, type Turn } from "./Turns.ts"

/** The most at a time: of one credential, of the process, and of those that are held in memory whole. */
export interface ContentLimits {
  readonly credential: number
  readonly process: number
  readonly held: number
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
      return Effect.succeed(countedTurn((by) => {
        this.#credentials.change(credentialId, by)
        this.#all.change(kind, by)
      }))
    })
  }
}

const limits = { credential: contentsOfCredential, process: contentsAtOnce, held: heldContentsAtOnce }

/** The turns of this process. */
export const CurrentContentTurns = Context.Reference<ContentTurns>(
  "org-security-console/transport/ContentTurns/CurrentContentTurns",
  { defaultValue: () => new ContentTurns(limits) }
)

export const turnOfRequest = Effect.fnUntraced(function*(credentialId: string) {
  return yield* endingWithRequest(yield* (yield* CurrentContentTurns).take(credentialId))
})
