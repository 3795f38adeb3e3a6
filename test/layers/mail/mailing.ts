/** Mails that wait for a server, and one run of the job that sends them. */
import { Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { loginAttempted } from "../../../src/domain/mail/index.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { sendMail } from "../../../src/jobs/mail/send_mail.ts"
import * as MailSettings from "../../../src/layers/mail/MailSettings.ts"
import * as Smtp from "../../../src/layers/mail/Smtp.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import * as MailQueue from "../../../src/layers/sql/mail/MailQueue.ts"
import { MailSender } from "../../../src/ports/mail/MailSender.ts"
import { Outbox } from "../../../src/ports/mail/Outbox.ts"
import { within } from "../../support/fixtures.ts"
import { begin } from "../../support/jobs.ts"
import * as World from "../../support/world.ts"

interface Row {
  readonly recipient: string
  readonly attempts: number
  readonly letter_sealed: string | null
  readonly next_at: Date | null
  readonly sent_at: Date | null
  readonly failed_at: Date | null
  readonly error: string | null
}

export const rows = (organizationId: string) =>
  SqlClient.SqlClient.use((sql) =>
    sql<Row>`select * from mail where organization_id = ${organizationId} order by created_at, id`
  )

const beginWith = Effect.fnUntraced(function*<E, R>(sender: Layer.Layer<MailSender, E, R>) {
  const services = yield* Layer.build(Layer.merge(sender, MailQueue.layer))
  return yield* Effect.provideContext(begin(sendMail), services)
})

/** One run of the job `send_mail`, with a sender of the test's. */
export const sendingBy = (sender: MailSender["Service"]) => beginWith(Layer.succeed(MailSender, sender))

/** One run of the job `send_mail`, with a server's address. */
export const sending = Effect.fnUntraced(function*(
  url: string,
  timeout = Duration.seconds(5),
  changes: Partial<MailSettings.MailServer> = {}
) {
  const settings = yield* MailSettings.parse({ ...World.mail, url: Redacted.make(url) })
  const sender = Smtp.layerWith({ silence: timeout, inAll: timeout }).pipe(
    Layer.provide(
      Layer.succeed(MailSettings.MailSettings, settings && { ...settings, server: { ...settings.server, ...changes } })
    )
  )
  return yield* beginWith(sender)
})

export const write = (organizationId: string, count = 1, name = "Ada") =>
  within(
    organizationId,
    Effect.gen(function*() {
      const outbox = yield* Outbox
      for (let number = 1; number <= count; number++) {
        const account = { id: organizationId, name }
        yield* outbox.add(OrganizationId.make(organizationId), `test/${name}/${number}`, loginAttempted({ account }))
      }
    })
  )

/** What earlier tests have left behind waits no more. */
export const emptied = SqlClient.SqlClient.use((sql) =>
  Tenant.directory(sql)(sql`update mail set next_at = null where next_at is not null`)
)

export const organization = Effect.map(World.makeOrganization(), ({ id }) => id)

/** An organization with one mail that waits. */
export const waiting = Effect.tap(organization, (id) => write(id))

/** The last state of the one mail of an organization. */
export const only = (organizationId: string) =>
  Effect.flatMap(
    rows(organizationId),
    ([row, ...more]) =>
      row === undefined || more.length > 0 ? Effect.die(new Error("Not one mail")) : Effect.succeed(row)
  )
