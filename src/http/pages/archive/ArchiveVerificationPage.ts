/** The verification of the archive: its pages against manifests that the journal covers, as far as one request gets. */
import { Clock, Duration, Effect } from "effect"
import { superadmins } from "../../../domain/people/Access.ts"
import { verifyArchive } from "../../../operations/archive/verify_archive.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"

const path = Tabs.archiveVerificationPath

/** After this a request answers how far it is, and the form goes on from there. */
const budget = Duration.toMillis(Duration.seconds(4))

const faults = ["missing", "changed", "added", "unproven"] as const
const counted = ["pages", ...faults, "not_covered"] as const

/** The sums of all requests so far; the browser keeps them, as they are about its own admin's question alone. */
interface Verified extends Record<typeof counted[number], number> {
  /** Null at the end. */
  readonly cursor: string | null
  /** The number of the newest signed checkpoint, where it covers every manifest. */
  readonly checkpoint: number | null
  /** False where a manifest is not covered by a signed checkpoint yet. */
  readonly isSigned: boolean
}

const numberOf = (text: string): number => /^\d{1,15}$/u.test(text) ? Number(text) : 0

const before = (form: SentForm.Form): Verified => ({
  pages: numberOf(form.text("pages")),
  missing: numberOf(form.text("missing")),
  changed: numberOf(form.text("changed")),
  added: numberOf(form.text("added")),
  unproven: numberOf(form.text("unproven")),
  not_covered: numberOf(form.text("not_covered")),
  cursor: form.text("cursor") === "" ? null : form.text("cursor"),
  checkpoint: null,
  isSigned: form.text("unsigned") !== "yes"
})

const goOn = Effect.fnUntraced(function*(from: Verified) {
  const until = (yield* Clock.currentTimeMillis) + budget
  let sum = from
  do {
    const { cursor } = sum
    const call = verifyArchive.call(cursor === null ? {} : { cursor })
    // Another verification has the organization's turn: the form goes on later from here.
    const found = yield* cursor === null
      ? call
      : Effect.catchTag(call, "service_unavailable", () => Effect.succeed(null))
    if (found === null) return sum
    sum = {
      pages: sum.pages + found.pages,
      missing: sum.missing + found.missing,
      changed: sum.changed + found.changed,
      added: sum.added + found.added,
      unproven: sum.unproven + found.unproven,
      not_covered: sum.not_covered + found.not_covered,
      cursor: found.cursor,
      checkpoint: found.checkpoint?.number ?? null,
      isSigned: sum.isSigned && found.checkpoint !== null
    }
  } while (sum.cursor !== null && (yield* Clock.currentTimeMillis) < until)
  return sum
})

const names: Readonly<Record<typeof faults[number], string>> = {
  missing: "Missing without a journaled deletion",
  changed: "Changed",
  added: "Added behind the service's back",
  unproven: "Manifests that are not proven"
}

const count = (value: number): string => value.toLocaleString("en")

const result = (found: Verified): Html.Html => {
  const wrong = faults.filter((name) => found[name] > 0)
  const isDone = found.cursor === null
  return html`<section aria-labelledby="found">
  <h2 id="found">${isDone ? "Result" : "So far"}</h2>
  <p role="status">${
    wrong.length > 0
      ? Statuses.mark("danger", "The archive is not as it was stored")
      : isDone
      ? Statuses.mark("good", "The archive is as it was stored")
      : Statuses.mark("note", "Nothing wrong so far")
  }</p>
  <dl class="facts">
    <dt>Pages compared</dt><dd>${count(found.pages)}</dd>
    ${wrong.map((name) => html`<dt>${names[name]}</dt><dd>${count(found[name])}</dd>`)}
    <dt>Newer than the last manifests</dt><dd>${count(found.not_covered)}: covered within a day</dd>
    ${
    isDone
      ? html`<dt>Signed</dt><dd>${
        found.isSigned && found.checkpoint !== null
          ? `checkpoint ${found.checkpoint} covers every manifest`
          : "no signed checkpoint covers every manifest yet"
      }</dd>`
      : undefined
  }
  </dl>
</section>`
}

const form = (view: AdminPage, found: Verified | null): Html.Html => {
  const cursor = found?.cursor ?? null
  const members = found === null || cursor === null ? {} : {
    ...Object.fromEntries(counted.map((name) => [name, String(found[name])])),
    cursor,
    ...(found.isSigned ? {} : { unsigned: "yes" })
  }
  return Forms.open(
    view,
    { path, members },
    html`<button class="main">${cursor === null ? "Verify the archive" : "Go on"}</button>`
  )
}

const head = (view: AdminPage, outcome: Form.Outcome): Html.Html =>
  html`<h1>Archive verification</h1>
${Tabs.nav(view.visit.base, path)}
${Form.notice(outcome)}
<p class="lead">Compares every sealed page with the manifests that the signed journal covers: what was removed, changed or added behind the service's back is found. It needs no archive password.</p>`

/** The page for other roles. */
const explain = (view: AdminPage) =>
  Frame.page(view, {
    title: "Archive verification",
    body: html`
${head(view, Form.none)}
<p class="hint">The owner and superadmins verify the archive.</p>`
  })

const draw = (view: AdminPage, outcome: Form.Outcome, found: Verified | null) =>
  Frame.page(view, {
    title: "Archive verification",
    outcome,
    body: html`
${head(view, outcome)}
${found === null ? undefined : result(found)}
${form(view, found)}
<p class="hint">The journal itself is checked by <code>security-console journal verify</code>, a downloaded part of an export by <code>security-console archive verify-export</code>.</p>`
  })

const page = Form.page({
  path,
  show: (view, _, outcome) => superadmins.includes(view.admin.role) ? draw(view, outcome, null) : explain(view),
  refusals: {
    service_unavailable:
      "The service verifies as many archives as it can at a time, or yours already. Try again in a moment."
  }
})

export const routes = page.routes([
  page.form({
    name: "",
    submit: ({ form, view }) => Effect.flatMap(goOn(before(form)), (found) => draw(view, Form.none, found)),
    next: (drawn) => drawn
  })
])
