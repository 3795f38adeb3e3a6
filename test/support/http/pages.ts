/** A browser without a browser: requests for pages, the forms in them, and admins who have a console password. */
import { Effect, Redacted } from "effect"
import { PasswordHasher } from "../../../src/layers/crypto/signin/PasswordHasher.ts"
import * as World from "../world.ts"

/** The console password of everybody in these tests. */
export const password = "correct horse battery"

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where it leads, if it is a redirect. */
  readonly location: string | null
}

export interface Visiting {
  readonly cookie?: string
  readonly form?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly headers?: Readonly<Record<string, string>>
  readonly baseUrl?: string
}

/** Sends a request as a browser of the site would. */
export const visit = Effect.fnUntraced(
  function*(method: string, path: string, { baseUrl = World.baseUrl, cookie, form, headers }: Visiting = {}) {
    const handler = yield* World.handlerHere
    const body = form === undefined
      ? undefined
      : new URLSearchParams(
        Object.entries(form).flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, each]))
      ).toString()
    const response = yield* Effect.promise(() =>
      handler(
        new Request(new URL(path, baseUrl), {
          method,
          headers: {
            host: new URL(baseUrl).host,
            ...(cookie === undefined ? {} : { cookie }),
            ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
            ...headers
          },
          ...(body === undefined ? {} : { body })
        })
      )
    )
    const page: Page = {
      status: response.status,
      headers: response.headers,
      text: yield* Effect.promise(() => response.text()),
      location: response.headers.get("location")
    }
    return page
  }
)

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": "\"",
  "&#39;": "'"
}

/** What a text of markup says. */
const unescaped = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!)

export interface FoundForm {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly markup: string
}

/** The forms of a page, with what their hidden fields hold. */
const forms = (page: Page): ReadonlyArray<FoundForm> =>
  [...page.text.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action = "", markup = ""]) => ({
      action: unescaped(action),
      hidden: Object.fromEntries(
        [...markup.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
          .map(([, name = "", value = ""]) => [name, unescaped(value)])
      ),
      markup
    })
  )

/** The one form of the page that leads there, whatever its query; with `text` in it, where several do. */
export const formOf = (page: Page, action: string, text = ""): FoundForm => {
  const found = forms(page).filter((form) => form.action.split("?", 1)[0] === action && form.markup.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} forms lead to ${action}:\n${page.text}`)
  return found[0]!
}

/** Where a browser gets to from the page: by its redirect, or because the page goes on by itself. */
export const ledTo = ({ location, text }: Page): string =>
  location ?? unescaped(/<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(text)?.[1] ?? "")

/** Gives an admin the console password. */
export const givePassword = Effect.fnUntraced(function*(organizationId: string, adminId: string, text = password) {
  const hasher = yield* PasswordHasher
  yield* World.set(organizationId, "admin", adminId, { password_hash: yield* hasher.hash(Redacted.make(text)) })
})

/** The address of an admin. */
export const emailOf = (organizationId: string, adminId: string) =>
  Effect.map(
    World.query<{ email: string }>(
      organizationId,
      (sql) => sql`select email from admin where organization_id = ${organizationId} and id = ${adminId}`
    ),
    ([row]) => row!.email
  )

/** The cookie that a page sets, as a browser sends it back. */
export const cookieOf = (page: Page): string => (page.headers.get("set-cookie") ?? "").split(";", 1)[0]!

/** Every cookie that a page sets, as a browser sends them back. */
export const cookiesOf = (page: Page): string =>
  page.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0] ?? "").join("; ")

/** Sends the sign-in form. */
export const signInWith = (
  values: { readonly organization?: string; readonly email: string; readonly password: string },
  visiting: Visiting & { readonly returnTo?: string } = {}
) =>
  visit("POST", "/console/sign-in", {
    ...visiting,
    form: { ...values, return_to: visiting.returnTo ?? "" }
  })

/** Signs the admin in, and answers the cookie. */
export const signIn = Effect.fnUntraced(function*(organizationId: string, adminId: string, visiting: Visiting = {}) {
  yield* givePassword(organizationId, adminId)
  const email = yield* emailOf(organizationId, adminId)
  const page = yield* signInWith({ organization: organizationId, email, password }, visiting)
  if (page.status !== 303) throw new Error(`The sign-in answers ${page.status}:\n${page.text}`)
  return cookieOf(page)
})
