/** The bearer token of a request (RFC 6750, section 2.1). */
import { Redacted } from "effect"

const scheme = /^bearer +([\x21-\x7e]+)$/i

/** The token of an `Authorization` header; empty without one, so that no credential fails like a wrong one. */
export const bearer = (authorization: string | undefined): Redacted.Redacted =>
  Redacted.make(scheme.exec(authorization ?? "")?.[1] ?? "")
