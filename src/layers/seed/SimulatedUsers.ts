/** The people of a seed file on the simulated messenger. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { SimulatedPlatform } from "../messenger/SimulatedPlatform.ts"
import { resolve, type SeedAccount } from "./Seed.ts"

/** A person as the messenger knows them, with the ids of the sessions that the seed gives the account. */
export interface Connected {
  readonly userId: string
  readonly sessionRef: string | null
  readonly sessions: ReadonlyArray<{ readonly id: string; readonly service: boolean }>
}

const digits = (phone: string): string => phone.slice(1)

/** Makes the person on the simulated messenger, the service's session, and the person's other devices. */
export const connect = Effect.fnUntraced(function*(account: SeedAccount, now: Date) {
  const sql = yield* SqlClient.SqlClient
  const platform = yield* SimulatedPlatform
  const { messenger } = account
  if (messenger === undefined) return undefined
  const userId = yield* platform.createAccount({
    phone: digits(account.phone),
    first_name: account.first_name ?? "",
    ...(account.last_name === undefined ? {} : { last_name: account.last_name }),
    ...(account.username === undefined ? {} : { username: account.username }),
    ...(messenger.about === undefined ? {} : { about: messenger.about }),
    ...(messenger.photo_id === undefined ? {} : { photo_id: messenger.photo_id }),
    premium: messenger.premium ?? false,
    security: {
      ...(messenger.two_fa_password === undefined
        ? {}
        : { two_fa_password: Redacted.make(messenger.two_fa_password) }),
      ...(messenger.login_email === undefined ? {} : { login_email: messenger.login_email }),
      ...(messenger.recovery_email === undefined ? {} : { recovery_email: messenger.recovery_email }),
      ...(messenger.passkey_id === undefined ? {} : { passkey_id: messenger.passkey_id })
    }
  })
  const sessionRef = messenger.connected === false
    ? null
    : yield* platform.connect(userId, { created_at: resolve(messenger.connected_at ?? "-30d", now) })
  const own = sessionRef === null ? [] : yield* Effect.orDie(
    sql<{ id: string }>`select id from simulated_authorization where session_ref = ${sessionRef}`
  )
  let unassigned = own[0]?.id
  const sessions = yield* Effect.forEach(account.sessions ?? [], (session) =>
    Effect.gen(function*() {
      if (session.current === true && unassigned !== undefined) {
        const id = unassigned
        unassigned = undefined
        return { id, service: true }
      }
      const text = ({ app_name, app_version, country, device_model, ip, platform }: typeof session) =>
        Object.fromEntries(
          Object.entries({ app_name, app_version, country, device_model, ip, platform }).filter(([, value]) =>
            value !== undefined
          )
        )
      const id = yield* platform.logIn(userId, {
        ...text(session),
        created_at: resolve(session.created_at ?? "-30d", now),
        last_active_at: resolve(session.last_active_at ?? session.created_at ?? "-1d", now)
      })
      return { id, service: session.service ?? false }
    }))
  return { userId, sessionRef, sessions } satisfies Connected
})
