/** The sign-in of an admin at the console; a console with a way of its own brings its own layer. */
import { Context, Effect, Layer, Redacted } from "effect"
import { PasswordIncorrect, type ServiceUnavailable, type TooManyAttempts } from "../../domain/Failure.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { type AdminRef, type Attempt, ConsolePasswords } from "./ConsolePasswords.ts"
import type { CookieSite } from "./ConsoleSessions.ts"

/** One field of the sign-in form. */
export interface SignInField {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly type: "text" | "email" | "password"
  /** The value that the browser may fill in. */
  readonly autocomplete: string
}

/** The questions of the sign-in page, and the admin that the answers identify. */
export class AdminSignIn extends Context.Service<AdminSignIn, {
  fields(site: CookieSite): ReadonlyArray<SignInField>
  signIn(
    values: ReadonlyMap<string, Redacted.Redacted>,
    site: CookieSite,
    attempt: Attempt
  ): Effect.Effect<AdminRef, PasswordIncorrect | TooManyAttempts | ServiceUnavailable>
}>()("org-security-console/ports/signin/AdminSignIn") {
  /** Asks for the organization, where the site does not say it, the address and the console password. */
  static readonly layer: Layer.Layer<AdminSignIn, never, ConsolePasswords> = Layer.effect(
    AdminSignIn,
    Effect.gen(function*() {
      const passwords = yield* ConsolePasswords
      const text = (values: ReadonlyMap<string, Redacted.Redacted>, name: string) => {
        const value = values.get(name)
        return value === undefined ? "" : Redacted.value(value).trim()
      }
      return {
        fields: ({ organizationId }) => [
          ...(organizationId === null
            ? [
              {
                name: "organization",
                label: "Organization",
                hint: "Its short name, such as acme.",
                type: "text",
                autocomplete: "organization"
              } as const
            ]
            : []),
          { name: "email", label: "Email address", type: "email", autocomplete: "username" },
          { name: "password", label: "Console password", type: "password", autocomplete: "current-password" }
        ],
        signIn: (values, { organizationId }, attempt) =>
          passwords.identify(
            organizationId ?? OrganizationId.make(text(values, "organization").toLowerCase()),
            text(values, "email"),
            values.get("password") ?? Redacted.make(""),
            attempt
          ).pipe(
            Effect.catchTag("password_incorrect", () =>
              Effect.fail(
                new PasswordIncorrect({ message: "Organization, email address and password do not belong together." })
              ))
          )
      }
    })
  )
}
