/** The actors in an organization, as its journal names them. */
import type { Caller, CredentialKind } from "../people/Access.ts"

/** The credential that something was done with, as it was called at that moment. */
export interface CredentialRef {
  readonly kind: CredentialKind
  readonly id: string
  readonly label: string
}

/**
 * An admin, the service by itself, an operator at the command line, the holder of an account, or an outsider: on the
 * messenger, or without proof of identity.
 */
export type Actor =
  | {
    readonly type: "admin"
    readonly adminId: string
    readonly name: string | null
    readonly credential: CredentialRef | null
  }
  /** With the credential that made the service act, where one did. */
  | { readonly type: "service"; readonly credential: CredentialRef | null }
  | { readonly type: "operator" | "holder" | "external" }

/** The admin that the request's credential acts as. */
export const caller = (
  { adminId, adminName, credential }: Pick<Caller["Service"], "adminId" | "adminName" | "credential">
): Actor => ({ type: "admin", adminId, name: adminName, credential })

/** An admin on a page of the console. */
export const signedIn = (
  { adminId, adminName, sessionId }: {
    readonly adminId: string
    readonly adminName: string | null
    readonly sessionId: string
  }
): Actor => ({
  type: "admin",
  adminId,
  name: adminName,
  credential: { kind: "console", id: sessionId, label: "Console" }
})

export const service: Actor = { type: "service", credential: null }
export const operator: Actor = { type: "operator" }
export const external: Actor = { type: "external" }
