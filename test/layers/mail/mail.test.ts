import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { loginAttempted } from "../../../src/domain/mail/index.ts"
import { OrganizationId } from "../../../src/domain/people/Access.ts"
import { forgetMail } from "../../../src/jobs/mail/forget_mail.ts"
import type * as MailSettings from "../../../src/layers/mail/MailSettings.ts"
import * as MailQueue from "../../../src/layers/sql/mail/MailQueue.ts"
import { Outbox } from "../../../src/ports/mail/Outbox.ts"
import { within } from "../../support/fixtures.ts"
import * as Pages from "../../support/http/pages.ts"
import * as MailServer from "../../support/mail/mailServer.ts"
import { metric } from "../../support/metrics.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"
import { emptied, only, organization, rows, sending, sendingBy, waiting, write } from "./mailing.ts"

describe("14.3 Sending", () => {
  layer(World.world(postgres))((it) => {
    it.effect("sends a mail once, and keeps nothing of what it said", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const id = yield* waiting
        const send = yield* sending(server.url)
        yield* send
        yield* send
        const [mail, ...more] = server.received
        expect(more).toEqual([])
        if (mail === undefined) return yield* Effect.die("no mail")
        const row = yield* only(id)
        expect(mail.from).toBe("console@console.test")
        expect(mail.to).toEqual([row.recipient])
        expect(MailServer.header(mail, "From")).toEqual(["Console <console@console.test>"])
        expect(MailServer.header(mail, "Auto-Submitted")).toEqual(["auto-generated"])
        expect(MailServer.header(mail, "Message-ID")).toEqual([
          expect.stringMatching(/^<[0-9a-f]{32}@console\.test>$/)
        ])
        expect(mail.text).toContain("text/plain")
        expect(mail.text).toContain("text/html")
        expect(row).toMatchObject({ letter_sealed: null, next_at: null, attempts: 1, error: null, failed_at: null })
        expect(row.sent_at).not.toBeNull()
      }))

    it.effect("is not sent to admins who were disabled or removed since it was written, nor to closed organizations", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const { admins, id } = yield* World.makeOrganization({ notification_recipients: "owner_superadmins" })
        const removed = yield* World.makePerson(id, "superadmin")
        yield* write(id)
        const body = { category: "other", subject: "Help", message: "Who signed in?" }
        yield* World.send("POST", "/v1/support-requests", { key: removed.key, body })
        expect(yield* rows(id)).toHaveLength(4)
        expect((yield* World.post(`/v1/admins/${admins.superadmin.id}/disable`, admins.owner.key)).status).toBe(200)
        yield* World.send("DELETE", `/v1/admins/${removed.id}`, { key: admins.owner.key })
        const closed = yield* waiting
        yield* World.set(closed, "organization", closed, { closed_at: new Date(0) })
        yield* yield* sending(server.url)
        const owner = yield* Pages.emailOf(id, admins.owner.id)
        expect(server.received.flatMap(({ to }) => to).toSorted()).toEqual([owner, World.mail.support].toSorted())
        expect((yield* rows(id)).map(({ recipient }) => recipient).toSorted()).toEqual(
          [owner, World.mail.support].toSorted()
        )
        expect(yield* rows(closed)).toEqual([])
      }))

    it.effect("looks for nobody's mails only among those that it takes, and goes on after them", () =>
      Effect.gen(function*() {
        const id = yield* organization
        const closed = yield* organization
        yield* write(id)
        yield* TestClock.adjust("1 second")
        yield* write(closed, 25)
        yield* TestClock.adjust("1 second")
        yield* write(id, 1, "Grace")
        yield* World.set(closed, "organization", closed, { closed_at: new Date(0) })
        const left: Array<number> = []
        const sql = yield* SqlClient.SqlClient
        const counting = {
          send: () =>
            rows(closed).pipe(
              Effect.map((all) => void left.push(all.length)),
              Effect.provideService(SqlClient.SqlClient, sql),
              Effect.orDie
            )
        }
        yield* yield* sendingBy(counting)
        expect(left).toEqual([16, 0])
      }))

    it.effect("gives a mail up at once where the server refuses its recipient or its text for good", () =>
      Effect.gen(function*() {
        for (const refuses of ["onRcptTo", "onData"] as const) {
          const server = yield* MailServer.start(
            refuses === "onRcptTo"
              ? { onRcptTo: (_address, _session, done) => done(MailServer.refusal(550)) }
              : {
                onData: (stream, _session, done) => {
                  stream.resume()
                  stream.on("end", () => done(MailServer.refusal(554)))
                }
              }
          )
          const id = yield* waiting
          yield* yield* sending(server.url)
          const row = yield* only(id)
          expect(row).toMatchObject({ letter_sealed: null, next_at: null, sent_at: null })
          expect(row.failed_at).not.toBeNull()
          expect(row.error).toMatch(/^55[04] /)
        }
      }))

    it.effect("shows how many mails wait, how old the oldest is, and how many were given up", () =>
      Effect.gen(function*() {
        yield* emptied
        const server = yield* MailServer.start({
          onRcptTo: (_address, _session, done) => done(MailServer.refusal(450))
        })
        const given = yield* metric("console_mail_failed_total")
        const id = yield* organization
        yield* write(id, 3)
        yield* Effect.scoped(Effect.gen(function*() {
          const send = yield* sending(server.url)
          const shown = Effect.all([metric("console_mail_waiting"), metric("console_mail_oldest_seconds")])
          expect(yield* shown).toEqual([0, 0])
          yield* send
          expect(yield* shown).toEqual([3, 0])
          yield* TestClock.adjust("30 seconds")
          expect(yield* shown).toEqual([3, 30])
          yield* TestClock.adjust("25 hours")
          yield* send
          expect(yield* shown).toEqual([0, 0])
        }))
        expect(yield* metric("console_mail_failed_total")).toBe(given + 3)
      }))

    it.effect("tries again after 1, 5, 15 and 60 minutes and then hourly, as the same message, up to 24 hours", () =>
      Effect.gen(function*() {
        const tried: Array<number> = []
        let minute = 0
        const server = yield* MailServer.start({
          onRcptTo: (_address, _session, done) => {
            tried.push(minute)
            done(MailServer.refusal(450))
          }
        })
        const id = yield* waiting
        const send = yield* sending(server.url)
        for (const at of [0, 1, 5, 6, 20, 21, 80, 81, 140, 141, 25 * 60]) {
          yield* TestClock.adjust(Duration.minutes(at - minute))
          minute = at
          yield* send
        }
        expect(tried).toEqual([0, 1, 6, 21, 81, 141, 25 * 60])
        const row = yield* only(id)
        expect(row).toMatchObject({ letter_sealed: null, next_at: null, sent_at: null, attempts: 7 })
        expect(row.error).toBe("450 RCPT TO EENVELOPE")
      }))

    it.effect("goes on after a server that is away, silent, breaks off or has no TLS, with one message id", () =>
      Effect.gen(function*() {
        const id = yield* waiting
        const attempt = Effect.fnUntraced(function*(url: string, changes: Partial<MailSettings.MailServer> = {}) {
          yield* yield* sending(url, Duration.millis(300), changes)
          const row = yield* only(id)
          yield* TestClock.adjust("2 hours")
          return row
        })
        const silent = yield* MailServer.raw(() => {})
        let cuts = 0
        const breaking = yield* MailServer.start({
          onData: (stream) => {
            cuts += 1
            stream.once("data", () => breaking.cut())
          }
        })
        expect((yield* attempt("smtp://127.0.0.1:1")).error).toMatch(/ECONNECTION|ESOCKET/)
        expect((yield* attempt(silent)).error).toMatch(/ETIMEDOUT|in time/)
        expect((yield* attempt(breaking.url)).sent_at).toBeNull()
        expect(cuts).toBe(1)
        const plain = yield* MailServer.start()
        expect((yield* attempt(plain.url.replace("smtp:", "smtps:"))).sent_at).toBeNull()
        expect((yield* attempt(plain.url, { tls: "required" })).sent_at).toBeNull()
        expect(plain.received).toEqual([])
        expect((yield* attempt(plain.url)).sent_at).not.toBeNull()
        expect(plain.received.length).toBe(1)
      }))

    it.effect("never trusts a certificate that nobody vouches for", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start({ secure: true })
        const id = yield* waiting
        yield* yield* sending(server.url.replace("smtp:", "smtps:"))
        expect((yield* only(id)).sent_at).toBeNull()
        expect(server.received).toEqual([])
      }))

    it.effect("joins more than 10 notifications for one person", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const [few, many] = [yield* organization, yield* organization]
        yield* write(few, 10)
        yield* write(many, 25)
        yield* yield* sending(server.url)
        expect(server.received.length).toBe(11)
        const digest = server.received.filter((mail) => MailServer.header(mail, "Subject")[0] === "25 notifications")
        expect(digest.length).toBe(1)
        expect((yield* rows(many)).every(({ sent_at }) => sent_at !== null)).toBe(true)
      }))

    it.effect("sends what another process has claimed and not sent after a minute, and sends nothing twice", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const ids = yield* Effect.all([waiting, waiting, waiting])
        const never = { send: () => Effect.never }
        const fiber = yield* Effect.forkChild(yield* sendingBy(never))
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 300)))
        const send = yield* sending(server.url)
        yield* send
        expect(server.received).toEqual([])
        yield* Effect.sync(() => fiber.interruptUnsafe())
        yield* TestClock.adjust("61 seconds")
        yield* Effect.all([send, yield* sending(server.url), yield* sending(server.url)], { concurrency: 3 })
        for (const id of ids) {
          const { recipient, sent_at } = yield* only(id)
          expect(sent_at).not.toBeNull()
          expect(server.received.filter(({ to }) => to[0] === recipient).length).toBe(1)
        }
      }))

    it.effect("lets no name and no address add a header or a recipient", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const names = ["x\r\nBcc: thief@evil.example", "x\nSubject: y", "é".repeat(200), "a\u2028Bcc: b@c.d"]
        for (const name of names) {
          const id = yield* organization
          yield* write(id, 1, name)
        }
        const { admins, id } = yield* World.makeOrganization()
        yield* World.set(id, "admin", admins.owner.id, { email: "a,thief@evil.example" })
        yield* write(id)
        yield* yield* sending(server.url)
        for (const mail of server.received) {
          expect(MailServer.header(mail, "Bcc")).toEqual([])
          expect(MailServer.header(mail, "Subject").length).toBe(1)
          expect(mail.to.length).toBe(1)
          expect(mail.to[0]).not.toBe("thief@evil.example")
        }
        expect(server.received.length).toBeGreaterThanOrEqual(names.length)
      }))

    it.effect("writes one mail for one cause and person, and none for an event that nothing has appended", () =>
      Effect.gen(function*() {
        const id = yield* organization
        yield* write(id, 2)
        yield* write(id, 2)
        expect((yield* rows(id)).length).toBe(2)
        const outbox = yield* Outbox
        const mail = loginAttempted({ account: { id, name: "Ada" } })
        const exit = yield* Effect.exit(within(id, outbox.add(OrganizationId.make(id), "event", mail)))
        expect(exit._tag).toBe("Failure")
        expect((yield* rows(id)).length).toBe(2)
      }))

    it.effect("forgets mails that were sent 30 days ago", () =>
      Effect.gen(function*() {
        const server = yield* MailServer.start()
        const id = yield* waiting
        yield* yield* sending(server.url)
        yield* TestClock.adjust("29 days")
        yield* Effect.provide(forgetMail.run, MailQueue.layer)
        expect((yield* rows(id)).length).toBe(1)
        yield* TestClock.adjust("2 days")
        yield* Effect.provide(forgetMail.run, MailQueue.layer)
        expect(yield* rows(id)).toEqual([])
      }))
  })
})
