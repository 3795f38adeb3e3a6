/** The person whose account it is, as others see them. */
import type { Clients, Handlers } from "./Clients.ts"
import { userOf } from "./Said.ts"

export const handlers = ({ ask, live, profile }: Clients): Handlers => ({
  "users.getUsers": async (key) => [userOf(await profile(key))],
  "users.getFullUser": async (key) => {
    const own = await profile(key)
    return {
      _: "users.userFull",
      fullUser: {
        _: "userFull",
        id: Number(own.user_id),
        about: own.about ?? undefined,
        settings: { _: "peerSettings" },
        notifySettings: { _: "peerNotifySettings" },
        commonChatsCount: 0
      },
      chats: [],
      users: [userOf(own)]
    }
  },
  "account.updateProfile": async (key, { about, firstName, lastName }) =>
    userOf(
      await ask((await live(key)).updateProfile({
        ...(about === undefined ? {} : { about }),
        ...(firstName === undefined ? {} : { first_name: firstName }),
        ...(lastName === undefined ? {} : { last_name: lastName })
      }))
    ),
  "account.updateUsername": async (key, { username }) =>
    userOf(await ask((await live(key)).setUsername(username === "" ? null : username)))
})
