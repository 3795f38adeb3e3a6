/** The sessions of an account. */
import { AuthorizationId } from "../../../src/domain/messenger/Messenger.ts"
import type { Clients, Handlers } from "./Clients.ts"
import { authorizationOf } from "./Said.ts"

export const handlers = ({ ask, live }: Clients): Handlers => ({
  "account.getAuthorizations": async (key) => ({
    _: "account.authorizations",
    authorizationTtlDays: 180,
    authorizations: (await ask((await live(key)).authorizations)).map(authorizationOf)
  }),
  "account.resetAuthorization": async (key, { hash }) => {
    await ask((await live(key)).signOut(AuthorizationId.make(hash.toString())))
    return true
  },
  "account.changeAuthorizationSettings": async (key, { hash }) => {
    await ask((await live(key)).confirm(AuthorizationId.make(hash.toString())))
    return true
  }
})
