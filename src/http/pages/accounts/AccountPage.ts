/** One account: its status and why, where it is signed in, what happened, and what can be done about it. */
import { Effect } from "effect"
import { type AccountDetail, AccountId } from "../../../domain/accounts/Account.ts"
import { isActive } from "../../../domain/accounts/ProtectionStatus.ts"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import { Caller, protectors, superadmins } from "../../../domain/people/Access.ts"
import type { Department } from "../../../domain/people/Department.ts"
import type { Session } from "../../../domain/sessions/Session.ts"
import { getAccount } from "../../../operations/accounts/get_account.ts"
import { listJournalEvents } from "../../../operations/journal/list_journal_events.ts"
import { Accounts } from "../../../ports/accounts/Accounts.ts"
import { Db } from "../../../ports/Db.ts"
import { Sessions } from "../../../ports/sessions/Sessions.ts"
import * as AccountArchive from "../archive/AccountArchive.ts"
import * as AccountDeletion from "../archive/AccountDeletion.ts"
import * as EventDetails from "../journal/EventDetails.ts"
import * as Events from "../journal/EventWords.ts"
import { type AdminPage, Form, Frame, Html, html, Lists, Notices, Refresh, Times } from "../kit/index.ts"
import { newPath } from "../organization/SupportPage.ts"
import * as AccountForms from "./AccountForms.ts"
import * as AccountProfile from "./AccountProfile.ts"
import * as NextSteps from "./NextSteps.ts"
import * as Devices from "./SessionWords.ts"
import * as Statuses from "./Statuses.ts"

/** The entries of the account's history that its page shows, and the events that may be read for them. */
const entriesShown = 10
const eventsRead = 2 * entriesShown

/** The reasons for the account's status, as far as the caller's role sees them. */
const reasons = (account: AccountDetail, now: number): ReadonlyArray<Html.Html> => {
  const { monitoring, sessions = [], status, tamper } = account
  const enforcement = monitoring?.enforcement_active_at ?? null
  const pending = sessions.filter(({ review_deadline, sign_out_queued }) =>
    review_deadline !== null && !sign_out_queued
  )
  const first = pending.map(({ review_deadline }) => review_deadline?.getTime() ?? 0).sort((a, b) => a - b)[0]
  return [
    ...(first === undefined || !isActive(status) ? [] : [
      html`${pending.length === 1 ? "One session waits" : `${pending.length} sessions wait`} for a review: ${
        pending.length === 1 ? "it" : "the first"
      } is signed out ${first <= now ? "next" : Times.when(new Date(first), now)}, unless somebody approves it.`
    ]),
    ...(tamper === undefined || tamper.locked_at === null ? [] : [
      html`The takeover lock was set ${Times.ago(tamper.locked_at, now)}${
        tamper.reason === null ? "" : html` (changed: ${Html.named(EventDetails.saidAll(tamper.reason))})`
      }: whoever signs in is signed out at once.`
    ]),
    ...(monitoring === undefined || monitoring.last_poll_error === null ? [] : [
      html`The last look at it failed: ${Html.named(EventDetails.said(monitoring.last_poll_error))}.`
    ]),
    ...(status !== "recently_connected" || enforcement === null ? [] : [
      html`Sessions can be signed out ${Times.when(enforcement, now)}.`
    ])
  ]
}

const statusCard = (account: AccountDetail, now: number): Html.Html => {
  const { meaning, name, tone } = Statuses.words[account.status]
  return html`<div class="status-card is-${tone}">
  <h2>${Statuses.mark(tone, name)}</h2>
  <p>${meaning}</p>
  ${reasons(account, now).map((reason) => html`<p>${reason}</p>`)}
</div>`
}

/** Facts of the account's protection that the account does not show; none for roles that protect no account. */
interface Protection {
  /** The service has lost its session, and only another sign-in brings it back. */
  readonly lost: boolean
  /** The moment from which sign-outs are sent to the messenger. */
  readonly signOutsFrom: Date | undefined
}

const session =
  (view: AdminPage, account: AccountDetail, { signOutsFrom }: Protection) => (session: Session): Html.Html => {
    const wait = session.sign_out_queued ? Devices.wait(session, signOutsFrom, view.now) : undefined
    return html`<li>
  <div class="head"><h3>${Devices.device(session)}</h3> ${Devices.state(session, signOutsFrom, view.now)}</div>
  <p class="hint">${Devices.place(session, view.now)}</p>
  ${wait === undefined ? undefined : html`<p class="hint">${wait}</p>`}
  ${protectors.includes(view.admin.role) ? AccountForms.ofSession(view, account, session, signOutsFrom) : undefined}
</li>`
  }

/** Sessions that wait for a review come first, and the service's own last. */
const rank = ({ approved, current, review_deadline, service_session, sign_out_queued }: Session): number =>
  current || service_session ? 3 : review_deadline !== null || sign_out_queued ? 0 : approved ? 1 : 2

const sessions = (view: AdminPage, account: AccountDetail, protection: Protection): Html.Html | undefined => {
  const { sessions, status, terminations = [] } = account
  if (sessions === undefined) return undefined
  const others = sessions.some(({ current, service_session }) => !current && !service_session)
  return html`
<section aria-labelledby="sessions">
  <h2 id="sessions">Where it is signed in</h2>
  <p class="lead">In quotation marks: what a device says of itself. It proves nothing, so ask the account’s holder.</p>
  ${
    sessions.length === 0
      ? html`<p class="empty">No session is known.</p>`
      : html`<ul class="plain">${
        [...sessions].sort((a, b) => rank(a) - rank(b)).map(session(view, account, protection))
      }</ul>`
  }
  ${others && isActive(status) ? AccountForms.signOutOthers(view, account) : undefined}
  ${
    terminations.length === 0 ?
      undefined :
      html`<details class="folded"><summary>${
        terminations.length === 1 ? "1 session has ended" : `${terminations.length} sessions have ended`
      }</summary><ul class="plain">${
        terminations.map((termination) =>
          html`<li><p>${Devices.ended(termination)}</p><p class="hint">${
            Times.ago(termination.detected_at, view.now)
          }, ${Devices.ending(termination)}</p></li>`
        )
      }</ul></details>`
  }
</section>`
}

const history = (
  view: AdminPage,
  account: AccountDetail,
  entries: ReadonlyArray<Events.Entry>,
  names: EventDetails.Names
): Html.Html =>
  html`
<section aria-labelledby="history">
  <div class="head">
    <h2 id="history">What happened</h2>
    <a href="${
    Lists.address(`${view.visit.base}${Events.journalPath}`, { account: account.id })
  }">All in the journal</a>
  </div>
  ${
    entries.length === 0
      ? html`<p class="empty">${view.admin.role === "billing" ? "Nothing that you may see." : "Nothing yet."}</p>`
      : html`<ul class="plain events">${entries.map(Events.item(view, { names, account: false }))}</ul>`
  }
</section>`

const facts = (view: AdminPage, account: AccountDetail, departments: ReadonlyArray<Department>): Html.Html => {
  // Roles that may edit the account see them in the forms below.
  const acts = protectors.includes(view.admin.role)
  const department = departments.find(({ id }) => id === account.department_id)
  const { joined_at, licence_tier, monitoring, name, offboarded_at, phone_number, role_label } = account
  const fact = (title: string, value: Html.Value) => html`<dt>${title}</dt><dd>${value}</dd>`
  return html`<dl class="facts">
  ${name === phone_number ? undefined : fact("Number", PhoneNumber.shown(phone_number))}
  ${acts || role_label === null ? undefined : fact("Label", Html.named(role_label))}
  ${
    acts || account.department_id === null
      ? undefined
      : fact("Department", Html.named(department?.name ?? "Another department"))
  }
  ${licence_tier === null ? undefined : fact("Licence", Events.worded(licence_tier))}
  ${joined_at === null ? undefined : fact("Connected", Times.ago(joined_at, view.now))}
  ${offboarded_at === null ? undefined : fact("Offboarded", Times.ago(offboarded_at, view.now))}
  ${
    monitoring === undefined
      ? undefined
      : fact("Last looked at", Times.since(monitoring.last_polled_at, view.now, "Not yet"))
  }
</dl>`
}

/** Faults of the service with its own session, after which the account has to be signed in to again. */
const sessionFaults: ReadonlyArray<string | null | undefined> = ["key_duplicated", "no_key"]

const protectionOf = Effect.fnUntraced(function*({ id, monitoring, status }: AccountDetail) {
  const caller = yield* Caller
  if (!protectors.includes(caller.role)) return { lost: false, signOutsFrom: undefined }
  const accounts = yield* Accounts
  const sessions = yield* Sessions
  const accountId = AccountId.make(id)
  const { facts, from } = yield* (yield* Db).read(
    caller.organizationId,
    Effect.all({
      facts: accounts.find(caller, accountId, false),
      from: sessions.signOutsFrom(caller.organizationId, [accountId])
    }, { concurrency: "unbounded" })
  )
  const lost = status === "protection_stopped"
    ? facts?.stop_reason === "session_lost"
    : status === "status_unknown" && sessionFaults.includes(monitoring?.last_poll_error)
  return { lost, signOutsFrom: from.get(accountId) }
})

/** The page of the account. */
export const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const account = yield* getAccount.call({ account_id: id })
  const protection = yield* protectionOf(account)
  const { data: events } = yield* listJournalEvents.call({ account_id: id, limit: eventsRead })
  const entries = (yield* Events.entries(view, events)).slice(0, entriesShown)
  const departments = yield* Lists.departments
  const showNotices = yield* Notices.make(view)
  const acts = protectors.includes(view.admin.role)
  const connected = new URLSearchParams(view.visit.query).get("done") === "account_connected"
  const archive = yield* AccountArchive.section(view, account)
  // A reload would take away the words of a form that was refused.
  const refreshes = outcome.status === undefined && AccountArchive.isChanging(view, account)
  const next = acts && connected ? yield* NextSteps.section(view, account) : undefined
  return yield* Frame.page(view, {
    title: account.name,
    named: true,
    wide: true,
    outcome,
    script: refreshes ? Refresh.addressAt(view.visit.site) : undefined,
    body: html`
<p class="back"><a href="${view.visit.base}/console/accounts">Accounts</a></p>
<h1>${Html.named(account.name)}</h1>
${refreshes ? Refresh.control() : undefined}
${Form.notice(outcome)}
${showNotices()}
${statusCard(account, view.now)}
${next}
<div class="columns">
<div>
${sessions(view, account, protection)}
${archive}
${history(view, account, entries, new Map(departments.map(({ id, name }) => [id, name])))}
</div>
<div>
<section aria-labelledby="about">
  <h2 id="about">About</h2>
  ${facts(view, account, departments)}
  ${acts ? AccountForms.filing(view, account, departments) : undefined}
  <p class="after"><a href="${
      Lists.address(`${view.visit.base}${newPath}`, { account: id })
    }">Ask the support about it</a></p>
</section>
${
      acts && account.status !== "available"
        ? html`<section aria-labelledby="protection">
  <h2 id="protection">Protection</h2>
  <p><a class="button" href="${view.visit.base}${
          AccountForms.pathOf(account.id)
        }/security">2FA, addresses and passkey</a></p>
  <p><a class="button" href="${view.visit.base}${AccountProfile.pathOf(account.id)}">Name, bio and username</a></p>
  ${AccountForms.protection(view, account, protection.lost)}
</section>`
        : undefined
    }
${
      account.status === "available" && superadmins.includes(view.admin.role)
        ? AccountDeletion.section(view, account.id)
        : undefined
    }
</div>
</div>`
  })
})
