import { Schema } from "effect"

/** The name of the organization that an admin types at sign-in. It is not a UUID. */
export const OrganizationId = Schema.String.pipe(Schema.brand("OrganizationId"))
export type OrganizationId = typeof OrganizationId.Type

/** The form of an organization's id: a lower-case name that is easy to type. */
export const isOrganizationId = Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
