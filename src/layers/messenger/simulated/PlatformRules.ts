/** The rules of the messaging platform, as the simulated platform applies them. */
import { Duration, Result } from "effect"
import { bioLimit, maxNameLength, maxUsernameLength, signOutLock } from "../../../domain/Limits.ts"
import { type Profile, type ProfilePatch, textOrNull } from "../../../domain/messenger/Messenger.ts"
import { ProfileRefused } from "../../../ports/messenger/MessengerSession.ts"

const minUsernameLength = 5

/** The time that the platform waits before it removes a forgotten 2FA password. */
export const resetTime = Duration.days(7)

/** A code of the platform: how long it is, how long it is good, and how soon another one is sent. */
export const codeLength = (channel: string): number => channel === "email" ? 6 : 5
export const codeLifetime = Duration.minutes(5)
export const codeWait = Duration.seconds(60)

/** The time that the code sent to an address is good. */
export const addressCodeLifetime = Duration.hours(1)

export const passkeysAtMost = 5

/** True if the platform takes the text as an e-mail address. */
export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)

/** The number of times that a code, and a password, may be wrong before a login is over. */
export const entriesAtMost = 5

const characters = (text: string): number => Array.from(text).length

type ProfileTexts = Pick<Profile, "about" | "first_name" | "last_name" | "premium">

/** True if the platform takes the text as a username: 5 to 32 letters, digits and underscores, a letter first. */
export const isUsername = (text: string): boolean =>
  text.length >= minUsernameLength && text.length <= maxUsernameLength && /^[A-Za-z][A-Za-z0-9_]*$/.test(text)

/** Usernames are compared across the whole platform without regard to case. */
export const usernameKey = (username: string): string => username.toLowerCase()

/**
 * The patch applied to a profile, or the first field that the platform refuses.
 *
 * What is set already is not judged again: a bio of 140 characters stays when premium has ended.
 */
export const applyPatch = <P extends ProfileTexts>(
  profile: P,
  patch: ProfilePatch
): Result.Result<P, ProfileRefused> => {
  const next = {
    first_name: patch.first_name === undefined ? profile.first_name : textOrNull(patch.first_name),
    last_name: patch.last_name === undefined ? profile.last_name : textOrNull(patch.last_name),
    about: patch.about === undefined ? profile.about : textOrNull(patch.about)
  }
  for (const field of ["first_name", "last_name"] as const) {
    const text = next[field] ?? ""
    if (next[field] === profile[field]) continue
    if (characters(text) > maxNameLength || (field === "first_name" && text.trim() === "")) {
      return Result.fail(new ProfileRefused({ reason: "name_invalid", field }))
    }
  }
  if (next.about !== profile.about && characters(next.about ?? "") > bioLimit(profile.premium)) {
    return Result.fail(new ProfileRefused({ reason: "about_too_long", field: "about" }))
  }
  return Result.succeed({ ...profile, ...next })
}

/** The time from which a session created at `createdAt` may sign others out and add a passkey; null if it may now. */
export const unlockedAt = (createdAt: Date, now: Date): Date | null => {
  const unlocked = createdAt.getTime() + Duration.toMillis(signOutLock)
  return unlocked > now.getTime() ? new Date(unlocked) : null
}
