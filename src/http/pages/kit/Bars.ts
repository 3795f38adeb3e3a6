/** Bars of what is done or used; the text beside a bar says the same in words. */
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"

/** The part of a total, which is never shown as more than the whole; nothing without a total. */
export const bar = (label: string, part: number, total: number): Html.Html | undefined =>
  total <= 0 ?
    undefined :
    html`<progress aria-label="${label}" max="${String(total)}" value="${String(Math.min(part, total))}"></progress>`
