import type { ErrorCode } from "../OAuthRefusal.ts"
import { append } from "../Parameters.ts"
import type { IdentifiedRequest } from "./Request.ts"

/** The address of the application with an answer in its query, the state and the issuer (RFC 9207). */
const answer = (request: IdentifiedRequest, members: Readonly<Record<string, string>>): string =>
  append(request.redirectUri, { ...members, state: request.state, iss: request.issuer.baseUrl })

export const redirectCode = (request: IdentifiedRequest, code: string): string => answer(request, { code })

export const redirectError = (request: IdentifiedRequest, error: ErrorCode, description: string): string =>
  answer(request, { error, error_description: description })
