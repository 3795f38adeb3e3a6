/** Requests of applications for authorization, and how they are checked. */
import { expect } from "@effect/vitest"
import { Option } from "effect"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import type { SignedIn } from "../../src/ports/signin/ConsoleSessions.ts"
import * as World from "../support/world.ts"
import { callback, challengeOf, issuer } from "./support.ts"

export const challenge = challengeOf("verifier")

export const check = (text: string, admin: SignedIn | null) => Authorize.check(text, issuer, Option.fromNullOr(admin))

/** What the application is told: the error, the state and the issuer, in the query of its own address. */
export const reportedBy = (checked: Authorize.AuthorizeResult, uri = callback) => {
  if (checked._tag !== "Redirect") return checked
  expect(checked.location.startsWith(`${uri}?`)).toBe(true)
  const location = new URL(checked.location)
  expect(location.hash).toBe("")
  expect(location.searchParams.get("error_description")).not.toBe("")
  return [location.searchParams.get("error"), location.searchParams.get("state"), location.searchParams.get("iss")]
}

export const error = (code: string) => [code, "a state", World.baseUrl]

export const ready = (checked: Authorize.AuthorizeResult) => {
  if (checked._tag !== "Ready") throw new Error(JSON.stringify(checked))
  return checked.request
}
