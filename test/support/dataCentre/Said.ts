/** What the simulated platform answers, in the words of the real one. */
import { Long } from "@mtcute/core"
import type { Authorization, MessengerEvent, Profile, SessionEnd } from "../../../src/domain/messenger/Messenger.ts"
import type { CodeSent } from "../../../src/ports/messenger/MessengerLogin.ts"
import type { Word } from "./Words.ts"

const endings: Readonly<Record<SessionEnd, readonly [number, string]>> = {
  never: [401, "AUTH_KEY_UNREGISTERED"],
  revoked: [401, "SESSION_REVOKED"],
  logged_out: [401, "AUTH_KEY_UNREGISTERED"],
  deleted: [401, "USER_DEACTIVATED"],
  banned: [401, "USER_DEACTIVATED_BAN"],
  key_duplicated: [406, "AUTH_KEY_DUPLICATED"]
}

const reasons: Readonly<Record<string, readonly [number, string]>> = {
  phone_invalid: [406, "PHONE_NUMBER_INVALID"],
  phone_banned: [400, "PHONE_NUMBER_BANNED"],
  phone_not_registered: [400, "PHONE_NUMBER_UNOCCUPIED"],
  code_invalid: [400, "PHONE_CODE_INVALID"],
  code_expired: [400, "PHONE_CODE_EXPIRED"],
  attempts_exhausted: [400, "PHONE_CODE_EXPIRED"],
  taken: [400, "USERNAME_OCCUPIED"],
  malformed: [400, "USERNAME_INVALID"],
  purchasable: [400, "USERNAME_PURCHASE_AVAILABLE"],
  about_too_long: [400, "ABOUT_TOO_LONG"]
}

const emails: Readonly<Record<string, readonly [number, string]>> = {
  invalid: [400, "EMAIL_INVALID"],
  not_allowed: [400, "EMAIL_NOT_ALLOWED"],
  not_set_up: [400, "EMAIL_NOT_SETUP"],
  code_invalid: [400, "CODE_INVALID"],
  code_expired: [400, "EMAIL_HASH_EXPIRED"]
}

const passkeys: Readonly<Record<string, readonly [number, string]>> = {
  too_soon: [406, "FRESH_RESET_AUTHORISATION_FORBIDDEN"],
  client_not_allowed: [400, "PASSKEY_ORIGIN_MISMATCH"],
  not_available: [403, "ACCESS_DENIED"],
  limit: [400, "PASSKEYS_TOO_MUCH"],
  invalid: [400, "CREDENTIAL_INVALID"]
}

export interface Failure {
  readonly _tag: string
  readonly reason?: string
  readonly field?: string
  readonly retryAfterSeconds?: number
}

const refusedChats: Readonly<Record<string, readonly [number, string]>> = {
  private: [400, "CHANNEL_PRIVATE"],
  banned: [400, "USER_BANNED_IN_CHANNEL"],
  left: [400, "CHAT_FORBIDDEN"],
  unknown: [400, "CHANNEL_INVALID"]
}

/** A failure of the simulated platform in the words of the real one. */
export const worded = ({ _tag, field, reason = "", retryAfterSeconds }: Failure): readonly [number, string] => {
  switch (_tag) {
    case "NoSession":
      return endings[reason as SessionEnd]
    case "PlatformBusy":
      return [420, `FLOOD_WAIT_${retryAfterSeconds}`]
    case "PlatformUnavailable":
      return [500, "INTERNAL"]
    case "SignOutLocked":
      return [406, "FRESH_RESET_AUTHORISATION_FORBIDDEN"]
    case "UnknownAuthorization":
      return [400, "HASH_INVALID"]
    case "PasswordInvalid":
      return [400, "PASSWORD_HASH_INVALID"]
    case "EmailRefused":
      return emails[reason] ?? [400, "EMAIL_INVALID"]
    case "PasskeyRefused":
      return passkeys[reason] ?? [400, "CREDENTIAL_INVALID"]
    case "ChatRefused":
      return refusedChats[reason] ?? [400, "CHANNEL_INVALID"]
    case "PositionRefused":
      return [400, "PERSISTENT_TIMESTAMP_INVALID"]
    case "FileGone":
      return [400, "FILE_ID_INVALID"]
    case "ProfileRefused":
      return reason === "name_invalid"
        ? [400, field === "first_name" ? "FIRSTNAME_INVALID" : "LASTNAME_INVALID"]
        : [400, "ABOUT_TOO_LONG"]
    default:
      return reasons[reason] ?? [400, reason === "" ? "REFUSED" : reason]
  }
}

export const seconds = (date: Date | null): number => date === null ? 0 : Math.floor(date.getTime() / 1000)

export const userOf = (profile: Profile): Word => ({
  _: "user",
  self: true,
  id: Number(profile.user_id),
  ...(profile.first_name === null ? {} : { firstName: profile.first_name }),
  ...(profile.last_name === null ? {} : { lastName: profile.last_name }),
  ...(profile.username === null ? {} : { username: profile.username }),
  ...(profile.phone === null ? {} : { phone: profile.phone }),
  ...(profile.photo_id === null
    ? {}
    : { photo: { _: "userProfilePhoto", photoId: Long.fromString(profile.photo_id), dcId: 1 } }),
  premium: profile.premium
})

export const authorizationOf = (one: Authorization): Word => ({
  _: "authorization",
  current: one.current,
  officialApp: false,
  passwordPending: one.password_pending,
  unconfirmed: one.unconfirmed,
  hash: Long.fromString(one.id),
  deviceModel: one.device_model ?? "",
  platform: one.platform ?? "",
  systemVersion: "",
  apiId: 1,
  appName: one.app_name ?? "",
  appVersion: one.app_version ?? "",
  dateCreated: seconds(one.created_at),
  dateActive: seconds(one.last_active_at),
  ip: one.ip ?? "",
  country: one.country ?? "",
  region: ""
})

export const updateOf = (event: MessengerEvent, now: number): Word | null => {
  const short = (update: Word): Word => ({ _: "updateShort", update, date: now })
  switch (event._tag) {
    case "NewAuthorization":
      return short({
        _: "updateNewAuthorization",
        unconfirmed: true,
        hash: Long.fromString(event.id),
        date: now,
        device: "",
        location: ""
      })
    case "AuthorizationResolved":
      return short({ _: "updateNewAuthorization", hash: Long.fromString(event.id) })
    case "ProfileChanged":
      return short({ _: "updateUser", userId: 1 })
    case "CodeSent":
      return {
        _: "updateShortMessage",
        id: 1,
        userId: 777_000,
        message: "Login code",
        pts: 1,
        ptsCount: 1,
        date: now
      }
    case "Gap":
      return { _: "updatesTooLong" }
    case "Lost":
      return null
  }
}

const channels: Readonly<Record<string, string>> = {
  app: "auth.sentCodeTypeApp",
  sms: "auth.sentCodeTypeSms",
  call: "auth.sentCodeTypeCall"
}

export const sentCode = (sent: CodeSent, now: number): Word => ({
  _: "auth.sentCode",
  type: sent.channel === "email"
    ? { _: "auth.sentCodeTypeEmailCode", emailPattern: "j***@example.com", length: sent.codeLength }
    : { _: channels[sent.channel] ?? "auth.sentCodeTypeSms", length: sent.codeLength },
  phoneCodeHash: "hash",
  ...(sent.resendAt === null ? {} : { timeout: Math.ceil((sent.resendAt.getTime() - now) / 1000) })
})

const configNumbers = [
  "chatSizeMax",
  "megagroupSizeMax",
  "forwardedCountMax",
  "onlineUpdatePeriodMs",
  "offlineBlurTimeoutMs",
  "offlineIdleTimeoutMs",
  "onlineCloudTimeoutMs",
  "notifyCloudDelayMs",
  "notifyDefaultDelayMs",
  "pushChatPeriodMs",
  "pushChatLimit",
  "editTimeLimit",
  "revokeTimeLimit",
  "revokePmTimeLimit",
  "ratingEDecay",
  "stickersRecentLimit",
  "channelsReadMediaPeriod",
  "callReceiveTimeoutMs",
  "callRingTimeoutMs",
  "callConnectTimeoutMs",
  "callPacketTimeoutMs",
  "captionLengthMax",
  "messageLengthMax",
  "webfileDcId"
]

/** The settings that a data centre tells: which one it is, and where each of them listens. */
export const configOf = (here: number, ports: ReadonlyArray<number>): Word => {
  const now = Math.floor(Date.now() / 1000)
  return {
    _: "config",
    ...Object.fromEntries(configNumbers.map((name) => [name, 0])),
    date: now,
    expires: now + 3600,
    testMode: false,
    thisDc: here,
    dcOptions: ports.map((port, at) => ({ _: "dcOption", id: at + 1, ipAddress: "127.0.0.1", port })),
    dcTxtDomainName: "",
    meUrlPrefix: ""
  }
}

/** The full form of a channel that has nothing but its box and the lowest id that the asker may see. */
export const fullChannel = (
  id: unknown,
  { availableMinId, pts }: { readonly availableMinId: number; readonly pts: number }
): Word => ({
  _: "messages.chatFull",
  fullChat: {
    _: "channelFull",
    id,
    about: "",
    readInboxMaxId: 0,
    readOutboxMaxId: 0,
    unreadCount: 0,
    chatPhoto: { _: "photoEmpty", id: Long.ZERO },
    notifySettings: { _: "peerNotifySettings" },
    botInfo: [],
    pts,
    availableMinId
  },
  chats: [],
  users: []
})
