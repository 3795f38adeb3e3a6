/** The parts of every page: the frame, the headers, and words for what the service knows. Values are escaped. */
import { DateTime, Effect, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { html as template } from "hono/html"
import type { HtmlEscapedString } from "hono/utils/html"
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import { shownName } from "../../../domain/oauth/ClientName.ts"
import type { Assistant } from "../../../domain/oauth/OAuth.ts"
import type { SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import { permitting } from "../../SecurityHeaders.ts"
import * as Navigation from "./Navigation.ts"
import * as Style from "./Style.ts"

/** Markup whose values have been escaped. */
export type Html = HtmlEscapedString

/** The content of markup: text is escaped, markup stays as it is, and what is not there is left out. */
export type Value = Html | string | number | boolean | null | undefined | ReadonlyArray<Value>

/** Markup from a template. */
export const html = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html => {
  const made = template(strings, ...values)
  if (made instanceof Promise) throw new Error("Markup that waits for a promise")
  return made
}

/** A page before its frame. */
export interface Page {
  readonly title: string
  readonly body: Html
  /** The path that the site lies at, empty or with a slash in front. */
  readonly base: string
  /** The path of the page itself, within the site. */
  readonly at?: string
  readonly admin?: SignedIn
  /** The token of the sign-out form, where an admin is signed in. */
  readonly signOut?: string
  /** The path that signing out leads to, within the site. */
  readonly returnTo?: string
  readonly narrow?: boolean
  readonly wide?: boolean | undefined
  readonly whole?: boolean | undefined
  /** The address that the browser goes on to by itself. */
  readonly next?: string
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The targets of the page's forms besides the site itself, as sources of a policy. */
  readonly formAction?: string
  /** The whole address of the script that runs in the page, where one does. */
  readonly script?: string | undefined
  /** That of the second factor's script, where the page has one of its own too. */
  readonly stepUpScript?: string | undefined
  /** The hash that the script's text must have, as an attribute says it: then the policy allows this text, wherever it is. */
  readonly integrity?: string | undefined
  /** Sources of the policy for what the script runs further. */
  readonly scriptSources?: ReadonlyArray<string> | undefined
  /** Further directives of the page's policy. */
  readonly further?: ReadonlyArray<string> | undefined
}

/** A third party's name, or the number of who has none, isolated so that its text direction changes nothing around it. */
export const named = (text: string): Html => html`<bdi dir="auto">${PhoneNumber.shown(text)}</bdi>`

/** The name that an application gives itself, as a quotation. */
export const claimed = (name: string): Html =>
  html`<q class="claim" dir="auto">${shownName(name) ?? "Unnamed application"}</q>`

const assistants: Readonly<Record<Assistant, string>> = { assistant_a: "Assistant A", assistant_b: "Assistant B" }

/** True if the application's address is known, shown by text and an icon. */
export const application = (known: Assistant | null): Html =>
  known === null
    ? html`<p class="mark unknown"><span aria-hidden="true">?</span> Unknown application: nobody here has checked who is behind it</p>`
    : html`<p class="mark known"><span aria-hidden="true">✓</span> The official address of ${assistants[known]}</p>`

const link = (base: string, at: string | undefined) => (entry: Navigation.Entry): Html =>
  html`
        <li><a href="${base}${entry.path}"${
    at !== undefined && Navigation.isAt(at, entry)
      ? html` aria-current="${at === entry.path ? "page" : "true"}"`
      : undefined
  }>${entry.text}</a></li>`

const navigation = ({ admin, at, base }: Page): Html | undefined =>
  admin === undefined || admin.organizationClosed ? undefined : html`
    <nav aria-label="Console">
      <ul>${Navigation.shownTo(admin).map(link(base, at))}
      </ul>
    </nav>`

const who = ({ admin, base, returnTo, signOut }: Page): Html | undefined =>
  admin === undefined || signOut === undefined ? undefined : html`
      <p class="who">${named(admin.adminName ?? admin.email)} · ${named(admin.organizationName)}</p>
      <form method="post" action="${base}/console/sign-out">
        <input type="hidden" name="csrf" value="${signOut}">
        <input type="hidden" name="return_to" value="${returnTo ?? ""}">
        <button class="link">Sign out</button>
      </form>`

const widthOf = ({ narrow, whole, wide }: Page): string =>
  whole === true ? "whole" : narrow === true ? "narrow" : wide === true ? "wide" : "text"

const frame = (page: Page): Html =>
  html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">${
    page.next === undefined ? undefined : html`
  <meta http-equiv="refresh" content="0; url=${page.next}">`
  }
  <title>${page.title} · Security Console</title>
  <link rel="stylesheet" href="${page.base}${Style.address}">${
    page.script === undefined ? undefined : html`
  <script src="${page.script}" defer${
      page.integrity === undefined ? undefined : html` integrity="${page.integrity}"`
    }></script>`
  }${
    page.stepUpScript === undefined ? undefined : html`
  <script src="${page.stepUpScript}" defer></script>`
  }
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top">
    <div>
      <p class="product">Security Console</p>${who(page)}
    </div>${navigation(page)}
  </header>
  <main id="main" class="${widthOf(page)}">
${page.body}
  </main>
</body>
</html>
`

type PolicyOf = Pick<Page, "formAction" | "further" | "integrity" | "script" | "scriptSources" | "stepUpScript">

const scriptsOf = ({ integrity, script, scriptSources = [], stepUpScript }: PolicyOf): ReadonlyArray<string> => [
  ...(script === undefined ? [] : integrity === undefined ? script.split("?", 1) : [`'${integrity}'`]),
  ...(stepUpScript === undefined ? [] : stepUpScript.split("?", 1)),
  ...scriptSources
]

/**
 * Nothing but the site's own style sheet is loaded, nothing frames a page, and nothing runs but its own scripts, if any.
 */
const policy = (page: PolicyOf): string => {
  const { formAction, further = [] } = page
  const scripts = scriptsOf(page)
  return [
    "default-src 'none'",
    "style-src 'self'",
    ...(scripts.length === 0 ? [] : [`script-src ${scripts.join(" ")}`, "require-trusted-types-for 'script'"]),
    `form-action 'self'${formAction === undefined ? "" : ` ${formAction}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...further
  ].join("; ")
}

/** The headers of whatever the pages answer, redirects too. */
const headers = (page: PolicyOf = {}): Readonly<Record<string, string>> => ({
  "content-security-policy": policy(page),
  ...(scriptsOf(page).length === 0 ? {} : { "permissions-policy": permitting("publickey-credentials-") }),
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store"
})

/** The page as an answer. */
export const respond = (page: Page) =>
  Effect.map(
    Effect.promise(async () => String(await frame(page))),
    (text) =>
      HttpServerResponse.text(text, {
        status: page.status ?? 200,
        contentType: "text/html; charset=utf-8",
        headers: { ...headers(page), ...page.headers }
      })
  )

/** Leads to another page after a form, or instead of a page. */
export const redirect = (location: string, more: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.empty({ status: 303, headers: { ...headers(), ...more, location } })

const formatted = (options: Intl.DateTimeFormatOptions) => (date: Date) =>
  DateTime.format(DateTime.fromDateUnsafe(date), { locale: "en-GB", timeZone: "UTC", ...options })

const day = formatted({ dateStyle: "long" })
const minute = formatted({ dateStyle: "long", timeStyle: "short" })

/** A day in words. */
export const dayOf = (date: Date): Html => html`<time datetime="${date.toISOString()}">${day(date)}</time>`

/** A moment in words, without markup. */
export const plainMoment = (date: Date): string => `${minute(date)} UTC`

/** A moment in words. */
export const momentOf = (date: Date): Html => html`<time datetime="${date.toISOString()}">${minute(date)} UTC</time>`

/** Faults of a form by the id of the field that they belong to. */
export type Faults = ReadonlyMap<string, string>

export const noFaults: Faults = new Map()

/** The faults of a form, each with a link to its field. */
export const summary = (faults: Faults): Html | undefined =>
  faults.size === 0 ? undefined : html`
<div class="problem" role="alert" tabindex="-1">
  <h2>There is a problem</h2>
  <ul>${[...faults].map(([id, text]) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>
</div>`

/** The fault of one field, above it. */
export const fault = (faults: Faults, id: string): Html | undefined => {
  const text = faults.get(id)
  return text === undefined ? undefined : html`<p class="fault" id="${id}-fault">${text}</p>`
}

/** The ARIA attributes that link the field to its hint and fault. */
export const described = (faults: Faults, id: string, hint: boolean): Html | undefined => {
  const ids = [...(hint ? [`${id}-hint`] : []), ...(faults.has(id) ? [`${id}-fault`] : [])]
  return html`${ids.length === 0 ? undefined : html` aria-describedby="${ids.join(" ")}"`}${
    faults.has(id) ? html` aria-invalid="true"` : undefined
  }`
}

/** A secret that is shown this once, and a field that has it selected for people who use the keyboard. */
export const secretOnce = (secret: Redacted.Redacted, noun: string): Html =>
  html`<code class="secret" id="secret" translate="no">${Redacted.value(secret)}</code>
  <div class="field by-keyboard">
    <label for="secret-field">With the keyboard</label>
    <p class="hint" id="secret-field-hint">Tab into this field: the whole ${noun} is selected in it, ready to copy.</p>
    <input type="text" class="key" id="secret-field" value="${
    Redacted.value(secret)
  }" readonly autocomplete="off" spellcheck="false" aria-describedby="secret-field-hint">
  </div>`
