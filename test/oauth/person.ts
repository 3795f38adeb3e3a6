/** A person with a browser, over real HTTP. */
import { expect } from "@effect/vitest"
import * as Pages from "../support/http/pages.ts"

/** The query or the form of the members; a list is a member given more than once. */
export const form = (members: Record<string, string | ReadonlyArray<string>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(members).flatMap(([name, value]) => [value].flat().map((item): [string, string] => [name, item]))
  )

/** A person with a browser: opens the address, signs in where asked, allows the scopes, and ends at the callback. */
export const person = (
  base: string,
  organization: string,
  email: string,
  { consolePassword = Pages.password, scopeType = "accounts" } = {}
) =>
async (url: URL, scope: ReadonlyArray<string>, password?: string): Promise<URL> => {
  const asked = await fetch(url, { redirect: "manual" })
  const signIn = new URL(asked.headers.get("location") ?? "", base)
  expect([asked.status, signIn.pathname]).toEqual([303, "/console/sign-in"])
  const signedIn = await fetch(`${base}/console/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: form({
      organization,
      email,
      password: consolePassword,
      return_to: signIn.searchParams.get("return_to") ?? ""
    })
  })
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
  const back = new URL(signedIn.headers.get("location") ?? "", base)
  expect(back.href).toBe(url.href)
  const page = await fetch(back, { headers: { cookie } })
  expect(page.status).toBe(200)
  const consent = Pages.formOf(
    { status: page.status, headers: page.headers, text: await page.text(), location: null },
    "/oauth/authorize"
  )
  const granted = await fetch(new URL(consent.action, base), {
    method: "POST",
    redirect: "manual",
    headers: { cookie },
    body: form({
      ...consent.hidden,
      decision: "allow",
      scope_type: scopeType,
      scope,
      ...(password === undefined ? {} : { current_password: password })
    })
  })
  const { headers, status } = granted
  return new URL(Pages.ledTo({ status, headers, text: await granted.text(), location: headers.get("location") }))
}
