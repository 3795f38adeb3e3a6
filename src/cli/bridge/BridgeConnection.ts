/** Requests to the service with the tokens of the connection, which are renewed where they have ended. */
import { Effect, Option } from "effect"
import { InvalidToken } from "../../domain/Failure.ts"
import * as Stdio from "../../mcp/Stdio.ts"
import { answer } from "../../transport/Answer.ts"
import { NotConnected, refresh, signIn, type Unanswered } from "./BridgeSignIn.ts"
import * as Tokens from "./BridgeTokens.ts"

/** The service's address without a slash at its end, and where its tokens are kept. */
export interface Connection {
  readonly url: string
  readonly file: string
}

const ended = "The connection of the bridge has ended. Run the bridge with --sign-in in a terminal to connect it again."

/** The tokens that can be used now, or instead of those that the service refuses; other processes wait meanwhile. */
const renew = ({ file, url }: Connection, refused: string | undefined) =>
  Tokens.locked(
    file,
    Effect.gen(function*() {
      const stored = Tokens.read(file)
      if (Option.isNone(stored)) return yield* new NotConnected({ message: ended })
      const tokens = stored.value
      if (tokens.access_token !== refused && (yield* Tokens.isGood(tokens))) return tokens
      // Nothing interrupts it between the answer and the file: the old refresh token is good for nothing by then.
      return yield* Effect.uninterruptible(
        refresh(url, tokens).pipe(
          Effect.tap((renewed) => Effect.sync(() => Tokens.write(file, renewed))),
          Effect.tapErrorTag("NotConnected", () => Effect.sync(() => Tokens.remove(file)))
        )
      )
    })
  )

const current = (connection: Connection): Effect.Effect<Tokens.StoredTokens, NotConnected | Unanswered> => {
  const stored = Tokens.read(connection.file)
  return Option.isNone(stored)
    ? renew(connection, undefined)
    : Effect.flatMap(
      Tokens.isGood(stored.value),
      (good) => good ? Effect.succeed(stored.value) : renew(connection, undefined)
    )
}

/** Connects the bridge, unless it is connected already or `anew` is asked for. */
export const connect = (
  { file, url }: Connection,
  how: {
    readonly anew: boolean
    readonly scopes: string
    readonly browser: boolean
    readonly say: (text: string) => Effect.Effect<void>
  }
) =>
  Effect.suspend(() =>
    !how.anew && Option.isSome(Tokens.read(file))
      ? Effect.void
      : Effect.flatMap(
        signIn(url, how.scopes, how.browser, how.say),
        (tokens) => Tokens.locked(file, Effect.sync(() => Tokens.write(file, tokens)))
      )
  )

const refused: Stdio.McpAnswer = {
  status: 401,
  contentType: "application/json",
  text: JSON.stringify(answer(new InvalidToken({ message: ended })).body)
}

/** Asks with the connection's token; once more with a new one where the service refuses it. */
export const asking = (connection: Connection, ask: (token: string) => Stdio.Ask): Stdio.Ask => (headers, body) =>
  Effect.gen(function*() {
    const { access_token } = yield* current(connection)
    const first = yield* ask(access_token)(headers, body)
    if (first.status !== 401) return first
    const renewed = yield* renew(connection, access_token)
    return yield* ask(renewed.access_token)(headers, body)
  }).pipe(
    Effect.map((answered) => answered.status === 401 ? refused : answered),
    Effect.catchTag("NotConnected", () => Effect.succeed(refused)),
    Effect.catchTag("Unanswered", ({ message }) => Effect.fail(new Stdio.Unreachable({ message })))
  )
