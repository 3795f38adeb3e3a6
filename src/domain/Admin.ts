/** What is kept of an admin, and what follows from it. */
import { Schema } from "effect"
import type { Role } from "./Access.ts"

export const AdminStatus = Schema.Literals(["active", "invited", "disabled"])

export interface AdminFacts {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly archive_access: boolean
  readonly has_password: boolean
  readonly created_at: Date
  readonly joined_at: Date | null
  readonly disabled_at: Date | null
}

/** Disabled, or invited as long as no password was ever set. */
export const adminStatus = (
  { disabled_at, joined_at }: Pick<AdminFacts, "disabled_at" | "joined_at">
): typeof AdminStatus.Type => disabled_at !== null ? "disabled" : joined_at === null ? "invited" : "active"
