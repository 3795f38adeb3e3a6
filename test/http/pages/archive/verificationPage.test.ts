import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { makeArchiveManifests } from "../../../../src/jobs/archive/make_archive_manifests.ts"
import { VerificationTurns } from "../../../../src/ports/archive/VerificationTurns.ts"
import { makeExported } from "../../../support/archive/exportedArchive.ts"
import * as Browser from "../../../support/http/browser.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { press, served, signIn, stage, textOf } from "../browsed.ts"

const path = "/console/archive-verification"

describe("the archive's verification in the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("says that the archive is as it was stored, and what is not", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* makeExported
        yield* makeArchiveManifests.run
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const verify = Effect.gen(function*() {
          const { hidden } = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), path)
          return (yield* Pages.visit("POST", path, { cookie, form: hidden })).text
        })
        const turns = yield* VerificationTurns
        const busy = yield* Effect.scoped(Effect.andThen(turns.take(OrganizationId.make(id)), verify))
        expect(busy).toContain("The service verifies as many archives as it can at a time")
        const good = yield* verify
        expect(good).toContain("The archive is as it was stored")
        expect(good).toContain("<dt>Pages compared</dt><dd>2</dd>")
        yield* World.query<object>(
          id,
          (sql) => sql`delete from archive_page where organization_id = ${id} and kind = 'messages'`
        )
        const wrong = yield* verify
        expect(wrong).toContain("The archive is not as it was stored")
        expect(wrong).toContain("<dt>Missing without a journaled deletion</dt><dd>1</dd>")
        const other = yield* Pages.signIn(id, admins.admin.id)
        expect((yield* Pages.visit("GET", path, { cookie: other })).text).toContain("The owner and superadmins verify")
      }))
  })

  layer(served)((it) => {
    it.effect("fits every screen, in light and dark", () =>
      Effect.gen(function*() {
        const { base, email, id } = yield* stage()
        const page = yield* Browser.newPage()
        const go = (address: string) => Effect.promise(() => page.goto(`${base}${address}`))
        yield* go("/console/accounts")
        yield* signIn(page, id, email)
        yield* go(path)
        yield* press(page, "main form button.main")
        expect(yield* textOf(page)).toContain("Pages compared")
        expect(yield* Browser.inspect(page, "archive-verification")).toEqual([])
      }), 120_000)
  })
})
