/** The consent page: the application, where the access goes, and what of it the admin grants. */
import { Effect, Option, Redacted, Schema } from "effect"
import { ResourceMissing } from "../../../domain/Failure.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { needsPassword } from "../../../domain/people/Access.ts"
import * as Authorize from "../../../oauth/authorize/Authorize.ts"
import { isDocumentAddress } from "../../../oauth/ClientDocument.ts"
import { hostOf, isLoopback } from "../../../oauth/RedirectUri.ts"
import { ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { ArchiveUnlock, type Unlocked } from "../../../ports/archive/ArchiveUnlock.ts"
import { Db } from "../../../ports/Db.ts"
import { ConsoleSessions, type SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as Scopes from "../credentials/ScopeBoxes.ts"
import { Fields, Html, html, Lead, type PageRequest, Problem, SentForm, Serving } from "../kit/index.ts"
import * as SignInSteps from "../signin/SignInSteps.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as AccountChoice from "./AccountChoice.ts"
import * as Replacing from "./Replacing.ts"

const path = "/oauth/authorize"

/**
 * The text that the form's token is bound to: the exact query, and the name shown, which a document may change
 * meanwhile.
 */
const consentForm = (query: string, { client }: Authorize.AuthorizeRequest): string =>
  `authorize ${query} ${client.name}`

/** The content of the form. */
interface Draft {
  readonly scopes: ReadonlyArray<string>
  readonly accounts: AccountChoice.AccountChoiceDraft
  /** The connections that this one takes the place of; none before the admin has chosen. */
  readonly replaces: ReadonlyArray<string> | undefined
}

interface ConsentView {
  readonly draft: Draft
  readonly faults: Html.Faults
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The application: its unverified texts are shown as quotations, apart from the console's own texts. */
const asking = (
  { client, host, known, redirectUri, resource }: Authorize.AuthorizeRequest,
  admin: SignedIn
): Html.Html =>
  html`
<section aria-label="The application" class="asking">
  ${Html.application(known)}
  <dl class="facts">
    <dt>It calls itself</dt>
    <dd>${Html.claimed(client.name)}</dd>
    ${
    isDocumentAddress(client.id)
      ? html`<dt>It is described at</dt>
    <dd><span class="host${hostOf(client.id).length > 40 ? " long" : ""}" dir="ltr">${hostOf(client.id)}</span></dd>`
      : undefined
  }
    <dt>Access goes to</dt>
    <dd>
      <span class="host${host.length > 40 ? " long" : ""}" dir="ltr">${host}</span>
      ${
    isLoopback(redirectUri)
      ? html`<span class="hint">A program on the computer that you use now.</span>`
      : host.length > 40
      ? html`<span class="hint">Read this address to its end: its end says whom it belongs to.</span>`
      : undefined
  }
    </dd>
    <dt>It acts as</dt>
    <dd>you, ${Html.named(admin.adminName ?? admin.email)}, in ${Html.named(admin.organizationName)}, through the ${
    resource === "mcp" ? "tools for assistants" : "API"
  }</dd>
  </dl>
  <p class="hint">${
    known === null
      ? "The name was chosen by the application and proves nothing. "
      : "The name was chosen by the application and proves nothing by itself; the address is known here. "
  }Allow this only if you have just started it yourself, and the address is where you expect your application to be.</p>
</section>`

/** The meaning of the mode `local` for the admin. */
const openedElsewhere = ({ archiveMode, offered }: Authorize.AuthorizeRequest): Html.Html | undefined =>
  archiveMode === "cloud" || !offered.includes("archive:read") ? undefined : html`
<fieldset id="archive-mode">
  <legend>Archived chats are opened on your computer</legend>
  <p>This service sends them sealed, and never gets the archive password: the application asks for it on the computer where it runs, and opens the chats there. This service sees which chats it reads, and not what is in them or what is searched for.</p>
  <p class="hint">Who has that computer can read what the application reads. It is also sent the archive's key under the password, so that a password that can be guessed does not protect it.</p>
</fieldset>`

/** The key of the archive that the application may be let read without asking; null where there is nothing to keep. */
const keyFor = (request: Authorize.AuthorizeRequest, { organizationId, readsArchive }: SignedIn) =>
  !request.offered.includes("archive:read") || !readsArchive || request.archiveMode === "local"
    ? Effect.succeed(null)
    : Effect.flatMap(
      Effect.all([ArchiveKeys, Db]),
      ([keys, db]) => db.read(organizationId, keys.current(organizationId))
    )

const archiveField = (faults: Html.Faults): Html.Html =>
  Fields.password(faults, {
    name: "archive_password",
    label: "Archive password (optional)",
    hint:
      "With it, the application reads archived chats for as long as it is connected. It is kept sealed under the application's own tokens, never in a form that the service can open alone. Without it, the application has to send it with each request. The password of a key that was replaced opens only what was archived under that key.",
    autocomplete: "off",
    required: false
  })

/** The archive did not open by the typed password. */
class NotOpened extends Schema.TaggedError<NotOpened>()("NotOpened", {
  message: Schema.String,
  status: Schema.Finite,
  headers: Schema.Record(Schema.String, Schema.String)
}) {}

const wrongPassword = "This is not the archive password. Leave it empty to connect the application without it."

/** Opens the archive by the typed password, if it is to be kept; it counts and is journaled as everywhere. */
const opened = Effect.fnUntraced(function*(
  visit: PageRequest,
  request: Authorize.AuthorizeRequest,
  admin: SignedIn,
  scopes: ReadonlyArray<string>,
  password: Redacted.Redacted
) {
  if (Redacted.value(password) === "" || !scopes.includes("archive:read")) return null
  const key = yield* keyFor(request, admin)
  if (key === null) return null
  const caller = Serving.caller(visit, admin)
  const unlock = yield* ArchiveUnlock
  const refused = (status: number, message: string, headers = {}) =>
    Effect.fail(new NotOpened({ status, message, headers }))
  return yield* unlock.open({ ...caller, extras: { archivePassword: password } }, key).pipe(
    Effect.tapError((failure) => RequestLog.noteFailure(failure._tag)),
    Effect.catchTag(
      "too_many_attempts",
      (failure) => refused(429, failure.message, { "retry-after": String(failure.retry_after) })
    ),
    Effect.catchTag(
      ["archive_password_invalid", "archive_password_required", "bridge_required"],
      () => refused(422, wrongPassword)
    )
  )
})

const show = Effect.fnUntraced(
  function*(visit: PageRequest, admin: SignedIn, request: Authorize.AuthorizeRequest, shown: ConsentView) {
    const sessions = yield* ConsoleSessions
    const { base, query } = visit
    const { draft, faults } = shown
    const choices = yield* Authorize.choices(admin, AccountChoice.wanted(draft.accounts))
    const connections = yield* Authorize.replaceable(request, admin)
    const action = `${base}${path}?${query}`
    const keepable = (yield* keyFor(request, admin)) !== null
    const passwordAsked = request.offered.some(needsPassword)
    const stepUp: StepUp.Part = passwordAsked ? yield* StepUp.part({ admin, visit }, faults, Scopes.whenNeeded) : {}
    const formAction = Lead.formAction(visit, request.redirectUri)
    return yield* Html.respond({
      base,
      title: faults.size === 0 ? "Connect an application" : "Problem: connect an application",
      admin,
      signOut: sessions.csrf(admin.sessionId, Serving.outForm),
      returnTo: `${path}?${query}`,
      ...(formAction === undefined ? {} : { formAction }),
      ...(shown.status === undefined ? {} : { status: shown.status }),
      ...(shown.headers === undefined ? {} : { headers: shown.headers }),
      script: stepUp.script,
      body: html`
<h1>Connect an application?</h1>
<p class="lead">An application asks for access to your organization. You decide what it may use and do.</p>
${Html.summary(faults)}
${asking(request, admin)}
<form method="post" action="${action}">
  <input type="hidden" name="csrf" value="${sessions.csrf(admin.sessionId, consentForm(query, request))}">
  ${Replacing.field(connections, draft.replaces ?? Replacing.ticked(connections, request.client.name))}
  <section aria-label="Accounts">${AccountChoice.field(choices, draft.accounts, faults, action)}</section>
  <section aria-label="Permissions">
    <fieldset id="scopes">
      <legend>What it may do</legend>
      <p class="hint">Never more than your own role and access allow at the time.</p>
      ${Html.fault(faults, "scopes")}
      ${Scopes.boxes(request.offered, draft.scopes, { limited: true })}
    </fieldset>
    ${keepable ? archiveField(faults) : undefined}
    ${openedElsewhere(request)}
    ${passwordAsked ? Scopes.passwordField(faults, admin.email) : undefined}
    ${stepUp.field}
  </section>
  <div class="actions even">
    <button class="main" name="decision" value="allow">Allow</button>
    <button name="decision" value="deny">Deny</button>
  </div>
</form>
<p class="hint after">You can disconnect it at any time on the <a href="${base}/console/developer">Developer page</a>.</p>`
    })
  }
)

const reasons = {
  query: "The application that sent you here asks for more than fits into a request.",
  client_id:
    "The application that sent you here is not registered with this service, or its registration has ended because nobody connected it within a day.",
  document:
    "The application that sent you here names a document that describes it, and that could not be read or is not as it has to be.",
  redirect_uri: "The application that sent you here wants the answer at an address that it has not registered."
}

/** Checks the request as it is, and hands it to `decide` once an admin may decide. */
const checked = <E, R>(
  visit: PageRequest,
  decide: (
    request: Authorize.AuthorizeRequest,
    admin: SignedIn
  ) => Effect.Effect<ReturnType<typeof Html.redirect>, E, R>
) =>
  Effect.gen(function*() {
    const admin = yield* Serving.admin(visit)
    if (Option.isSome(admin) && admin.value.organizationClosed) {
      return yield* Serving.closed(visit, admin.value, `${path}?${visit.query}`)
    }
    const found = yield* Authorize.check(visit.query, visit.site, admin)
    switch (found._tag) {
      case "Page":
        return yield* Problem.problem(visit.base, visit.requestId, {
          status: 400,
          title: "This application cannot be connected",
          text: reasons[found.reason],
          advice: "Start again from the application. If it happens again, contact its makers."
        })
      case "SignIn":
        return SignInSteps.toSignIn(visit, `${path}?${visit.query}`)
      case "Unapproved":
        return yield* Problem.problem(visit.base, visit.requestId, {
          status: 403,
          title: "This application has to be approved first",
          text:
            `${found.admin.organizationName} lets its admins connect approved applications alone, and ${found.application} is not one of them. Nothing was granted.`,
          advice:
            `Ask whoever operates this service for your organization to approve ${found.application}, then start again from the application.`
        })
      case "Redirect":
        return yield* Lead.to(visit, found.location)
      case "Ready":
        return yield* decide(found.request, found.admin)
    }
  })

const get = (visit: PageRequest) =>
  checked(visit, (request, admin) =>
    show(visit, admin, request, {
      draft: { scopes: request.ticked, accounts: AccountChoice.empty, replaces: undefined },
      faults: Html.noFaults
    }))

/** Everything is checked again: the form counts only for the query and the session that it was made for. */
const post = (visit: PageRequest) =>
  checked(visit, (request, admin) =>
    Effect.gen(function*() {
      const sent = yield* SentForm.read(visit, SentForm.limits.consent)
      if (Option.isNone(sent)) return yield* SentForm.foreign(visit)
      const form = sent.value
      const sessions = yield* ConsoleSessions
      if (!sessions.verifyCsrf(admin.sessionId, consentForm(visit.query, request), form.text("csrf"))) {
        return yield* SentForm.foreign(visit)
      }
      const decision = form.text("decision")
      if (decision === "deny") return yield* Lead.to(visit, Authorize.deny(request))
      const draft: Draft = {
        scopes: form.all("scope"),
        accounts: AccountChoice.read(form),
        replaces: form.all("replaces")
      }
      const again = (status: number, id: string, text: string, headers = {}) =>
        show(visit, admin, request, { draft, faults: new Map([[id, text]]), status, headers })
      if (decision === "search") {
        return form.text("password") === "" && form.text("archive_password") === ""
          ? yield* show(visit, admin, request, { draft, faults: Html.noFaults })
          : yield* again(200, "password", "Type the password again, then press Allow: nothing is granted yet.")
      }
      if (decision !== "allow") return yield* SentForm.foreign(visit)
      const choices = yield* Authorize.choices(admin, AccountChoice.wanted(AccountChoice.empty))
      const fault = AccountChoice.fault(draft.accounts, choices)
      if (fault !== undefined) return yield* again(422, "reach", fault)
      const ids = AccountChoice.chosen(draft.accounts)
      if (!ids.every(isUuid)) return yield* new ResourceMissing({})
      const asked = request.offered.some((scope) => draft.scopes.includes(scope) && needsPassword(scope))
        ? StepUp.check({ admin, visit }, form)
        : Effect.void
      const grant = (archive: Unlocked | null) =>
        Authorize.grant(request, admin, {
          archive,
          scopes: draft.scopes,
          scopeType: draft.accounts.by === "departments" ? "departments" : "accounts",
          replaces: form.all("replaces"),
          everything: draft.accounts.by === "all",
          ids,
          password: form.secret("password")
        }, {
          ip: visit.ip,
          requestId: visit.requestId
        })
      const archive = opened(visit, request, admin, draft.scopes, form.secret("archive_password"))
      return yield* Effect.andThen(asked, Effect.flatMap(archive, grant)).pipe(
        Effect.scoped,
        Serving.showRefusal,
        Effect.flatMap((location) => Lead.to(visit, location)),
        Effect.catchTag(
          "NothingChosen",
          () => again(422, "scopes", "Tick at least one thing that it may do, or deny.")
        ),
        Effect.catchTag("NotOpened", ({ headers, message, status }) =>
          again(status, "archive_password", message, headers)),
        Effect.catchTag("NotAccessible", () =>
          Effect.fail(new ResourceMissing({}))),
        Effect.catchTag("AdminGone", () => Effect.succeed(SignInSteps.toSignIn(visit, `${path}?${visit.query}`))),
        StepUp.again(again)
      )
    }))

export const routes = [Serving.route("GET", path, get), Serving.route("POST", path, post)] as const
