/** The link of an invitation, shown once to the admin who invites, where no mail brings it. */
import { Effect, Option, type Redacted, Ref } from "effect"
import type { Admin } from "../../../domain/people/Admin.ts"
import { InvitationReceiver } from "../../../ports/people/ManagedAdmins.ts"
import { invitationLink } from "../../../ports/signin/ConsoleAddress.ts"
import { type AdminPage, Frame, Html, html } from "../kit/index.ts"
import { path } from "./PeopleWords.ts"

const page = (view: AdminPage, { email, id, invitation_expires_at }: Admin, token: Redacted.Redacted) =>
  Frame.page(view, {
    title: "Invitation made",
    body: html`
<h1>Invitation made</h1>
<p class="good" role="status">Copy the link now, and give it to ${
      Html.named(email)
    } in a way that nobody else reads: it is shown this once, and the first who opens it and chooses a password joins.</p>
<section aria-labelledby="of">
  <h2 id="of">The link</h2>
  ${
      invitation_expires_at === null
        ? undefined
        : html`<p class="hint">It works once, until ${Html.momentOf(invitation_expires_at)}.</p>`
    }
  ${Html.secretOnce(invitationLink(view.visit.site.baseUrl, token), "link")}
</section>
<p><a class="button main" href="${view.visit.base}${path}/${id}">I have copied it</a></p>`
  })

/** Runs what makes an invitation, and shows its link, or answers the path to go on to where a mail brings it. */
export const showLinkOr = <E, R>(
  view: AdminPage,
  inviting: Effect.Effect<Admin, E, R>,
  done: (invited: Admin) => string
) =>
  Effect.gen(function*() {
    const received = yield* Ref.make(Option.none<Redacted.Redacted>())
    const invited = yield* Effect.provideService(
      inviting,
      InvitationReceiver,
      (token) => Ref.set(received, Option.some(token))
    )
    const token = yield* Ref.get(received)
    return Option.isSome(token) ? yield* page(view, invited, token.value) : done(invited)
  })
