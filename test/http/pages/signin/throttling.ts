/** Attempts at console passwords, from wherever, and what they answer. */
import { expect } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import * as crypto from "node:crypto"
import type { PasswordIncorrect, ServiceUnavailable, TooManyAttempts } from "../../../../src/domain/Failure.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import * as AttemptCounters from "../../../../src/layers/sql/signin/AttemptCounters.ts"
import { type Attempt, ConsolePasswords } from "../../../../src/ports/signin/ConsolePasswords.ts"
import * as FailedSignIns from "../../../../src/signin/FailedSignIns.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as World from "../../../support/world.ts"

export type From = Attempt & { readonly browser?: Redacted.Redacted }

/** An attempt from an address of its own. */
export const anywhere = (): From => ({ via: "console", ip: `192.0.2.${crypto.randomUUID()}`, requestId: null })

const outcomeOf = <A, R>(attempted: Effect.Effect<A, PasswordIncorrect | TooManyAttempts | ServiceUnavailable, R>) =>
  Effect.map(
    Effect.result(attempted),
    Result.match({
      onSuccess: () => "right" as const,
      onFailure: (failure) => {
        if (failure._tag === "too_many_attempts") return failure.retry_after
        return failure._tag === "password_incorrect" ? "wrong" as const : failure._tag
      }
    })
  )

/** What an attempt answers: `right`, `wrong`, the seconds to wait, or why it was not looked at. */
export const attempt = (organization: string, email: string, password: string, from: From = anywhere()) =>
  Effect.flatMap(
    ConsolePasswords,
    (passwords) => passwords.identify(organization, email, Redacted.make(password), from)
  ).pipe(outcomeOf)

/** The same of a console session that is asked for the password again. */
export const again = (organization: string, adminId: string, session: string, password: string) =>
  Effect.flatMap(
    ConsolePasswords,
    (passwords) =>
      passwords.verify({ organizationId: OrganizationId.make(organization), adminId }, Redacted.make(password), {
        ...anywhere(),
        credential: { kind: "console", id: session }
      })
  ).pipe(outcomeOf)

export const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  yield* Pages.givePassword(id, admins.owner.id)
  return { id, admins, email: yield* Pages.emailOf(id, admins.owner.id) }
})

/** What the background does every ten minutes. */
export const sweep = Effect.andThen(AttemptCounters.sweep, FailedSignIns.sweep)

export const times = (count: number) => Array.from({ length: count })

/** Attempts that are wrong, so many that all of them are looked at. */
export const fail = (count: number, organization: string, email: string, from: From) =>
  Effect.map(
    Effect.forEach(times(count), () => attempt(organization, email, "wrong", from)),
    (answers) => expect(answers).toEqual(times(count).map(() => "wrong"))
  )

export const nobody = () => `${crypto.randomUUID()}@example.com`

/** Signs in at the console, and answers what the browser is known by from then on. */
export const browserOf = Effect.fnUntraced(function*(organization: string, email: string, cookie?: string) {
  const page = yield* Pages.signInWith(
    { organization, email, password: Pages.password },
    cookie === undefined ? {} : { cookie }
  )
  expect(page.status).toBe(303)
  const cookies = Pages.cookiesOf(page)
  const [, secret = ""] = /console-browser=([^;]+)/.exec(cookies) ?? []
  return { cookies, from: { ...anywhere(), browser: Redacted.make(secret) } }
})

/** What the journal says of wrong passwords, once the background has written it. */
export const failures = (id: string) =>
  Effect.map(
    Effect.andThen(FailedSignIns.sweep, World.journal(id)),
    (events) => events.filter(({ action }) => action === "console_password.failed")
  )
