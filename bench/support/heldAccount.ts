/** What the data centre of a measurement answers of each account: its own profile, and its sessions. */
import { Long } from "@mtcute/core"
import { MessengerUserId } from "../../src/domain/messenger/Messenger.ts"
import { authorizationOf, userOf } from "../../test/support/dataCentre/Said.ts"
import type { Word } from "../../test/support/dataCentre/Words.ts"
import { own } from "../monitor/platform.ts"

const profile = {
  user_id: MessengerUserId.make("1"),
  first_name: "Ada",
  last_name: null,
  username: null,
  about: null,
  phone: "4915550000000",
  photo_id: null,
  premium: false
}

const stranger = { ...own, current: false, device_model: "Pixel 9", app_name: "App" }
const strangerHash = Long.fromString("77")

export const user: Word = userOf(profile)

export const fullUser: Word = {
  _: "users.userFull",
  fullUser: {
    _: "userFull",
    id: 1,
    settings: { _: "peerSettings" },
    notifySettings: { _: "peerNotifySettings" },
    commonChatsCount: 0
  },
  chats: [],
  users: [user]
}

/** The service's own session, and a stranger's where there is one. */
export const sessions = (hasStranger: boolean): Word => ({
  _: "account.authorizations",
  authorizationTtlDays: 180,
  authorizations: [
    authorizationOf(own),
    ...(hasStranger ? [{ ...authorizationOf({ ...stranger, created_at: new Date() }), hash: strangerHash }] : [])
  ]
})

/** The push that a stranger has signed in. */
export const signIn = (): Word => {
  const date = Math.floor(Date.now() / 1000)
  const update = { _: "updateNewAuthorization", unconfirmed: true, hash: strangerHash, date, device: "", location: "" }
  return { _: "updateShort", update, date }
}
