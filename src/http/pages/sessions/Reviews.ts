/** The sessions that wait for a decision, of all accounts: several are approved or signed out in one step. */
import { Effect } from "effect"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { protectors } from "../../../domain/people/Access.ts"
import type { SessionReview } from "../../../domain/sessions/SessionReview.ts"
import { getStatus } from "../../../operations/organization/get_status.ts"
import { approveSession } from "../../../operations/sessions/approve_session.ts"
import { listSessions } from "../../../operations/sessions/list_sessions.ts"
import { signOutSession } from "../../../operations/sessions/sign_out_session.ts"
import { Db } from "../../../ports/Db.ts"
import { Sessions } from "../../../ports/sessions/Sessions.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import * as Devices from "../accounts/SessionWords.ts"
import { type AdminPage, Form, Forms, Frame, Html, html, Refresh, Refused, SentForm } from "../kit/index.ts"

const path = "/console/reviews"

/** The most sessions that are shown, and decided in one step. */
const sessionsAtOnce = 25
/** Sessions of one account exclude each other on the messenger. */
const accountsAtOnce = 4

type Review = typeof SessionReview.Type

/** The value of a box: its account and its session. */
const valueOf = ({ account_id, session }: Review): string => `${account_id}:${session.id}`

interface Target {
  readonly account_id: string
  readonly session_id: string
}

const targetOf = (value: string): Target => {
  const end = value.indexOf(":")
  return { account_id: value.slice(0, Math.max(end, 0)), session_id: value.slice(end + 1) }
}

interface WaitingSession {
  readonly reviews: ReadonlyArray<Review>
  /** The moment from which sign-outs of their accounts are sent to the messenger. */
  readonly signOutsFrom: ReadonlyMap<string, Date>
}

/** The first of the sessions that wait; none for a role that decides about none. */
const waiting = Effect.fnUntraced(function*({ admin }: AdminPage, limit: number) {
  const none: WaitingSession = { reviews: [], signOutsFrom: new Map() }
  if (!protectors.includes(admin.role)) return none
  const { data: reviews } = yield* listSessions.call({ review: "pending", limit })
  const queued = reviews.flatMap(({ account_id, session }) => session.sign_out_queued ? [account_id] : [])
  if (queued.length === 0) return { ...none, reviews }
  const { organizationId } = admin
  const found: WaitingSession = {
    reviews,
    signOutsFrom: yield* (yield* Db).read(organizationId, (yield* Sessions).signOutsFrom(organizationId, queued))
  }
  return found
})

const row = (view: AdminPage, { signOutsFrom }: WaitingSession, ticked: ReadonlyArray<string>) => (review: Review) => {
  const { account_id, account_name, id, session } = review
  const from = signOutsFrom.get(account_id)
  const wait = session.sign_out_queued ? Devices.wait(session, from, view.now) : undefined
  return html`<li class="choice">
  <input type="checkbox" id="review-${id}" name="session" value="${valueOf(review)}"${
    ticked.includes(valueOf(review)) ? " checked" : ""
  }>
  <div>
    <div class="head">
      <h3><a href="${view.visit.base}/console/accounts/${account_id}#sessions">${Html.named(account_name)}</a></h3>
      ${Devices.state(session, from, view.now)}
    </div>
    <p><label for="review-${id}">${Devices.device(session)}</label></p>
    <p class="hint">${Devices.place(session, view.now)}</p>
    ${wait === undefined ? undefined : html`<p class="hint">${wait}</p>`}
  </div>
</li>`
}

const form = (view: AdminPage, found: WaitingSession, ticked: ReadonlyArray<string>): Html.Html =>
  Forms.open(
    view,
    { path },
    html`<ul class="plain" id="sessions">${found.reviews.map(row(view, found, ticked))}</ul>
  <div class="actions after">
    <button name="decision" value="approve">Approve what is ticked</button>
    <details class="confirmed grave">
      <summary>Sign out what is ticked …</summary>
      <p>The devices are signed out of their accounts immediately, or as soon as the messenger lets the service.</p>
      <button class="danger" name="decision" value="sign-out">Sign out what is ticked</button>
    </details>
  </div>`
  )

const heading = (total: number): string =>
  total === 1 ? "1 session waits for review" : `${total.toLocaleString("en")} sessions wait for review`

const lead =
  html`<p class="lead">Ask the account’s holder, then approve the session or sign it out. A session that nobody approves is signed out at its time.</p>`

/** The part of another page that shows the first of them. */
export const section = Effect.fnUntraced(function*(view: AdminPage, total: number, limit: number) {
  if (total === 0) return undefined
  const found = yield* waiting(view, limit)
  return html`
<section aria-labelledby="reviews" class="urgent">
  <h2 id="reviews">${heading(total)}</h2>
  ${lead}
  ${found.reviews.length === 0 ? undefined : form(view, found, [])}
  ${
    total <= found.reviews.length || found.reviews.length === 0
      ? undefined
      : html`<p class="after"><a href="${view.visit.base}${path}">Review all of them</a></p>`
  }
</section>`
})

/** The refusals, by the values of their boxes. */
type Refusals = ReadonlyMap<string, Refused.RefusedForm>

const problems = (refused: Refusals, reviews: ReadonlyArray<Review>) =>
  refused.size === 0 ? undefined : html`<div class="problem" role="alert">
  <h2>${refused.size === 1 ? "One session was left as it is" : `${refused.size} sessions were left as they are`}</h2>
  <ul>${
    [...refused].map(([value, { problem }]) => {
      const review = reviews.find((one) => valueOf(one) === value)
      return html`<li>${
        review === undefined ? "A session that is not listed any more" : Html.named(review.account_name)
      }: ${problem}</li>`
    })
  }</ul>
</div>`

const show = Effect.fnUntraced(function*(view: AdminPage, outcome: Form.Outcome, refused: Refusals = new Map()) {
  const { protection } = yield* getStatus.call({})
  const found = yield* waiting(view, sessionsAtOnce)
  const total = protection.sessions_to_review
  return yield* Frame.page(view, {
    title: refused.size === 0 ? "Sessions to review" : "Problem: sessions to review",
    wide: true,
    outcome,
    // A reload does not send the form again.
    script: outcome.status === undefined ? Refresh.addressAt(view.visit.site) : undefined,
    body: html`
<p class="back"><a href="${view.visit.base}/console/accounts">Accounts</a></p>
<h1>Sessions to review</h1>
${lead}
${Form.notice(outcome)}
${problems(refused, found.reviews)}
${outcome.status === undefined ? Refresh.control() : undefined}
${
      found.reviews.length === 0
        ? html`<p class="empty">No session waits for review.</p>`
        : html`<section aria-labelledby="waiting">
  <h2 id="waiting">${heading(total)}</h2>
  ${form(view, found, [...refused.keys()])}
  ${
          total <= found.reviews.length
            ? undefined
            : html`<p class="hint">These are the first ${found.reviews.length}: the others follow when these are decided.</p>`
        }
</section>`
    }`
  })
})

/** The refusal about one session, by the value of its box. */
type Refusal = readonly [value: string, refused: Refused.RefusedForm]

const refusalOf = <A, E, R>(value: string, decided: Effect.Effect<A, E, R>) =>
  Effect.match(decided, {
    onSuccess: (): ReadonlyArray<Refusal> => [],
    onFailure: (failure): ReadonlyArray<Refusal> => [[value, Refused.of(failure)]]
  })

const decisions = {
  approve: (value: string) => refusalOf(value, approveSession.call(targetOf(value))),
  "sign-out": (value: string) => refusalOf(value, signOutSession.call(targetOf(value)))
}

const isDecision = (text: string): text is keyof typeof decisions => Object.hasOwn(decisions, text)

/** Decides about each session by its operation; answers what was refused. */
const decide = Effect.fnUntraced(function*(decision: keyof typeof decisions, values: ReadonlyArray<string>) {
  const accounts = Map.groupBy(values, (value) => targetOf(value).account_id)
  const results = yield* Effect.forEach(
    accounts.values(),
    (ofAccount) => Effect.forEach(ofAccount, (value) => decisions[decision](value)),
    { concurrency: accountsAtOnce }
  )
  return new Map(results.flat(2))
})

const submit = Effect.fnUntraced(function*({ form, view }: Form.Sent) {
  const decision = form.text("decision")
  const values = [...new Set(form.all("session"))]
  if (!isDecision(decision)) return yield* SentForm.foreign(view.visit)
  if (values.length > sessionsAtOnce) {
    return yield* new ParameterInvalid({ message: `At most ${sessionsAtOnce} sessions are decided in one step.` })
  }
  if (values.length === 0) {
    return yield* show(view, { faults: new Map([["sessions", "Tick at least one session."]]), status: 400 })
  }
  const refused = yield* decide(decision, values)
  const [first] = refused.values()
  if (first === undefined) return `${path}?done=${decision}`
  yield* RequestLog.noteFailure(first.code)
  return yield* show(view, { ...Form.none, status: first.status }, refused)
})

const page = Form.page({
  path,
  show: (view, _, outcome) => show(view, outcome),
  only: [protectors, "The owner, superadmins and admins review sessions."],
  strict: true,
  done: {
    approve: "The sessions are approved and stay signed in.",
    "sign-out": "The sessions are signed out. Those that the messenger keeps for now are listed below."
  }
})

export const routes = page.routes([page.form({ name: "", submit, next: (answer) => answer })])
