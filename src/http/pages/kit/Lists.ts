/**
 * The shared parts of the console's lists: addresses with a query, links between pages, and the names of departments.
 */
import { Effect } from "effect"
import type { Department } from "../../../domain/people/Department.ts"
import { listDepartments } from "../../../operations/people/list_departments.ts"
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"

/** The path with a query of what there is. */
export const address = (path: string, members: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(members).flatMap(([name, value]): ReadonlyArray<[string, string]> =>
    value === undefined || value === "" ? [] : [[name, value]]
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams([...given])}`
}

/** The links to the next page of a list, and back to its first. */
export const paging = (
  { first, label, next }: { first: string | undefined; next: string | undefined; label: string }
): Html.Html | undefined =>
  first === undefined && next === undefined ? undefined : html`
<nav class="paging" aria-label="${label}">
  ${first === undefined ? undefined : html`<a class="button" href="${first}">First page</a>`}
  ${next === undefined ? undefined : html`<a class="button" href="${next}">Next page</a>`}
</nav>`

/** The same for a list that goes on after the last id, which is `after` in the address. */
export const pagingAfter = (
  path: string,
  label: string,
  after: string | undefined,
  { data, has_more }: { readonly data: ReadonlyArray<{ readonly id: string }>; readonly has_more: boolean }
): Html.Html | undefined =>
  paging({
    label,
    first: after === undefined ? undefined : path,
    next: has_more ? address(path, { after: data.at(-1)?.id }) : undefined
  })

/** The number of pages of departments that are read at most; whatever is beyond them shows no name. */
const departmentPages = 4

/** The departments that the admin sees, by name. */
export const departments = Effect.gen(function*() {
  const found: Array<Department> = []
  for (let page = 0; page < departmentPages; page++) {
    const last = found.at(-1)
    const { data, has_more } = yield* listDepartments.call({
      limit: 100,
      ...(last === undefined ? {} : { starting_after: last.id })
    })
    found.push(...data)
    if (!has_more) break
  }
  return found
})

/** One choice of a list, ticked or not. */
export const option = (value: string, text: string, chosen: string): Html.Html =>
  html`<option value="${value}"${value === chosen ? " selected" : ""}>${text}</option>`
