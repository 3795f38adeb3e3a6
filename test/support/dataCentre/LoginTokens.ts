/** Signing in by a token that somebody who is signed in accepts. */
import * as crypto from "node:crypto"
import { SessionRef } from "../../../src/domain/messenger/Messenger.ts"
import { type Clients, type Handlers, kept, refuse } from "./Clients.ts"
import type * as DataCentre from "./DataCentre.ts"
import type { Passwords } from "./Passwords.ts"
import { authorizationOf, userOf } from "./Said.ts"
import type { Word } from "./Words.ts"

/** At the data centre `here` of some, by their numbers. */
export const handlers = (
  { ask, live, profile }: Clients,
  { passwordOf }: Passwords,
  centres: ReadonlyArray<DataCentre.DataCentre>,
  here: number
): Handlers => {
  const offering = (token: Buffer) =>
    centres.flatMap(({ keys }) => [...keys.values()]).find((one) => kept(one).offer?.equals(token) === true)

  const offerTaken = async (key: DataCentre.Key): Promise<Word> => ({
    _: "auth.loginTokenSuccess",
    authorization: { _: "auth.authorization", user: userOf(await profile(key)) }
  })

  return {
    "auth.exportLoginToken": async (key) => {
      const own = kept(key)
      if (own.moves !== undefined) return { _: "auth.loginTokenMigrateTo", dcId: own.moves.home, token: own.offer }
      if (own.ref !== undefined) return offerTaken(key)
      own.offer ??= crypto.randomBytes(32)
      return { _: "auth.loginToken", expires: Math.floor(Date.now() / 1000) + 30, token: own.offer }
    },
    "auth.importLoginToken": async (key, { token }) => {
      const { moves } = kept(offering(token) ?? refuse(400, "AUTH_TOKEN_INVALID"))
      if (moves?.home !== here) return refuse(400, "AUTH_TOKEN_INVALID")
      Object.assign(key.of, { ref: moves.ref, userId: moves.userId })
      return offerTaken(key)
    },
    "auth.acceptLoginToken": async (key, { token }) => {
      const other = offering(token)
      if (other === undefined) return refuse(400, "AUTH_TOKEN_INVALIDX")
      if (kept(other).ref !== undefined || kept(other).moves !== undefined) {
        return refuse(400, "AUTH_TOKEN_ALREADY_ACCEPTED")
      }
      const session = await live(key)
      const ref = SessionRef.make(`wire-${other.id}`)
      const password = await passwordOf(key)
      const paired = await ask(session.pair(ref, password?.known ?? null))
      const signedIn = { ref, userId: kept(key).userId! }
      if (centres[here - 1]!.keys.has(other.id)) Object.assign(other.of, signedIn)
      else kept(other).moves = { ...signedIn, home: here }
      const listed = (await ask(session.authorizations)).find(({ id }) => id === paired.seenAs)
      return listed === undefined ? refuse(500, "INTERNAL") : authorizationOf(listed)
    }
  }
}
