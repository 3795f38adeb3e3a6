/** The simulated platform behind a data centre: its world, asked and told in the platform's own protocol. */
import { Effect } from "effect"
import type { MessengerArchive } from "../../../src/ports/messenger/MessengerArchive.ts"
import type { MessengerSession } from "../../../src/ports/messenger/MessengerSession.ts"
import * as Authorizations from "./Authorizations.ts"
import * as Chats from "./Chats.ts"
import * as Clients from "./Clients.ts"
import * as DataCentre from "./DataCentre.ts"
import * as Emails from "./Emails.ts"
import * as Files from "./Files.ts"
import * as Logins from "./Logins.ts"
import * as LoginTokens from "./LoginTokens.ts"
import * as Passkeys from "./Passkeys.ts"
import * as Passwords from "./Passwords.ts"
import * as Profiles from "./Profiles.ts"
import { configOf } from "./Said.ts"
import type { Word } from "./Words.ts"

/** Data centres in front of the simulated platform, and that platform's outside world with what the wire adds. */
export const start = Effect.fnUntraced(function*(
  messenger: MessengerSession["Service"],
  archive: MessengerArchive["Service"],
  count = 1
) {
  /** The data centres that have the numbers' accounts; of others whichever is asked. */
  const homes = new Map<string, number>()
  const centres: Array<DataCentre.DataCentre> = []
  const clients = yield* Clients.make(messenger, (key, update) => {
    for (const centre of centres) centre.push(key, update)
  })
  const passwords = Passwords.make(clients)
  const chats = yield* Chats.make(clients, archive, (key, update) => {
    for (const centre of centres) centre.push(key, update)
  })

  const handlers = (here: number): Clients.Handlers => ({
    ...Passkeys.handlers(clients),
    ...Profiles.handlers(clients),
    ...Authorizations.handlers(clients),
    ...Emails.handlers(clients),
    ...passwords.handlers,
    ...Logins.handlers(clients, passwords, homes, here),
    ...LoginTokens.handlers(clients, passwords, centres, here),
    "help.getConfig": async () => configOf(here, centres.map(({ port }) => port)),
    ...Files.handlers(clients, here, chats.read),
    ...chats.table
  })

  for (let here = 1; here <= count; here++) {
    const answers = handlers(here)
    centres.push(
      yield* Effect.acquireRelease(
        Effect.promise(() =>
          DataCentre.start({
            answer: (key, request) => answers[request._]?.(key, request) ?? Promise.reject(refusal(request)),
            gone: clients.gone
          })
        ),
        (started) => Effect.promise(() => started.close())
      )
    )
  }

  return { centres, homes, changed: passwords.changed }
})

const refusal = (request: Word) => new DataCentre.Refusal(400, `METHOD_INVALID ${request._}`)
