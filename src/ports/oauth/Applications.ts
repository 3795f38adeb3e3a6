/** The applications that the admins of an organization may connect. */
import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"

export interface ApplicationRules {
  /** True if an application has to be approved before others than owner and superadmins may connect it. */
  readonly approvalRequired: boolean
  /** The hosts or addresses of the approved ones, in their order. */
  readonly approved: ReadonlyArray<string>
}

/** The organization's approvals, within its transaction; each change returns true if it changed anything. */
export class Applications extends Context.Service<Applications, {
  rules(organizationId: OrganizationId): Effect.Effect<ApplicationRules>
  requireApproval(organizationId: OrganizationId, required: boolean): Effect.Effect<boolean>
  approve(organizationId: OrganizationId, application: string, now: Date): Effect.Effect<boolean>
  withdraw(organizationId: OrganizationId, application: string): Effect.Effect<boolean>
}>()("org-security-console/ports/oauth/Applications") {}
