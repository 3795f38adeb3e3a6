/** The last reading of the things whose change is a signal: the service's own changes are not reported as others'. */
import { Context, type Effect } from "effect"
import type { Facets } from "../../domain/protection/Facts.ts"
import type { SecretsOf } from "../security/Secrets.ts"

/** Within the transaction of the process that holds the account. */
export class SeenFacets extends Context.Service<SeenFacets, {
  /** Nothing is known of them from now on: the next poll, which is due, adopts what it sees. */
  forget(of: SecretsOf, names: ReadonlyArray<keyof Facets>, now: Date): Effect.Effect<void>
  /** Keeps what a change has left behind, and shows it. */
  keep(of: SecretsOf, facets: Facets): Effect.Effect<void>
}>()("org-security-console/ports/protection/ObservedSettings/SeenFacets") {}
