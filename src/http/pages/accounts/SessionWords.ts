/** Sessions of an account in words. A device's own texts are shown as quotations, because they prove nothing. */
import { shownName } from "../../../domain/oauth/ClientName.ts"
import type { Session, Termination } from "../../../domain/sessions/Session.ts"
import { Html, html, Times } from "../kit/index.ts"
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

/** The place of the session, and its start. */
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

/** The moment from which sign-outs are sent to the messenger, if it is later than now. */
const waitsUntil = (signOutsFrom: Date | undefined, now: number): Date | undefined =>
  signOutsFrom !== undefined && signOutsFrom.getTime() > now ? signOutsFrom : undefined

/** The state of the session; sign-outs of its account are sent to the messenger from `signOutsFrom` on. */
export const state = (session: Session, signOutsFrom: Date | undefined, now: number): Html.Html => {
  const { approved, current, review_deadline, service_session, sign_out_queued } = session
  if (current || service_session) return Statuses.mark("note", "The service’s own")
  if (sign_out_queued) {
    const from = waitsUntil(signOutsFrom, now)
    if (from === undefined) return Statuses.mark("danger", "Being signed out")
    return Statuses.mark(
      "danger",
      html`${session.can_sign_out ? "Sign-out sent again" : "Signed out"} ${Times.when(from, now)}`
    )
  }
  if (review_deadline !== null) {
    return Statuses.mark(
      "caution",
      review_deadline.getTime() <= now ? "Signed out next" : html`Signed out ${Times.when(review_deadline, now)}`
    )
  }
  return approved ? Statuses.mark("good", "Approved") : Statuses.mark("off", "There before the service")
}

/** The reason of a sign-out that waits, and until when; undefined where it does not wait. */
export const wait = (
  { can_sign_out }: Pick<Session, "can_sign_out">,
  signOutsFrom: Date | undefined,
  now: number
): Html.Html | undefined => {
  const from = waitsUntil(signOutsFrom, now)
  return from === undefined
    ? undefined
    : can_sign_out
    ? html`The messenger has refused sign-outs of this account. They are sent again from ${Html.momentOf(from)} on.`
    : html`The messenger lets the service sign nobody out in its first 24 hours: the session stays signed in until ${
      Html.momentOf(from)
    }.`
}

const reasons = {
  rejected: "signed out by an admin",
  autokill: "signed out because nobody had approved it",
  hijacked: "signed out in a takeover"
}

/** The actor who ended the session, and the reason. */
export const ending = ({ actor, reason }: Termination): string =>
  reason !== null
    ? reasons[reason]
    : actor === "service"
    ? "signed out by the service"
    : actor === "external"
    ? "ended on the messenger"
    : "ended by somebody unknown"
