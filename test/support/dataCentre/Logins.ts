/** Signing in by a code and a 2FA password, and signing out. */
import { Redacted } from "effect"
import { type MessengerUserId, SessionRef } from "../../../src/domain/messenger/Messenger.ts"
import { type Clients, type Handlers, kept, refuse } from "./Clients.ts"
import type * as DataCentre from "./DataCentre.ts"
import type { Passwords } from "./Passwords.ts"
import { sentCode } from "./Said.ts"
import type { Word } from "./Words.ts"

const signedIn = async (key: DataCentre.Key, ref: SessionRef, userId: MessengerUserId): Promise<Word> => {
  Object.assign(key.of, { ref, userId })
  delete kept(key).login
  return { _: "auth.authorization", user: { _: "user", self: true, id: Number(userId) } }
}

/** At the data centre `here`; `homes` are those that have the numbers' accounts, and of others whichever is asked. */
export const handlers = (
  { ask, live, messenger, now }: Clients,
  { proves }: Passwords,
  homes: ReadonlyMap<string, number>,
  here: number
): Handlers => ({
  "auth.sendCode": async (key, { phoneNumber }) => {
    const phone = String(phoneNumber)
    const home = homes.get(phone.replace("+", "")) ?? here
    if (home !== here) return refuse(303, `PHONE_MIGRATE_${home}`)
    const ref = SessionRef.make(`wire-${key.id}`)
    const sent = await ask(messenger.begin(ref, phone.startsWith("+") ? phone : `+${phone}`))
    kept(key).login = { ref, state: sent.state, phone: phone.replace("+", ""), wantsPassword: false }
    return sentCode(sent, await ask(now))
  },
  "auth.resendCode": async (key) => {
    const { login } = kept(key)
    if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
    const sent = await ask(messenger.resend(login.state))
    login.state = sent.state
    return sentCode(sent, await ask(now))
  },
  "auth.cancelCode": async (key) => {
    const { login } = kept(key)
    if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
    await ask(messenger.cancel(login.state))
    delete kept(key).login
    return true
  },
  "auth.signIn": async (key, { phoneCode }) => {
    const { login } = kept(key)
    if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
    const step = await ask(messenger.submitCode(login.state, Redacted.make(String(phoneCode))))
    if (step._tag === "Connected") return signedIn(key, login.ref, step.userId)
    login.state = step.state
    login.wantsPassword = true
    key.of["hint"] = step.hint
    return refuse(401, "SESSION_PASSWORD_NEEDED")
  },
  "auth.checkPassword": async (key, { password }) => {
    const { login } = kept(key)
    if (login === undefined) return refuse(400, "PHONE_CODE_EXPIRED")
    const proved = await proves(key, password)
    const known = proved?.known ?? Redacted.make("no such password")
    const { userId } = await ask(messenger.submitPassword(login.state, known))
    return signedIn(key, login.ref, userId)
  },
  "auth.logOut": async (key) => {
    const { login } = kept(key)
    if (login === undefined) await ask((await live(key)).logOut)
    else await ask(messenger.cancel(login.state))
    for (const name of ["login", "ref", "userId"]) delete key.of[name]
    return { _: "auth.loggedOut" }
  }
})
