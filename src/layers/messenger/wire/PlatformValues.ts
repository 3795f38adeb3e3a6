/** The platform's objects as values of the domain. */
import {
  type Authorization,
  AuthorizationId,
  codeSender,
  MessengerEvent,
  MessengerUserId,
  type Profile
} from "../../../domain/messenger/Messenger.ts"
import { Long, type wire } from "./Protocol.ts"
import type { Unasked } from "./WireClient.ts"

/** Texts are cleaned where sessions are shared; here an empty one becomes null. */
const text = (value: string | undefined): string | null => value === undefined || value === "" ? null : value

const date = (seconds: number | undefined): Date | null =>
  seconds === undefined || seconds === 0 ? null : new Date(seconds * 1000)

export const longOf = (id: AuthorizationId): Long => Long.fromString(id)

const idOf = (hash: Long): AuthorizationId => AuthorizationId.make(hash.toString())

export const authorization = (one: wire.RawAuthorization): Authorization => ({
  id: idOf(one.hash),
  current: one.current === true,
  device_model: text(one.deviceModel),
  platform: text(one.platform),
  app_name: text(one.appName),
  app_version: text(one.appVersion),
  ip: text(one.ip),
  country: text(one.country),
  last_active_at: date(one.dateActive),
  created_at: date(one.dateCreated),
  password_pending: one.passwordPending === true,
  unconfirmed: one.unconfirmed === true
})

/** The username that its holder can change: others may be for display only. */
const username = (user: wire.RawUser): string | null =>
  text(user.usernames?.find(({ editable }) => editable === true)?.username ?? user.username)

export const userId = (user: wire.RawUser): MessengerUserId => MessengerUserId.make(String(user.id))

export const profile = (user: wire.RawUser, full: wire.RawUserFull): Profile => ({
  user_id: userId(user),
  first_name: text(user.firstName),
  last_name: text(user.lastName),
  username: username(user),
  about: text(full.about),
  phone: text(user.phone),
  photo_id: user.photo?._ === "userProfilePhoto" ? user.photo.photoId.toString() : null,
  premium: user.premium === true
})

const isCodeSender = (userId: number): boolean => BigInt(userId) === codeSender

const gap = MessengerEvent.make({ _tag: "Gap" })
const profileChanged = MessengerEvent.make({ _tag: "ProfileChanged" })
const codeSent = MessengerEvent.make({ _tag: "CodeSent" })

const ofUpdate = (update: wire.TypeUpdate): ReadonlyArray<MessengerEvent> => {
  switch (update._) {
    case "updateNewAuthorization":
      return [
        MessengerEvent.make({
          _tag: update.unconfirmed === true ? "NewAuthorization" : "AuthorizationResolved",
          id: idOf(update.hash)
        })
      ]
    case "updateUser":
    case "updateUserName":
    case "updateUserPhone":
      return [profileChanged]
    case "updateNewMessage":
      return update.message._ === "message" && update.message.peerId._ === "peerUser" &&
          isCodeSender(update.message.peerId.userId)
        ? [codeSent]
        : []
    default:
      return []
  }
}

/** The platform's pushes that matter here. */
export const events = (updates: Unasked): ReadonlyArray<MessengerEvent> => {
  if (updates === "again") return [gap]
  switch (updates._) {
    case "updatesTooLong":
      return [gap]
    case "updateShort":
      return ofUpdate(updates.update)
    case "updates":
    case "updatesCombined":
      return updates.updates.flatMap(ofUpdate)
    case "updateShortMessage":
      return isCodeSender(updates.userId) ? [codeSent] : []
    default:
      return []
  }
}
