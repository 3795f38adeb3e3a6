/** Sessions of an account in words. A device's own texts are shown as quotations, because they prove nothing. */
import { shownName } from "../../../domain/oauth/ClientName.ts"
import type { Session, Termination } from "../../../domain/sessions/Session.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Times from "../kit/Times.ts"
import * as Statuses from "./Statuses.ts"

const quoted = (text: string): Html.Html => html`<q class="claim" dir="auto">${text}</q>`

/** The device as it calls itself. */
export const device = ({ app_name, device_model, platform }: Session): Html.Html =>
  quoted(
    shownName([device_model, platform, app_name].filter((part) => part !== null && part !== "").join(", ")) ??
      "Unnamed device"
  )

/** A session that has ended, as its device called itself. */
export const ended = ({ device_label }: Termination): Html.Html =>
  quoted(shownName(device_label ?? "") ?? "Unnamed device")

/** Where the session is and since when. */
export const place = (session: Session, now: number): Html.Html => {
  const { country, created_at, ip, last_active_at } = session
  const parts = [
    ...(country === null ? [] : [Html.named(country)]),
    ...(ip === null ? [] : [html`<code>${ip}</code>`]),
    ...(created_at === null ? [] : [html`signed in ${Times.ago(created_at, now)}`]),
    ...(last_active_at === null ? [] : [html`last used ${Times.ago(last_active_at, now)}`])
  ]
  return html`${parts.map((part, at) => at === 0 ? part : html` · ${part}`)}`
}

/** The state of the session. */
export const state = (session: Session, now: number): Html.Html => {
  const { approved, current, review_deadline, service_session, sign_out_queued } = session
  if (current || service_session) return Statuses.mark("note", "The service’s own")
  if (sign_out_queued) return Statuses.mark("danger", "Being signed out")
  if (review_deadline !== null) {
    return html`<span class="tone is-caution">${
      review_deadline.getTime() <= now ? "Signed out next" : html`Signed out ${Times.when(review_deadline, now)}`
    }</span>`
  }
  return approved ? Statuses.mark("good", "Approved") : Statuses.mark("off", "There before the service")
}

const reasons = {
  rejected: "signed out by an admin",
  autokill: "signed out because nobody had approved it",
  hijacked: "signed out in a takeover"
}

/** Who ended the session, and why. */
export const ending = ({ actor, reason }: Termination): string =>
  reason !== null
    ? reasons[reason]
    : actor === "service"
    ? "signed out by the service"
    : actor === "external"
    ? "ended on the messenger"
    : "ended by somebody unknown"
