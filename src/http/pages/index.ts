/** The console's pages, each with its method and path. */
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Consent from "./Consent.ts"
import * as Developer from "./Developer.ts"
import * as Html from "./Html.ts"
import * as Invitation from "./Invitation.ts"
import * as NewKey from "./NewKey.ts"
import * as Security from "./Security.ts"
import * as SignIn from "./SignIn.ts"
import * as Style from "./Style.ts"
import * as Visit from "./Visit.ts"

const all = [
  { method: "GET", path: Consent.path, serve: Visit.serve(Consent.get) },
  { method: "POST", path: Consent.path, serve: Visit.serve(Consent.post) },
  { method: "GET", path: SignIn.path, serve: Visit.serve(SignIn.get) },
  { method: "POST", path: SignIn.path, serve: Visit.serve(SignIn.post) },
  { method: "POST", path: SignIn.outPath, serve: Visit.serve(SignIn.postOut) },
  { method: "GET", path: Invitation.path, serve: Visit.serve(Invitation.get) },
  { method: "POST", path: Invitation.path, serve: Visit.serve(Invitation.post) },
  { method: "GET", path: Developer.path, serve: Visit.serve(Developer.get) },
  { method: "GET", path: NewKey.path, serve: Visit.serve(NewKey.get) },
  { method: "POST", path: NewKey.createPath, serve: Visit.serve(NewKey.create) },
  { method: "POST", path: Developer.revokePath, serve: Visit.serve(Developer.revoke) },
  { method: "POST", path: Developer.disconnectPath, serve: Visit.serve(Developer.disconnect) },
  { method: "GET", path: Security.path, serve: Visit.serve(Security.get) },
  { method: "POST", path: Security.passwordPath, serve: Visit.serve(Security.changePassword) },
  { method: "POST", path: Security.endPath, serve: Visit.serve(Security.end) },
  {
    method: "GET",
    path: "/console",
    serve: Visit.serve(({ base }) => Effect.succeed(Html.redirect(`${base}${Developer.path}`)))
  },
  { method: "GET", path: Style.path, serve: Effect.succeed<HttpServerResponse.HttpServerResponse>(Style.response) }
] as const

/** What the pages need; their layers live elsewhere. */
export type Services = Exclude<Effect.Services<(typeof all)[number]["serve"]>, HttpServerRequest.HttpServerRequest>

/** One page, or what answers a form of one. */
export interface Served {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly serve: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Services
  >
}

/** Every page; all of them work without a script. */
export const pages: ReadonlyArray<Served> = all
