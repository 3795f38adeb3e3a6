/** The request of a page, and the page of an admin who is signed in. */
import { Effect } from "effect"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import type { SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import type { Site } from "../../../transport/Site.ts"

/** The facts of a request that its page knows. */
export interface PageRequest {
  readonly site: Site
  /** The path of the site, before every address of a page. */
  readonly base: string
  /** The requested path, within the site. */
  readonly path: string
  /** The members of the path. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** The query as it was sent, without the question mark. */
  readonly query: string
  readonly cookies: string | undefined
  /** True if a browser shows what is answered to a person. */
  readonly navigates: boolean
  readonly ip: string | null
  readonly requestId: string
  readonly userAgent: string | undefined
}

/** A page of an admin who is signed in. */
export interface AdminPage {
  readonly visit: PageRequest
  readonly admin: SignedIn
  /** The token of a form of the session, by the text that it is bound to. */
  readonly csrf: (form: string) => string
  readonly now: number
}

/** The id in the address, by the member of its path; what is no id is nothing. */
export const idOf = ({ params }: PageRequest, param: string) => {
  const id = params[param]?.toLowerCase() ?? ""
  return isUuid(id) ? Effect.succeed(id) : Effect.fail(new ResourceMissing({ param }))
}

/** True if browsers have passkeys at the site: not at an address without a name. */
export const hasPasskeys = ({ site }: PageRequest): boolean => !/^[\d.]+$|^\[/.test(new URL(site.baseUrl).hostname)
