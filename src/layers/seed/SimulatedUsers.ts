/** The people of a seed file on the simulated messenger. */
import { Clock, Duration, Effect, Option, Redacted } from "effect"
import { SimulatedChats } from "../messenger/simulated/SimulatedChats.ts"
import { SimulatedPlatform } from "../messenger/simulated/SimulatedPlatform.ts"
import { isPaired, resolve, type SeedAccount, type SeedPerson, type SeedSession } from "./Seed.ts"
import { messagesLeft, selfOf } from "./SeedChats.ts"

/** A person as the messenger knows them, with the ids of the sessions that the seed gives the account. */
export interface SeededUser {
  readonly userId: string
  readonly sessionRef: string | null
  readonly paired: { readonly sessionRef: string; readonly seenAs: string; readonly createdAt: Date } | null
  readonly sessions: ReadonlyArray<{ readonly id: string; readonly service: boolean }>
}

const digits = (phone: string): string => phone.slice(1)

/** A device that the messenger lists like the session's row; what the row leaves out is not shown. */
const deviceOf = (session: SeedSession, now: Date) => ({
  device_model: session.device_model ?? "",
  platform: session.platform ?? "",
  app_name: session.app_name ?? "",
  app_version: session.app_version ?? "",
  ip: session.ip ?? "",
  country: session.country ?? "",
  created_at: session.created_at === undefined ? null : resolve(session.created_at, now),
  last_active_at: session.last_active_at === undefined ? null : resolve(session.last_active_at, now),
  signed_in_at: resolve(session.created_at ?? "-30d", now),
  // Rows of a seed keep the ids that the messenger has made for them.
  shown_as: "id" as const
})

const makePerson = Effect.fnUntraced(function*(account: SeedAccount, messenger: NonNullable<SeedAccount["messenger"]>) {
  const platform = yield* SimulatedPlatform
  return yield* platform.createAccount({
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
})

/** Puts the account's archived chats on the messenger too, where they go on. */
const makeChats = Effect.fnUntraced(function*(account: SeedAccount, userId: string, now: Date) {
  const platform = yield* Effect.serviceOption(SimulatedChats)
  if (Option.isNone(platform)) return
  for (const chat of account.archive?.chats ?? []) {
    const where = { userId, chatId: BigInt(chat.id), shared: true }
    yield* platform.value.join(userId, {
      ...where,
      type: chat.type,
      title: chat.title,
      ...(chat.username === undefined ? {} : { username: chat.username }),
      members: chat.members.map(({ id, name, username }) => ({ id, name, username: username ?? null, role: "member" }))
    })
    yield* platform.value.restore(where, messagesLeft(chat, selfOf(account), now))
  }
})

/** Makes the person on the simulated messenger, the service's sessions, and the person's other devices. */
export const connect = Effect.fnUntraced(function*(account: SeedAccount, now: Date) {
  const platform = yield* SimulatedPlatform
  const { messenger, sessions = [] } = account
  if (messenger === undefined) return undefined
  const userId = yield* makePerson(account, messenger)
  yield* makeChats(account, userId, now)
  const signed_in_at = resolve(messenger.connected_at ?? "-30d", now)
  const current = sessions.find((session) => session.current === true)
  const sessionRef = messenger.connected === false ? null : yield* platform.connect(userId, {
    shown_as: "id",
    created_at: signed_in_at,
    ...(current === undefined ? {} : deviceOf(current, now)),
    signed_in_at
  })
  const second = messenger.paired === true ? sessions.find(isPaired) : undefined
  const pairedRef = second === undefined ? null : yield* platform.connect(userId, deviceOf(second, now))
  const made = yield* Effect.forEach(sessions, (session) =>
    Effect.gen(function*() {
      const ref = session === current ? sessionRef : session === second ? pairedRef : null
      return ref === null
        ? { id: yield* platform.logIn(userId, deviceOf(session, now)), service: session.service ?? false }
        : { id: yield* platform.authorizationId(ref), service: true }
    }))
  const seenAs = second === undefined ? undefined : made[sessions.indexOf(second)]?.id
  if (messenger.unreachable === true) yield* platform.setUnreachable(userId, true)
  if (messenger.frozen === true) yield* platform.setFrozen(userId, true)
  const connected: SeededUser = {
    userId,
    sessionRef,
    paired: second === undefined || pairedRef === null || seenAs === undefined
      ? null
      : { sessionRef: pairedRef, seenAs, createdAt: deviceOf(second, now).signed_in_at },
    sessions: made
  }
  return connected
})

/** Makes a person on the simulated messenger whom no organization has connected, with a phone of theirs. */
export const meet = Effect.fnUntraced(function*(person: SeedPerson) {
  const platform = yield* SimulatedPlatform
  const { phone, two_fa_hint, two_fa_password, ...profile } = person
  const userId = yield* platform.createAccount({
    ...profile,
    phone: digits(phone),
    security: {
      ...(two_fa_password === undefined ? {} : { two_fa_password: Redacted.make(two_fa_password) }),
      ...(two_fa_hint === undefined ? {} : { two_fa_hint })
    }
  })
  yield* platform.logIn(userId, {
    device_model: "Phone",
    app_name: "Messenger",
    created_at: new Date((yield* Clock.currentTimeMillis) - Duration.toMillis("30 days"))
  })
})
