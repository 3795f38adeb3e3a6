import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { ServiceUnavailable } from "../../../../src/domain/Failure.ts"
import { maxWaiting, PasswordHasher } from "../../../../src/layers/crypto/signin/PasswordHasher.ts"
import * as Site from "../../../../src/transport/Site.ts"
import { challengeOf, query, registerApplication } from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { pglite } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const atATime = 4
const wrong = Redacted.make("wrong")

/** Whether the queue is full, in a service that asks before each password. */
let full = false

const hasher = Layer.effect(
  PasswordHasher,
  Effect.map(PasswordHasher, (inner) => ({
    ...inner,
    verify: (hashed: string, password: Redacted.Redacted) =>
      full ? Effect.fail(new ServiceUnavailable({ retry_after: 2 })) : inner.verify(hashed, password)
  }))
).pipe(Layer.provide(World.PasswordHasherLayer))

const site = Layer.succeed(Site.Sites, Site.make([{ baseUrl: World.baseUrl, organizationId: null }]))

describe("passwords that are checked at once", () => {
  layer(Layer.merge(site, World.core(pglite, hasher)), { excludeTestServices: true })((it) => {
    it.effect("are as many as the queue takes, and the next one is refused at once", () =>
      Effect.gen(function*() {
        const hasher = yield* PasswordHasher
        const hashed = yield* hasher.hash(Redacted.make("right"))
        const checks = Array.from(
          { length: 300 },
          (_, at) => hasher.verify(hashed, at === 0 ? Redacted.make("right") : wrong)
        )
        const answers = yield* Effect.forEach(checks, Effect.result, { concurrency: "unbounded" })
        const admitted = answers.filter(Result.isSuccess)
        expect(admitted.map(({ success }) => success)).toEqual([
          true,
          ...Array.from({ length: atATime + maxWaiting - 1 }, () => false)
        ])
        for (const refused of answers.filter(Result.isFailure)) {
          expect(refused.failure).toBeInstanceOf(ServiceUnavailable)
          expect(refused.failure.retry_after).toBeGreaterThan(0)
        }
        expect(yield* hasher.verify(hashed, Redacted.make("right"))).toBe(true)
      }))

    it.effect("are answered 503 with Retry-After over every transport, and count as no attempt", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const { owner } = admins
        const cookie = yield* Pages.signIn(id, owner.id)
        const email = yield* Pages.emailOf(id, owner.id)
        const application = yield* registerApplication()
        const asked = `/oauth/authorize?${query(application, challengeOf("x"), { scope: "accounts:write" })}`
        const consent = Pages.formOf(yield* Pages.visit("GET", asked, { cookie }), "/oauth/authorize")
        const newKey = yield* Pages.visit("GET", "/console/developer/api-keys/new", { cookie })
        const developer = Pages.formOf(newKey, "/console/developer/api-keys")
        const password = Pages.password
        const scope = "accounts:write"
        const ways = {
          "sign-in": Pages.signInWith({ organization: id, email, password }),
          "consent": Pages.visit("POST", asked, {
            cookie,
            form: { ...consent.hidden, decision: "allow", scope_type: "all", scope, password }
          }),
          "developer": Pages.visit("POST", "/console/developer/api-keys", {
            cookie,
            form: { ...developer.hidden, label: "Report", scope, expiry: "90", password }
          }),
          "api": World.send("POST", "/v1/api-keys", {
            key: owner.key,
            body: { label: "Report", scopes: [scope], current_password: password }
          })
        }
        full = true
        for (const [name, way] of Object.entries(ways)) {
          for (let attempt = 0; attempt < 8; attempt++) {
            const answer = yield* way
            expect([name, answer.status, answer.headers.get("retry-after")]).toEqual([name, 503, "2"])
          }
        }
        full = false
        for (const [name, way] of Object.entries(ways)) {
          const { status } = yield* way
          expect([name, status < 400]).toEqual([name, true])
        }
      }))
  })
})
