/** Sessions of a watched account that an admin reviews. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { waiting } from "../mail/outbox.ts"
import * as World from "../world.ts"
import { advance, forgetOthers } from "./watching.ts"

const day = 86_400_000
export const start = Date.UTC(2026, 2, 2, 12)

/** An account that is watched, connected so many days ago, and somebody who signs in to it. */
export const staged = Effect.fnUntraced(function*(days = 5) {
  const platform = yield* SimulatedPlatform
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { key } = admins.owner
  const connected = new Date(start - days * day)
  const account = yield* World.makeLiveAccount(id, {}, {
    facts: {
      connected_at: connected,
      enrolled_at: connected,
      enforcement_active_at: new Date(connected.getTime() + day)
    }
  })
  yield* advance("2 minutes")
  const path = `/v1/accounts/${account.id}/sessions`
  const signIn = Effect.fnUntraced(function*(device = "Pixel 9") {
    const stranger = yield* platform.logIn(account.userId, { device_model: device, app_name: "Messenger" })
    yield* advance("72 seconds")
    return stranger
  })
  const read = Effect.map(World.get(`/v1/accounts/${account.id}`, key), ({ body }) => body)
  return {
    id,
    admins,
    key,
    account,
    platform,
    signIn,
    read,
    approve: (session: string) => World.post(`${path}/${session}/approve`, key),
    signOut: (session: string) => World.post(`${path}/${session}/sign-out`, key),
    signOthersOut: (keep?: string) =>
      World.send("POST", `${path}/sign-out-others`, { key, ...(keep === undefined ? {} : { body: { keep } }) }),
    list: (query = "") => World.get(`/v1/sessions${query}`, key),
    strangers: Effect.map(
      read,
      ({ sessions }) =>
        sessions.filter((one: { service_session: boolean }) => !one.service_session).map((one: { id: string }) =>
          one.id
        )
    ),
    terminations: Effect.map(
      read,
      ({ terminations }) =>
        terminations.map(({ actor, reason }: { actor: string; reason: string }) => `${actor} ${reason}`)
    ),
    events: Effect.map(World.journal(id), (all) => all.map(({ action, outcome }) => `${action} ${outcome}`)),
    mails: (kind: string) =>
      Effect.map(waiting(id), (all) => all.filter((mail) => mail.kind === kind && mail.recipient.startsWith("owner")))
  }
})

/** What an action was answered: its status, what was done or refused, and how the account shows after it. */
export const summaryOf = (
  { body, status }: World.Answer
) => [status, body.action ?? body.error.code, body.status ?? null]
