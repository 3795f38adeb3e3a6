import { Effect } from "effect"
import { refuse } from "../OAuthRefusal.ts"
import type { Parameters } from "../Parameters.ts"
import { isLoopback } from "../RedirectUri.ts"

/** The modes that an application may ask for: who opens the archive for it. */
export const archiveModes = ["cloud", "local"] as const
export type ArchiveMode = typeof archiveModes[number]

/**
 * The mode of the parameter `archive_mode`, an extension; `cloud` by default. `local` is for a program on its user's own
 * machine, which a callback on loopback shows: it is given what the archive password is guessed against.
 */
export const checkArchiveMode = (parameters: Parameters, redirectUri: string) => {
  const asked = parameters.get("archive_mode") ?? "cloud"
  const mode = archiveModes.find((one) => one === asked)
  return mode === undefined
    ? Effect.fail(refuse("invalid_request", "The archive_mode is cloud or local."))
    : mode === "local" && !isLoopback(redirectUri)
    ? Effect.fail(refuse("invalid_request", "The archive_mode local takes a redirect_uri on the user's own machine."))
    : Effect.succeed(mode)
}
