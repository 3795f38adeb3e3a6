/** An organization that is connected to a provider, and browsers that are led there and back. */
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { callbackPath } from "../../../../src/domain/signin/IdentityProvider.ts"
import { ProviderInternet } from "../../../../src/layers/identity/Provider.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"

export const path = "/console/sign-in/provider"
export const own = "/console/security/identity-provider"

export const world = Layer.provideMerge(
  World.world(postgres),
  Layer.succeed(ProviderInternet, () => Identity.loopback)
)

/** An organization that is connected to the provider of an issuer. */
export const connect = Effect.fnUntraced(function*(organization: string, issuer: string, changes: object = {}) {
  yield* TestClock.setTime(new Date().getTime())
  const answer = yield* act((requests) =>
    requests.identity_provider_set({
      organization,
      issuer,
      client_id: Identity.clientId,
      client_secret: Redacted.make(Identity.clientSecret),
      required: null,
      second_factor: null,
      private_network: null,
      max_age: null,
      ...changes
    })
  )
  if (typeof answer === "string") throw new Error(answer)
})

/** A new organization that is connected to a provider of its own. */
export const made = Effect.gen(function*() {
  const organization = yield* World.makeOrganization()
  const provider = yield* Identity.real([`${World.baseUrl}${callbackPath(organization.id)}`])
  yield* connect(organization.id, provider.issuer)
  return { ...organization, provider }
})

export const linkAs = Effect.fnUntraced(function*(organization: string, adminId: string, subject: string) {
  const email = yield* Pages.emailOf(organization, adminId)
  return yield* act((requests) => requests.admins_link_identity({ organization, email, subject }))
})

/** Sends the form, and answers where the browser is led to and with which cookie. */
export const go = Effect.fnUntraced(function*(
  organization: string,
  more: Record<string, string> = {},
  visiting: Pages.Visiting = {}
) {
  const page = yield* Pages.visit("POST", path, { ...visiting, form: { organization, ...more } })
  return { page, url: Pages.ledTo(page), cookie: Pages.cookiesOf(page) }
})

export const back = (url: URL, cookie: string) => Pages.visit("GET", `${url.pathname}${url.search}`, { cookie })

/** Goes there and comes back. */
export const signIn = Effect.fnUntraced(function*(organization: string, more: Record<string, string> = {}) {
  const { cookie, url } = yield* go(organization, more)
  return yield* back(yield* Identity.follow(url), cookie)
})

export const isSignedIn = (page: Pages.Page) =>
  Effect.map(
    Pages.visit("GET", "/console/security", { cookie: Pages.cookiesOf(page) }),
    ({ status }) => status === 200
  )
