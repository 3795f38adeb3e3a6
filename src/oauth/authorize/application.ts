/** The identity of an application for those who approve it. */
import type { OAuthClient } from "../../domain/oauth/OAuthRecords.ts"
import { isDocumentAddress } from "../ClientDocument.ts"
import { hostOf, isLoopback } from "../RedirectUri.ts"

/**
 * Its own address where it has one; else the host that its codes go to, since anybody may register under any name. Of a
 * program on the admin's machine, whose port comes and goes, that is the machine.
 */
export const applicationOf = (client: OAuthClient, redirectUri: string): string =>
  isDocumentAddress(client.id)
    ? client.id
    : isLoopback(redirectUri)
    ? new URL(redirectUri).hostname
    : hostOf(redirectUri)
