/** The pages that say what went wrong, and what to try. */
import type { ErrorAnswer } from "../../../transport/Answer.ts"
import * as Html from "./Html.ts"
import type { PageRequest } from "./PageRequest.ts"

/** The advice on what to try, by the status of what went wrong. */
const advice = (status: number): string => {
  switch (status) {
    case 400:
      return "Go back and try again."
    case 403:
      return "Go back, load the page again and repeat what you did."
    case 404:
      return "Check the address, or go to the console."
    case 429:
      return "Wait a moment, then try again."
    case 503:
      return "Try again in a few seconds."
    default:
      return "Try again. If it happens again, contact your support and quote the request's id."
  }
}

export interface Problem {
  readonly status: number
  readonly title: string
  readonly text: string
  readonly advice?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A page with an error and advice. */
export const problem = (base: string, requestId: string, { headers, status, text, title, ...problem }: Problem) =>
  Html.respond({
    base,
    title,
    narrow: true,
    status,
    ...(headers === undefined ? {} : { headers }),
    body: Html.html`
<h1>${title}</h1>
<p>${text}</p>
<p>${problem.advice ?? advice(status)}</p>
<p><a href="${base}/console">Go to the console</a></p>
<p class="hint">Request <code>${requestId}</code></p>`
  })

/** The page of who may not see it in their role. */
export const notForRole = ({ base, requestId }: Pick<PageRequest, "base" | "requestId">, text: string) =>
  problem(base, requestId, { status: 403, title: "This page is not for your role", text, advice: "Ask one of them." })

const titles: Readonly<Record<number, string>> = {
  400: "This request is invalid",
  403: "This is not allowed",
  404: "There is no such page",
  429: "Too many attempts",
  503: "Not available at the moment"
}

/** The page of a failure. */
export const failed = (base: string, requestId: string) => ({ body, headers, status }: ErrorAnswer) =>
  problem(base, requestId, {
    status,
    title: titles[status] ?? "Something went wrong",
    text: body.error.message,
    headers
  })
