/** Requests for links to a new password, as they wait for the background work. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { AdminRef } from "./ConsolePasswords.ts"

/** A request as it was typed; it may be of no admin. */
export interface ResetRequest {
  readonly organization: string
  readonly email: string
  /** The configured address of the site that was asked. */
  readonly baseUrl: string
  readonly ip: string | null
  readonly requestId: string | null
  /** The digest of the browser's secret. */
  readonly browser: string | null
}

/** The digests of an address and of its network. */
export interface RequestOrigin {
  readonly address: string
  readonly network: string
}

/** Outside any organization. */
export class ResetRequests extends Context.Service<ResetRequests, {
  /** Keeps a request in a bounded queue, or says how many of its address wait. */
  add(
    request: ResetRequest,
    origin: RequestOrigin
  ): Effect.Effect<{ readonly kept: boolean; readonly ofAddress: number }, ServiceUnavailable>
  /** Some requests, those of networks with few of them first; null for one whose pepper is no longer given. */
  list: Effect.Effect<
    ReadonlyArray<{ readonly id: string; readonly request: ResetRequest | null }>,
    ServiceUnavailable
  >
  /** The admin of a request, and whether they have signed in with its browser. */
  findAdmin(
    request: ResetRequest
  ): Effect.Effect<{ readonly admin: AdminRef; readonly known: boolean } | null, ServiceUnavailable>
  remove(id: string): Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/ports/signin/ResetRequests") {}
