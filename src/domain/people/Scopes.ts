import { Schema } from "effect"

/** The permitted uses of a credential (specification, section 5.3). No scope implies another. */
export const Scope = Schema.Literals([
  "archive:read",
  "org:read",
  "accounts:write",
  "security:write",
  "admins:write",
  "archive:delete"
]).annotate({ identifier: "scope" })
export type Scope = typeof Scope.Type

/** The scopes that only read: granting them needs no console password (section 5.3). */
const readingScopes: ReadonlyArray<Scope> = ["archive:read", "org:read"]

/** Those scopes, as texts name them. */
export const readingScopesText = readingScopes.join(" and ")

/** True if granting the scope asks for the console password. */
export const needsPassword = (scope: Scope): boolean => !readingScopes.includes(scope)

/** True if what the scope covers cannot be taken back (section 5.3). */
export const isIrreversible = (scope: Scope): boolean => scope === "archive:delete"
