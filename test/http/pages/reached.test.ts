import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role } from "../../../src/domain/people/Access.ts"
import { pages } from "../../../src/http/pages/index.ts"
import * as Pages from "../../support/http/pages.ts"
import * as Populated from "../../support/populated.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

/** The pages that no link of the console leads to, each with the reason. */
const unlinked: ReadonlyMap<string, string> = new Map([
  ["/console/accounts/:account_id/secrets", "an account whose 2FA password the service keeps links to it"],
  ["/console/archive/data/archive/accounts", "data of the viewer"],
  ["/console/archive/data/archive/keys", "data of the viewer"],
  ["/console/archive/data/archive/rules", "data of the viewer"],
  ["/console/archive/data/archive/sealed/files/:file_id", "data of the viewer"],
  ["/console/archive/viewer.js", "the viewer's script"],
  ["/console/archive/worker.js", "the viewer's script"],
  ["/console/archive-exports/:export_id/events", "data of an export's page"],
  ["/console/archive-key/page.js", "the script of the archive password's page"],
  ["/console/archive-key/set", "linked before there is an archive password"],
  ["/console/archive-key/worker.js", "the script of the archive password's page"],
  ["/console/downloads.js", "a script of an export's page"],
  ["/console/invitation", "an invitation leads to it"],
  ["/console/logins/:login_id", "a login that is open is linked"],
  ["/console/passkeys.js", "a script of other pages"],
  ["/console/refresh.js", "a script of other pages"],
  ["/console/reset", "the page of the sign-in links to it"],
  ["/console/security/confirm", "an admin who has a second factor is led to it"],
  ["/console/security/identity-provider", "only an organization with an identity provider has it"],
  ["/console/security/second-factor/recovery-codes", "an admin who has a second factor is led to it"],
  ["/console/security/second-factor/remove", "an admin who has a second factor is led to it"],
  ["/console/sign-in", "a visitor who is not signed in is led to it"],
  ["/console/sign-in/passkey", "the page of the sign-in leads to it"],
  ["/console/sign-in/provider", "only an organization with an identity provider has it"],
  ["/console/sign-in/provider/callback/:organization", "the identity provider leads to it"],
  ["/console/sign-in/second-factor", "an admin who has a second factor is led to it"],
  ["/console/sign-in/set-up", "an admin who must have a second factor is led to it"],
  ["/console/style.css", "the style sheet of all pages"],
  ["/oauth/authorize", "an application leads to it"]
])

const start = "/console"

/** The addresses of the console that a page links to, without its places and queries. */
const linked = ({ text }: Pages.Page): ReadonlyArray<string> =>
  [...text.matchAll(/<a [^>]*href="(\/console[^"?#]*)/g)].map(([, path = ""]) => path)

/** Follows every link from the first page, and answers the status of each page. */
const crawl = Effect.fnUntraced(function*(cookie: string) {
  const found = new Map<string, number>()
  const waiting = new Set([start])
  for (const path of waiting) {
    // A session has 120 requests a minute.
    yield* TestClock.adjust("1 second")
    const page = yield* Pages.visit("GET", path, { cookie })
    found.set(path, page.status)
    for (const each of linked(page)) waiting.add(each)
  }
  return found
})

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)

describe("the links of the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "lead an admin of each role to pages that the role may see, and the owner to every page",
      () =>
        Effect.gen(function*() {
          const { admins, id } = yield* Populated.make()
          const reached = yield* Effect.forEach(
            Role.literals,
            (role) =>
              Pages.signIn(id, admins[role].id).pipe(
                Effect.flatMap(crawl),
                Effect.map((found) => [role, found] as const)
              )
          )
          for (const [role, found] of reached) {
            expect([role, [...found].filter(([, status]) => status !== 200)]).toEqual([role, []])
          }
          const owners = [...reached.find(([role]) => role === "owner")?.[1].keys() ?? []]
          const missing = pages.filter(({ method, path }) =>
            method === "GET" && !owners.some((each) => patternOf(path).test(each))
          )
          expect(missing.map(({ path }) => path).toSorted()).toEqual([...unlinked.keys()].toSorted())
        }),
      60_000
    )
  })
})
