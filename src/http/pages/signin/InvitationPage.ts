/** The page on which an invited admin sets a password. */
import { Clock, Effect, Redacted } from "effect"
import { invitationPath } from "../../../ports/signin/ConsoleAddress.ts"
import { Invitations, type OpenInvitation } from "../../../ports/signin/Invitations.ts"
import { home, Html, html, type PageRequest, Serving } from "../kit/index.ts"
import * as NewPassword from "./NewPassword.ts"
import { attemptOf, limited } from "./NewPassword.ts"
import * as SignInSteps from "./SignInSteps.ts"

const path = invitationPath

const ended = (visit: PageRequest) =>
  NewPassword.ended(visit, {
    text: "An invitation works once and for 7 days, and stops when it is sent again.",
    advice: "Ask whoever invited you to send the invitation again."
  })

const show = (
  visit: PageRequest,
  { email, organizationName, role }: OpenInvitation,
  token: Redacted.Redacted,
  faults: Html.Faults,
  status?: number
) =>
  Html.respond({
    base: visit.base,
    title: faults.size === 0 ? "Invitation" : "Problem: invitation",
    narrow: true,
    status,
    body: html`
<h1>You are invited</h1>
<p class="lead">Set a password to become an admin of <strong>${organizationName}</strong>, with the role ${role}.</p>
${Html.summary(faults)}
<form method="post" action="${visit.base}${path}" class="card">
  ${NewPassword.fields(token, email, "Password", faults)}
  <button class="main">Set password and sign in</button>
</form>`
  })

/** The form that a valid link opens. */
const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const invitations = yield* Invitations
    const token = Redacted.make(new URLSearchParams(visit.query).get("token") ?? "")
    const found = yield* invitations.look(token, visit.site, attemptOf(visit))
    return found === null ? yield* ended(visit) : yield* show(visit, found, token, Html.noFaults)
  }).pipe(limited(visit))

/** Sets the password, uses the invitation up, and signs the new admin in. */
const post = (visit: PageRequest) =>
  Effect.gen(function*() {
    const invitations = yield* Invitations
    return yield* NewPassword.choose(visit, {
      look: (token) => invitations.look(token, visit.site, attemptOf(visit)),
      set: (token, password) => invitations.accept(token, password, visit.site, attemptOf(visit)),
      show: (found, token, faults) => show(visit, found, token, faults, 400),
      ended: ended(visit),
      done: (joined) =>
        Effect.gen(function*() {
          const since = new Date(yield* Clock.currentTimeMillis)
          return yield* SignInSteps.signIn(visit, joined, { since, details: { way: "invitation" } }, home)
        }),
      differs: "This is not the same as the password."
    })
  }).pipe(limited(visit))

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
