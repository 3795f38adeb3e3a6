/** The form that a visitor has sent. */
import { ByteSize, Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { ParameterInvalid } from "../../../domain/Failure.ts"
import { maxSupportMessageLength } from "../../../domain/Limits.ts"
import { choicesListed, maxChosen, maxFormSize, maxParameters } from "../../../domain/oauth/OAuth.ts"
import * as Body from "../../../transport/Body.ts"
import type { PageRequest } from "./PageRequest.ts"
import * as Problem from "./Problem.ts"

/** The members of a form that was sent. */
export interface Form {
  text(name: string): string
  /** A text of several lines, with the line ends that the service keeps; browsers send others. */
  lines(name: string): string
  all(name: string): ReadonlyArray<string>
  secret(name: string): Redacted.Redacted
}

export interface Limits {
  readonly bytes: number
  readonly members: number
}

/**
 * The number of boxes that a form may send: one list more than allowed, so that the operation can refuse and name the
 * limit.
 */
const maxTicked = maxChosen + choicesListed
const tickedSize = "&department=".length + 36

/** The bytes of a character of four bytes, in a form. */
const largestCharacter = 12

/** The limits of the pages' forms: their size, and their number of members; the consent's lists what is ticked. */
export const limits = {
  page: { bytes: maxFormSize, members: maxParameters },
  message: { bytes: maxFormSize + maxSupportMessageLength * largestCharacter, members: maxParameters },
  consent: { bytes: maxFormSize + maxTicked * tickedSize, members: maxParameters + maxTicked },
  /** Accounts and departments can be ticked both. */
  access: { bytes: maxFormSize + 2 * maxTicked * tickedSize, members: maxParameters + 2 * maxTicked }
} satisfies Record<string, Limits>

const formType = /^application\/x-www-form-urlencoded(?:\s*;.*)?$/i

/**
 * The form of a request, which a page of this site must have sent.
 *
 * Under `Referrer-Policy: no-referrer` browsers write `Origin: null` for a form of the same site too: `Sec-Fetch-Site`
 * then has to say that it is one.
 */
export const read = Effect.fnUntraced(function*({ site }: PageRequest, size: Limits = limits.page) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const origin = request.headers["origin"]
  const fetchSite = request.headers["sec-fetch-site"]
  const own = new URL(site.baseUrl).origin
  const sameOrigin = (fetchSite === undefined || fetchSite === "same-origin") &&
    (origin === undefined || origin === own || origin === "null" && fetchSite === "same-origin")
  const typed = formType.test(request.headers["content-type"] ?? "")
  if (!sameOrigin || !typed) return Option.none<Form>()
  const tooLarge = () => new ParameterInvalid({ message: "The form is too large." })
  const bytes = yield* Effect.mapError(Body.read(request, ByteSize.bytes(size.bytes)), tooLarge)
  const members = new URLSearchParams(new TextDecoder().decode(bytes))
  if (members.size > size.members) return yield* tooLarge()
  return Option.some<Form>({
    text: (name) => members.get(name) ?? "",
    lines: (name) => (members.get(name) ?? "").replaceAll("\r\n", "\n"),
    all: (name) => members.getAll(name),
    secret: (name) => Redacted.make(members.get(name) ?? "")
  })
})

/** A form that did not come from this site, or is out of date. */
export const foreign = ({ base, requestId }: PageRequest) =>
  Problem.problem(base, requestId, {
    status: 403,
    title: "This form is not valid",
    text: "It was not sent from this console, was changed, or belongs to a session that has ended. Nothing was done."
  })
