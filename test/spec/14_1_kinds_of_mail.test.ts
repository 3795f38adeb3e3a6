import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import * as Mails from "../../src/domain/mail/index.ts"
import type { Audience } from "../../src/domain/mail/Mail.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import type { EngineMail } from "../../src/domain/protection/Decision.ts"
import { Outbox as Port } from "../../src/ports/mail/Outbox.ts"
import { mailOf } from "../../src/protection/StepMails.ts"
import { within } from "../support/fixtures.ts"
import * as Pages from "../support/http/pages.ts"
import * as Outbox from "../support/mail/outbox.ts"
import { postgres } from "../support/postgres/database.ts"
import * as Factors from "../support/signin/factors.ts"
import * as World from "../support/world.ts"

type Row = readonly [to: Audience["to"], choice: "security" | "storage" | null]

/** Who is told, and by which choice they turn it off, as the contract and the design of its operations say. */
const table: Readonly<Record<string, Row>> = {
  alerts_role_lost: ["admin", null],
  alerts_turned_off: ["admin", null],
  api_key_expires: ["admin", null],
  archive_closes: ["owner", "security"],
  archive_is_deleted: ["owner", "security"],
  identity_linked: ["admin", null],
  identity_unlinked: ["admin", null],
  invitation: ["admin", null],
  login_attempted: ["recipients", "security"],
  monitoring_lost: ["recipients", "security"],
  monitoring_lost_widely: ["recipients", "security"],
  outside_change_detected: ["recipients", "security"],
  ownership_transferred: ["admin", null],
  paired_session_lost: ["recipients", "security"],
  password_replaced: ["admin", null],
  password_reset: ["admin", null],
  protection_stopped: ["recipients", "security"],
  protection_stopped_widely: ["recipients", "security"],
  recipients_narrowed: ["superadmins", "security"],
  recovery_code_used: ["admin", null],
  recovery_codes_renewed: ["admin", null],
  retention_due: ["owner", "security"],
  retention_set: ["owner", "security"],
  review_ended: ["recipients", "security"],
  second_factor_added: ["admin", null],
  second_factor_failed: ["admin", null],
  second_factor_removed: ["admin", null],
  second_factor_reset: ["admin", null],
  secret_unrevealed: ["recipients", "security"],
  session_autokilled: ["recipients", "security"],
  session_detected: ["recipients", "security"],
  storage_almost_full: ["recipients", "storage"],
  superadmin_invited: ["owner", "security"],
  superadmin_joined: ["owner", "security"],
  support_answer: ["admin", null],
  support_request: ["support", null],
  takeover_detected: ["recipients", "security"],
  takeover_stopped: ["recipients", "security"],
  two_fa_lost: ["recipients", "security"]
}

const letter = Redacted.make({ subject: "A mail", paragraphs: ["Something happened."] })

const audienceOf = ([to, choice]: Row, adminId: string): Audience =>
  to === "admin" ? { to, adminId } : to === "support" ? { to } : { to, choice: choice ?? "security" }

/** What a step of the watch tells, of each kind. */
const found: ReadonlyArray<EngineMail> = [
  { kind: "session.detected", session: { id: "1" } as never, deadline: null, event: 0 },
  { kind: "session.autokilled", session: { id: "1" } as never, event: 0 },
  { kind: "outside_change.detected", signals: [], event: 0 },
  { kind: "login.attempted", session: null, event: 0 },
  { kind: "takeover.detected", signals: [], response: "sign_out", event: 0 },
  { kind: "takeover.stopped", ended: 1, event: 0 },
  { kind: "monitoring.lost", error: "unavailable", event: 0 },
  { kind: "protection.stopped", reason: "session_lost", event: 0 },
  { kind: "two_fa.lost", event: 0 },
  { kind: "paired_session.lost", error: "revoked", event: 0 }
]

describe("14.1 Kinds of mail", () => {
  it("every kind has its recipients and its choice, and there is no other", () => {
    const declared = Mails.mailKinds.map(({ choice, kind, to }) => [kind, [to, choice]] as const)
    expect(new Set(declared.map(([kind]) => kind)).size).toBe(declared.length)
    expect(Object.fromEntries(declared)).toEqual(table)
  })

  it("whatever a look at an account finds has its mail", () => {
    const account = { id: AccountId.make("0197a000-0000-7000-8000-000000000001"), name: "Ada" }
    for (const mail of found) {
      const { audience, kind } = mailOf(mail, { account, twoFaManaged: false, session: () => undefined })
      expect([kind, audience]).toEqual([mail.kind.replace(".", "_"), { to: "recipients", choice: "security" }])
    }
  })

  layer(World.world(postgres))((it) => {
    /** An organization with everybody who may hear of something, or may not. */
    const stage = Effect.fnUntraced(function*(recipients: "owner" | "owner_superadmins") {
      const { admins, id } = yield* World.makeOrganization({ notification_recipients: recipients })
      const person = (facts: Record<string, unknown>) =>
        Effect.tap(World.makePerson(id, "superadmin"), (made) => World.set(id, "admin", made.id, facts))
      const silent = yield* person({ mail_security: false, mail_storage: false })
      yield* person({ disabled_at: new Date(0) })
      yield* person({ joined_at: null })
      const email = (adminId: string) => Pages.emailOf(id, adminId)
      return {
        id,
        admins,
        silent,
        owner: yield* email(admins.owner.id),
        superadmin: yield* email(admins.superadmin.id),
        quiet: yield* email(silent.id)
      }
    })

    const mailsOf = (id: string, kind: string) =>
      Effect.map(
        Outbox.waiting(id),
        (mails) => mails.filter((mail) => mail.kind === kind).map(({ recipient }) => recipient).toSorted()
      )

    it.effect("each goes to those whom the table names and who have not turned it off", () =>
      Effect.gen(function*() {
        for (const recipients of ["owner", "owner_superadmins"] as const) {
          const { id, owner, quiet, silent, superadmin } = yield* stage(recipients)
          const expected: Readonly<Record<Audience["to"], ReadonlyArray<string>>> = {
            recipients: recipients === "owner" ? [owner] : [owner, superadmin],
            owner: [owner],
            superadmins: [superadmin],
            // What is about somebody's own access cannot be turned off.
            admin: [quiet],
            support: [World.mail.support]
          }
          for (const [kind, row] of Object.entries(table)) {
            const mail = { kind, audience: audienceOf(row, silent.id), letter }
            yield* within(
              id,
              Effect.flatMap(Port, (outbox) => outbox.add(OrganizationId.make(id), `test/${kind}`, mail))
            )
            expect([kind, yield* mailsOf(id, kind)]).toEqual([kind, expected[row[0]].toSorted()])
          }
        }
      }))

    it.effect("S2.9-03: there is no choice for what somebody signs in by or for invoices, and with all four off every mail without one comes", () =>
      Effect.gen(function*() {
        const { admins, id, owner } = yield* stage("owner")
        const { key } = admins.owner
        const off = { security: false, storage: false, news: false, offers: false }
        expect((yield* World.put("/v1/me/mail-preferences", key, off)).body.choices).toEqual(off)
        for (const more of ["codes", "invoices", "password_reset"]) {
          const refused = yield* World.put("/v1/me/mail-preferences", key, { ...off, [more]: false })
          expect([more, ...World.refusal(refused).slice(0, 2)]).toEqual([more, 400, "parameter_invalid"])
        }
        for (const [kind, row] of Object.entries(table).filter(([, [to]]) => to !== "support")) {
          const mail = { kind, audience: audienceOf(row, admins.owner.id), letter }
          yield* within(
            id,
            Effect.flatMap(Port, (outbox) => outbox.add(OrganizationId.make(id), `test/${kind}/off`, mail))
          )
          const mails = (yield* Outbox.waiting(id)).filter(({ cause }) => cause === `test/${kind}/off`)
          const comes = row[1] === null ? [owner] : []
          expect([kind, mails.map(({ recipient }) => recipient).filter((one) => one === owner)]).toEqual([kind, comes])
        }
      }))

    it.effect("the owner hears of superadmins who are invited and join, unless the owner has turned that off", () =>
      Effect.gen(function*() {
        const { admins, id, owner } = yield* stage("owner")
        const { key } = admins.owner
        yield* Pages.givePassword(id, admins.owner.id)
        const given = { role: "superadmin", current_password: Pages.password }
        const invite = Effect.fnUntraced(function*(email: string) {
          expect((yield* World.send("POST", "/v1/admins", { key, body: { email, ...given } })).status).toBe(200)
          const mails = yield* Outbox.waiting(id)
          const { text = "" } = mails.find(({ kind, recipient }) => kind === "invitation" && recipient === email) ?? {}
          const link = /\/console\/invitation\?\S+/.exec(text)?.[0] ?? ""
          const form = Pages.formOf(yield* Pages.visit("GET", link), "/console/invitation")
          const chosen = { new: "seven green lanterns hum", repeated: "seven green lanterns hum" }
          expect((yield* Pages.visit("POST", form.action, { form: { ...form.hidden, ...chosen } })).status).toBe(303)
        })
        yield* invite("nora@example.com")
        expect([yield* mailsOf(id, "superadmin_invited"), yield* mailsOf(id, "superadmin_joined")]).toEqual([[owner], [
          owner
        ]])
        const role = yield* World.put(`/v1/admins/${admins.admin.id}/role`, key, given)
        expect([role.status, yield* mailsOf(id, "superadmin_invited")]).toEqual([200, [owner, owner]])
        yield* World.set(id, "admin", admins.owner.id, { mail_security: false })
        yield* invite("olga@example.com")
        expect([yield* mailsOf(id, "superadmin_invited"), yield* mailsOf(id, "superadmin_joined")]).toEqual([
          [owner, owner],
          [owner]
        ])
      }))

    it.effect("both owners hear of the ownership, and who loses the role that alerts go to hears that", () =>
      Effect.gen(function*() {
        const { admins, id, owner, silent, superadmin } = yield* stage("owner_superadmins")
        yield* Pages.givePassword(id, admins.owner.id)
        const body = { admin_id: admins.superadmin.id, current_password: Pages.password }
        const { status } = yield* World.send("POST", "/v1/organization/ownership", { key: admins.owner.key, body })
        expect([status, yield* mailsOf(id, "ownership_transferred")]).toEqual([200, [owner, superadmin].toSorted()])
        yield* Pages.givePassword(id, admins.superadmin.id)
        const given = { role: "billing", current_password: Pages.password }
        yield* World.put(`/v1/admins/${admins.owner.id}/role`, admins.superadmin.key, given)
        expect(yield* mailsOf(id, "alerts_role_lost")).toEqual([owner])
        // Whoever had turned them off loses nothing.
        const role = yield* World.put(`/v1/admins/${silent.id}/role`, admins.superadmin.key, given)
        expect([role.status, yield* mailsOf(id, "alerts_role_lost")]).toEqual([200, [owner]])
      }))

    it.effect("an admin hears of recovery codes that are used and made anew", () =>
      Effect.gen(function*() {
        const { admins, id, superadmin } = yield* stage("owner")
        const { id: adminId } = admins.superadmin
        yield* Pages.givePassword(id, adminId)
        yield* Factors.giveTotp(id, adminId)
        const code = yield* Factors.giveRecoveryCode(id, adminId)
        const cookie = Pages.cookiesOf(yield* Factors.answer(yield* Factors.begin(id, superadmin), code))
        expect(yield* mailsOf(id, "recovery_code_used")).toEqual([superadmin])
        yield* TestClock.adjust("1 minute")
        const path = "/console/security/second-factor/recovery-codes"
        const form = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), path)
        const made = yield* Pages.visit("POST", path, { cookie, form: { ...form.hidden, password: Pages.password } })
        expect([made.status, yield* mailsOf(id, "recovery_codes_renewed")]).toEqual([200, [superadmin]])
      }))
  })
})
