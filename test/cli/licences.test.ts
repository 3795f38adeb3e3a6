import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { dataDirectory } from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import { act } from "../support/operator/operator.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const unchanged = { name: null, plan: null, seats: null, valid_until: null, open_ended: false }

describe("the commands about plans, licences, seats and bills", () => {
  layer(World.world(postgres))((it) => {
    it.effect("set how an organization is billed, as its subscription shows it to whom it may", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({
          status: "pending",
          billing_state: "none",
          plan: null,
          period: null,
          licences_governance: 0
        })
        const set = (billing: object, rest: object = {}) =>
          act((requests) => requests.organizations_set({ organization: id, ...unchanged, billing, ...rest }))
        const faults = [
          [{ billing_state: "trial" }, {}, /--trial-ends/],
          [{ billing_state: "active" }, {}, /--plan and --period/],
          [{ billing_state: "active" }, { plan: "archive" }, /--plan and --period/],
          [{ managed: false }, {}, /has a plan/],
          [{ managed: false, billing_state: "retry" }, { plan: "archive" }, /no billing state/],
          [{}, { valid_until: new Date("2030-01-01") }, /by subscription: it has no end/],
          [{ amount_minor: 4900 }, {}, /An amount has a currency/],
          [{ currency: "euro" }, {}, /ISO 4217/],
          [{ payer_email: "nobody" }, {}, /an email address/],
          [{ licences_archive: -1 }, {}, /licences_archive/]
        ] as const
        for (const [billing, rest, message] of faults) expect(yield* set(billing, rest)).toMatch(message)
        expect(yield* World.journal(id)).toEqual([])

        const trial = new Date("2999-01-01T00:00:00.000Z")
        expect(yield* set({ billing_state: "trial", trial_ends_at: trial })).toMatchObject({
          status: "active",
          billing: { state: "trial", trial_ends_at: trial }
        })
        const bill = {
          billing_state: "active",
          period: "annual",
          licences_governance: 2,
          trial_ends_at: null,
          amount_minor: 490_000,
          currency: "EUR",
          payer_email: "bills@acme.example",
          next_invoice_at: new Date("2027-01-01T00:00:00.000Z")
        }
        yield* set(bill, { plan: "governance", seats: 5 })
        const shown = yield* World.get("/v1/subscription", admins.billing.key)
        expect(shown.body).toMatchObject({
          billing_state: "active",
          plan: "governance",
          period: "annual",
          licences: { protect: 0, archive: 0, governance: 2 },
          seats: { limit: 5 },
          trial_ends_at: null,
          amount: 490_000,
          currency: "EUR",
          payer_email: "bills@acme.example",
          next_invoice_at: "2027-01-01T00:00:00.000Z"
        })
        expect((yield* World.get("/v1/subscription", admins.admin.key)).body.payer_email).toBeNull()
        expect((yield* World.get("/v1/organization", admins.admin.key)).body).toMatchObject({
          status: "active",
          protection_active: true,
          plan: { managed: true, plan: "governance" }
        })

        expect(yield* set({ managed: false }, { valid_until: trial })).toMatchObject({
          managed: false,
          valid_until: trial,
          billing: { state: "none" }
        })
        expect(yield* set({ managed: true, billing_state: "lapsed" })).toMatchObject({ valid_until: null })
        expect((yield* World.get("/v1/organization", admins.admin.key)).body.protection_active).toBe(false)
        const entries = yield* World.journal(id)
        expect(entries.map(({ action, actor_type, details, via }) => [action, actor_type, via, details])).toEqual([
          ["organization.set", "operator", "cli", { billing_state: "trial", trial_ends_at: trial.toISOString() }],
          ["organization.set", "operator", "cli", {
            plan: "governance",
            seats: 5,
            ...bill,
            trial_ends_at: "none",
            next_invoice_at: "2027-01-01T00:00:00.000Z"
          }],
          ["organization.set", "operator", "cli", { managed: false, valid_until: trial.toISOString() }],
          ["organization.set", "operator", "cli", { managed: true, billing_state: "lapsed" }]
        ])
      }))

    it.effect("move an account to another tier while a licence of it is left, and never below what is held", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ licences_archive: 1, licences_governance: 1 })
        const held = (tier: string | null, more: object = {}) =>
          World.makeAccount(id, { facts: { licence_tier: tier, ...more } })
        const first = yield* held("governance")
        const second = yield* held(null)
        const gone = yield* held("governance", { offboarded_at: new Date(0) })
        const move = (account_id: string, tier: "protect" | "archive" | "governance") =>
          act((requests) => requests.accounts_set_tier({ organization: id, account_id, tier }))
        expect(yield* move(second, "governance")).toBe(
          `${id} has 1 licences of the tier governance, and 1 accounts hold one.`
        )
        expect(yield* move(second, "archive")).toMatchObject({ tier: "archive", from: null })
        expect(yield* move(first, "archive")).toMatch(/^t-\S+ has 1 licences of the tier archive/)
        expect(yield* move(gone, "archive")).toMatch(/is offboarded/)
        expect(yield* move("nobody", "archive")).toMatch(/has no account nobody\.$/)
        const other = yield* World.makeOrganization()
        expect(yield* move(yield* World.makeAccount(other.id), "archive")).toMatch(/has no account/)
        expect(yield* move(second, "archive")).toMatchObject({ from: "archive" })
        expect((yield* World.get(`/v1/accounts/${second}`, admins.owner.key)).body.licence_tier).toBe("archive")
        expect(
          yield* act((requests) =>
            requests.organizations_set({ organization: id, ...unchanged, billing: { licences_archive: 0 } })
          )
        ).toBe(`1 accounts of ${id} hold a licence of the tier archive: it cannot have 0.`)
        expect((yield* World.journal(id)).map(({ account_id, action, details }) => [action, account_id, details]))
          .toEqual([["account.tier_set", second, { tier: "archive" }]])

        yield* World.set(id, "organization", id, { licences_archive: 0, licences_governance: 0, plan: "archive" })
        expect(yield* move(first, "protect")).toMatchObject({ from: "governance" })
        expect(yield* move(first, "governance")).toBe(
          `The plan of ${id} is archive: its accounts cannot have governance.`
        )
        yield* World.set(id, "organization", id, { billing_state: "trial", trial_ends_at: new Date(0) })
        expect(yield* move(first, "archive")).toMatch(/has no paid plan/)
      }))

    it.effect("keep when the holder of an account agreed to archiving, and that they no longer do, each journaled once", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const account_id = yield* World.makeAccount(id)
        const keep = (at: Date | null) =>
          act((requests) => requests.accounts_set_consent({ organization: id, account_id, at }))
        const shown = Effect.map(
          World.get(`/v1/accounts/${account_id}`, admins.owner.key),
          ({ body }) => body.archive_consent_at
        )
        yield* TestClock.setTime(1_000_000)
        yield* keep(new Date(500_000))
        yield* keep(new Date(500_000))
        expect(yield* shown).toBe("1970-01-01T00:08:20.000Z")
        expect(yield* keep(new Date(1_000_001))).toMatch(/in the future/)
        yield* keep(null)
        expect(yield* shown).toBeNull()
        expect((yield* World.journal(id)).map(({ account_id, action, details }) => [action, account_id, details]))
          .toEqual([
            ["account.archive_consent_set", account_id, { agreed_at: "1970-01-01T00:08:20.000Z" }],
            ["account.archive_consent_set", account_id, { agreed: false }]
          ])
      }))

    it.effect("list and revoke links that hold seats, and free those seats", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ seat_limit: 2 })
        const links = ["00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"] as const
        yield* World.addRows("sign_up_link", id, [
          { id: links[0], created_at: new Date(1), used_at: null },
          { id: links[1], created_at: new Date(2), used_at: null },
          { id: "00000000-0000-7000-8000-00000000000c", created_at: new Date(3), used_at: new Date(4) }
        ])
        const other = yield* World.makeOrganization()
        const listed = act((requests) => requests.sign_up_links_list({ organization: id }))
        const revoke = (link_id: string, organization: string = id) =>
          act((requests) => requests.sign_up_links_revoke({ organization, link_id }))
        expect(yield* listed).toEqual({
          reserved: 2,
          links: [{ id: links[1], created_at: new Date(2) }, { id: links[0], created_at: new Date(1) }]
        })
        expect(yield* act((requests) => requests.organizations_set({ organization: id, ...unchanged, seats: 1 })))
          .toMatch(/has 2 seats in use or kept for sign-up links/)
        expect(yield* revoke(links[0], other.id)).toMatch(/has no sign-up link/)
        expect(yield* revoke("00000000-0000-7000-8000-00000000000c")).toMatch(/that is not used\.$/)
        expect(yield* revoke("nothing")).toMatch(/has no sign-up link nothing/)
        expect(yield* revoke(links[0].toUpperCase())).toMatchObject({ link_id: links[0], free_seats: 1 })
        expect(yield* revoke(links[0])).toMatch(/has no sign-up link/)
        expect((yield* World.get("/v1/organization", admins.owner.key)).body.seats).toEqual({
          limit: 2,
          used: 0,
          reserved: 1,
          free: 1
        })
        expect((yield* World.journal(id)).map((each) => [each.action, each.target_type, each.target_id])).toEqual([
          ["sign_up_link.revoked", "sign_up_link", links[0]]
        ])
      }))
  })

  it("say it all by flags, and take values away by the word none", async () => {
    const data = dataDirectory()
    const printed = (...words: ReadonlyArray<string>) => doneInProcess([...words, "--data", data])
    await printed("organizations", "create", "acme", "--name", "Acme", "--owner", "olivia@acme.example")
    const billed = await printed(
      ..."organizations set acme --licensed-by subscription --billing-state active --period annual".split(" "),
      ..."--licences-archive 3 --cancel-at 2027-01-01 --amount 4900 --currency EUR --payer none".split(" ")
    )
    expect(billed).toMatch(/Licences +0 protect, 3 archive, 0 governance\n/)
    expect(billed).toMatch(/Ends +2027-01-01 00:00 UTC\nAmount +4900 EUR/)
    expect(billed).not.toMatch(/Payer/)
    expect(await runInProcess(["organizations", "set", "acme", "--trial-ends", "soon", "--data", data])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("a date such as")
    })
    await printed(..."organizations set acme --storage-limit 500".split(" "))
    const events = await printed("journal", "export", "acme")
    expect(events).toContain("\"storage_limit_bytes\":500000000000")
    expect(await runInProcess(["organizations", "set", "acme", "--storage-limit", "much", "--data", data]))
      .toMatchObject({ status: 2, stderr: expect.stringContaining("a whole number of GB") })
    expect(await runInProcess(["accounts", "set-tier", "acme", "nobody", "archive", "--data", data])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("acme has no account nobody.")
    })
  })
})
