/** A page of an admin who is signed in: the console's frame around a title and its content. */
import type { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Outcome } from "./Form.ts"
import * as Html from "./Html.ts"
import type { AdminPage } from "./PageRequest.ts"
import { outForm } from "./Serving.ts"

export interface Content {
  readonly title: string
  readonly body: Html.Html
  /** True if the page is a list or a table, which needs the width; running text does not. */
  readonly wide?: boolean | undefined
  /** True if the page is as high and wide as the window. */
  readonly whole?: boolean | undefined
  /** With faults the title begins with “Problem”. */
  readonly faults?: Html.Faults | undefined
  /** The outcome of a form: with a refusal the title begins with “Problem”. */
  readonly outcome?: Outcome
  /** True if the title begins with a name, which keeps its letters. */
  readonly named?: boolean
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The whole address of the script that runs in the page, where one does. */
  readonly script?: string | undefined
  /** That of the second factor's script, where the page has one of its own too. */
  readonly stepUpScript?: string | undefined
  readonly integrity?: string | undefined
  readonly scriptSources?: ReadonlyArray<string> | undefined
  readonly further?: ReadonlyArray<string> | undefined
}

/** The page as an answer. */
export const page = (
  { admin, csrf, visit }: AdminPage,
  {
    body,
    faults = Html.noFaults,
    further,
    headers,
    integrity,
    named = false,
    outcome,
    script,
    scriptSources,
    status,
    stepUpScript,
    title,
    whole,
    wide
  }: Content
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const refused = faults.size > 0 || outcome !== undefined && (outcome.faults.size > 0 || outcome.problem !== undefined)
  const within = named ? title : `${title.charAt(0).toLowerCase()}${title.slice(1)}`
  return Html.respond({
    base: visit.base,
    at: visit.path,
    title: refused ? `Problem: ${within}` : title,
    admin,
    signOut: csrf(outForm),
    wide,
    whole,
    status: outcome?.status ?? status,
    headers: outcome?.headers ?? headers,
    script,
    stepUpScript,
    integrity,
    scriptSources,
    further,
    body
  })
}
