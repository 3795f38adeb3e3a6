/** The addresses that the service answers at (specification, section 9): its own, and each organization's. */
import { Context } from "effect"
import type { OrganizationId } from "../domain/people/Access.ts"

/** One address; on an organization's own, credentials of others are unknown. */
export interface Site {
  /** The value of `{base_url}` there: a scheme, a host and perhaps a path, without a slash at the end. */
  readonly baseUrl: string
  readonly organizationId: OrganizationId | null
}

/** The address of the service; it comes from configuration, never from the request's Host header. */
export class Sites extends Context.Service<Sites, {
  /** The site of a Host header, undefined for a host that is not ours. */
  find(host: string | undefined): Site | undefined
  /**
   * The address of an organization's console: its own site, otherwise the first shared one; null where there is none.
   */
  addressOf(organizationId: OrganizationId): string | null
}>()("org-security-console/transport/Site/Sites") {}

/**
 * The forms in which a client may write the host of an address: the port may be left out where it is the scheme's own.
 */
const hosts = (baseUrl: string): ReadonlyArray<string> => {
  const { host, hostname, port, protocol } = new URL(baseUrl)
  return port === "" ? [host, `${hostname}:${protocol === "https:" ? 443 : 80}`] : [host]
}

/** The sites by the host of their address. */
export const make = (sites: ReadonlyArray<Site>): Sites["Service"] => {
  const byHost = new Map(sites.flatMap((site) => hosts(site.baseUrl).map((host) => [host, site] as const)))
  const of = (organizationId: OrganizationId | null) => sites.find((site) => site.organizationId === organizationId)
  return {
    find: (host) => byHost.get((host ?? "").toLowerCase()),
    addressOf: (organizationId) => (of(organizationId) ?? of(null))?.baseUrl ?? null
  }
}
