import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Outbox from "../support/mail/outbox.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const settings = "/v1/settings/notifications"
const preferences = "/v1/me/mail-preferences"
const choices = { security: false, storage: true, news: false, offers: false }

const mailsOf = (organizationId: string) =>
  Effect.map(
    Outbox.waiting(organizationId),
    (mails) => mails.map(({ cause, kind, recipient }) => ({ cause, kind, recipient }))
  )

const emailOf = (organizationId: string, adminId: string) =>
  Effect.map(
    World.query<{ email: string }>(organizationId, (sql) => sql`select email from admin where id = ${adminId}`),
    ([row]) => row?.email
  )

const lastEvent = (organizationId: string) =>
  Effect.map(World.journal(organizationId), (events) => `event/${Math.max(...events.map(({ sequence }) => sequence))}`)

describe("14.1 Kinds of mail: admins who no longer get mails about takeovers are notified", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("an admin who turns security mail off is notified once, if they got it before", () =>
        Effect.gen(function*() {
          for (const recipients of ["owner", "owner_superadmins"] as const) {
            const { admins, id } = yield* World.makeOrganization({ notification_recipients: recipients })
            for (const { key } of Object.values(admins)) {
              expect((yield* World.put(preferences, key, choices)).status).toBe(200)
              yield* World.put(preferences, key, { ...choices, news: true })
            }
            const hearing = recipients === "owner" ? [admins.owner] : [admins.owner, admins.superadmin]
            const emails = yield* Effect.forEach(hearing, (person) => emailOf(id, person.id))
            const mails = yield* mailsOf(id)
            expect(mails.map(({ recipient }) => recipient).toSorted()).toEqual(emails.toSorted())
            expect(new Set(mails.map(({ kind }) => kind))).toEqual(new Set(["alerts_turned_off"]))
          }
        }))

      it.effect("superadmins who want it are notified when notifications go only to the owner, for that event", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization({ notification_recipients: "owner_superadmins" })
          const [silent, gone, new_] = [
            yield* World.makePerson(id, "superadmin"),
            yield* World.makePerson(id, "superadmin"),
            yield* World.makePerson(id, "superadmin")
          ]
          yield* World.set(id, "admin", silent.id, { mail_security: false })
          yield* World.set(id, "admin", gone.id, { disabled_at: new Date(0) })
          yield* World.set(id, "admin", new_.id, { joined_at: null })
          yield* World.put(settings, admins.owner.key, { recipients: "owner" })
          const mail = {
            cause: yield* lastEvent(id),
            kind: "recipients_narrowed",
            recipient: yield* emailOf(id, admins.superadmin.id)
          }
          expect(yield* mailsOf(id)).toEqual([mail])
          yield* World.put(settings, admins.owner.key, { recipients: "owner" })
          yield* World.put(settings, admins.owner.key, { recipients: "owner_superadmins" })
          expect(yield* mailsOf(id)).toEqual([mail])
        }))
    })
  })
})
