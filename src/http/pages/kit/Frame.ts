/** A page of an admin who is signed in: the console's frame around a title and its content. */
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import * as Html from "./Html.ts"
import { outForm, type View } from "./Visit.ts"

export interface Content {
  readonly title: string
  readonly body: Html.Html
  /** True if the page is a list or a table, which needs the width; running text does not. */
  readonly wide?: boolean | undefined
  /** With faults the title begins with “Problem”. */
  readonly faults?: Html.Faults | undefined
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The whole address of the one script that runs in the page, where one does. */
  readonly script?: string | undefined
}

/** The page as an answer. */
export const page = (
  { admin, csrf, visit }: View,
  { body, faults = Html.noFaults, headers, script, status, title, wide }: Content
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Html.respond({
    base: visit.base,
    at: visit.path,
    title: faults.size === 0 ? title : `Problem: ${title.charAt(0).toLowerCase()}${title.slice(1)}`,
    admin,
    signOut: csrf(outForm),
    wide,
    status,
    headers,
    script,
    body
  })
