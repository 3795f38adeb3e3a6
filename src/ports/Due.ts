/** The objects that background work finds due. */
import type { OrganizationId } from "../domain/people/Access.ts"

/** An object that is due, and its organization. */
export interface Due {
  readonly organizationId: OrganizationId
  readonly id: string
}
