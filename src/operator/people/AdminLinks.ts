/** The links that an operator makes for admins. */
import { Effect, Schema } from "effect"
import { Timestamp } from "../../domain/JsonShapes.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { adminStatus } from "../../domain/people/Admin.ts"
import { waits } from "../../domain/people/AdminRules.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import { ConsoleAddress } from "../../ports/signin/ConsoleAddress.ts"
import { IdentityProviders } from "../../ports/signin/IdentityProviders.ts"
import { PasswordResets } from "../../ports/signin/PasswordResets.ts"
import { change, entry } from "../Journaled.ts"
import { adminRef } from "../RequestFields.ts"
import { refuse } from "../UseCase.ts"
import { AdminId, locked } from "./Admins.ts"

/** An admin, and the address of the console in the link; without one it is that of the service. */
const ForLink = Schema.Struct({ ...adminRef, console_url: Schema.optionalKey(Schema.NullOr(Schema.String)) })

/** A link that is made for an admin. */
const Link = Schema.Struct({
  ...AdminId.fields,
  console_url: Schema.String,
  token: Schema.RedactedFromValue(Schema.String),
  expires_at: Timestamp
})

/** Refuses a link into an organization that was wound down, which would open nothing. */
const demandOpen = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const { closed_at } = yield* (yield* Organizations).facts({ organizationId })
  if (closed_at !== null) return yield* refuse(`${organizationId} is closed: organizations reopen opens it again.`)
})

/** The address of the organization's console, refused where neither the request nor this process knows one. */
const addressFor = Effect.fnUntraced(function*(organizationId: OrganizationId, given: string | null = null) {
  return given ?? (yield* ConsoleAddress)(organizationId) ?? (yield* refuse(
    "Nothing here says where people reach the console: set CONSOLE_BASE_URL as the service has it, or give --console-url."
  ))
})

export const renewInvitation = change(
  "admins_invitation",
  ForLink,
  Link,
  ({ console_url: given, email, organization }, { at, id }) =>
    Effect.gen(function*() {
      const console_url = yield* addressFor(id, given)
      const managed = yield* ManagedAdmins
      const admin = yield* locked(id, email)
      const refused = waits(admin)
      if (refused !== null) return yield* refuse(refused.message)
      yield* demandOpen(id)
      const { expiresAt, token } = yield* managed.reinvite(id, admin.id, at)
      return [
        { organization, email, admin_id: admin.id, console_url, token, expires_at: expiresAt },
        entry("admin.invitation_resent", admin.id, { email })
      ]
    })
)

/** Makes the link by which an admin who has forgotten the password chooses another one. */
export const makePasswordLink = change(
  "admins_password_link",
  ForLink,
  Link,
  ({ console_url: given, email, organization }, { at, id }) =>
    Effect.gen(function*() {
      const console_url = yield* addressFor(id, given)
      const resets = yield* PasswordResets
      const providers = yield* IdentityProviders
      const admin = yield* locked(id, email)
      if (adminStatus(admin) !== "active") {
        return yield* refuse(
          `${email} is ${adminStatus(admin)}: only who has joined and is enabled has a password.`
        )
      }
      if (admin.role !== "owner" && (yield* providers.find(id))?.required === true) {
        return yield* refuse(
          `${email} signs in by the identity provider of ${organization}, and a link to a new password opens nothing. ` +
            "What pages ask for again is set by admins set-password."
        )
      }
      yield* demandOpen(id)
      const origin = { mailed: false, knownBrowser: false }
      const { expiresAt, token } = yield* resets.make({ organizationId: id, adminId: admin.id }, origin, at)
      return [
        { organization, email, admin_id: admin.id, console_url, token, expires_at: expiresAt },
        entry("password_reset.link_made", admin.id, { email })
      ]
    })
)
