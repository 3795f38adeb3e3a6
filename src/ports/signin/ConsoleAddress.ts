/** The address where people find the console of an organization. */
import { Context, Redacted } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"

/** The address without a slash at its end; null where this process serves no console. */
export const ConsoleAddress = Context.Reference<(organizationId: OrganizationId) => string | null>(
  "org-security-console/ports/signin/ConsoleAddress",
  { defaultValue: () => () => null }
)

/** The page where an invitation is accepted, below the console's address. */
export const invitationPath = "/console/invitation"

/** The page where a forgotten password is replaced, below the console's address. */
export const resetPath = "/console/reset"

const linkTo = (path: string) => (address: string, token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(`${address}${path}?token=${Redacted.value(token)}`)

/** The link by which the holder of the token accepts an invitation. */
export const invitationLink = linkTo(invitationPath)

/** The link by which the holder of the token chooses a new password. */
export const resetLink = linkTo(resetPath)
