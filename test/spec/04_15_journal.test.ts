import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { drawnOn } from "../support/drawn.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { interrupting } from "../support/postgres/statements.ts"
import * as World from "../support/world.ts"

const at = (second: number) => new Date(1_700_000_000_000 + second * 1000)

/** An organization with so many events, one a second; the sequence of an event is the second of its time. */
const make = Effect.fnUntraced(function*(count: number) {
  const organization = yield* World.makeOrganization()
  const account = yield* World.makeAccount(organization.id)
  const writer = yield* World.makePerson(organization.id, "superadmin")
  for (let second = 1; second <= count; second++) {
    yield* TestClock.setTime(at(second).getTime())
    const answer = yield* World.put(`/v1/accounts/${account}/role-label`, writer.key, { role_label: `Label ${second}` })
    expect(answer.status).toBe(200)
  }
  yield* TestClock.setTime(at(200).getTime())
  return { organization, account, writer, key: organization.admins.owner.key }
})

const sequences = (answer: World.Answer): ReadonlyArray<number> =>
  answer.body.data.map(({ sequence }: { sequence: number }) => sequence)
const list = (key: World.Asking["key"] & {}, query = "") => World.get(`/v1/journal${query}`, key)
const down = (from: number, to: number) =>
  Array.from({ length: Math.max(0, from - to + 1) }, (_, index) => from - index)

describe("4.15 list_journal_events and get_journal_event", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.15-01: the list is the envelope with the journal's last sequence, and an event reads alone as it is listed", () =>
        Effect.gen(function*() {
          const { account, key, organization, writer } = yield* make(2)
          const { body, status } = yield* list(key)
          expect(status).toBe(200)
          expect(Object.keys(body).sort()).toEqual(["content_notice", "data", "has_more", "last_sequence", "object"])
          expect(body).toMatchObject({
            object: "list",
            has_more: false,
            last_sequence: 2,
            content_notice: contentNotice
          })
          expect(body.data[0]).toEqual({
            object: "journal_event",
            id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            sequence: 2,
            at: at(2).toISOString(),
            action: "account.role_label_set",
            outcome: "done",
            actor: { type: "admin", admin_id: writer.id, name: expect.stringContaining("@example.com") },
            credential: { kind: "api_key", id: writer.keyId, label: "superadmin key" },
            via: "rest",
            account_id: account,
            target: { type: "account", id: account },
            details: { role_label: "Label 2" },
            ip: null,
            request_id: expect.stringMatching(/^req_/),
            closes: null,
            prev_hash: body.data[1].hash,
            hash: expect.stringMatching(/^[0-9a-f]{64}$/)
          })
          for (const event of body.data) {
            const single = yield* World.get(`/v1/journal/${event.id}`, key)
            expect([single.status, single.body]).toEqual([200, { ...event, content_notice: contentNotice }])
          }
          const empty = yield* World.makeOrganization()
          expect((yield* list(empty.admins.owner.key)).body).toEqual({
            object: "list",
            data: [],
            has_more: false,
            last_sequence: 0,
            content_notice: contentNotice
          })
          expect(organization.id).not.toBe(empty.id)
        }))

      it.effect("get_journal_event answers 404 alike for an unknown event and another organization's, and 400 for a malformed id", () =>
        Effect.gen(function*() {
          const { key, organization } = yield* make(1)
          const other = yield* make(1)
          const [theirs] = yield* World.journal(other.organization.id)
          const [mine] = yield* World.journal(organization.id)
          const unknown = yield* World.get(`/v1/journal/${crypto.randomUUID()}`, key)
          expect(World.refusal(unknown)).toEqual([404, "resource_missing", "event_id"])
          expect((yield* World.get(`/v1/journal/${theirs!.id}`, key)).body).toEqual(unknown.body)
          expect((yield* World.get(`/v1/journal/${mine!.id.toUpperCase()}`, key)).body.id).toBe(mine!.id)
          for (const id of ["1", "last", `${mine!.id}0`]) {
            expect(World.refusal(yield* World.get(`/v1/journal/${id}`, key))).toEqual([
              400,
              "parameter_invalid",
              "event_id"
            ])
          }
        }))

      it.effect("S4.15-03: limit is 1 to 100 and 50 without one", () =>
        Effect.gen(function*() {
          const { key } = yield* make(103)
          for (const [query, size] of [["", 50], ["?limit=1", 1], ["?limit=100", 100]] as const) {
            const { body } = yield* list(key, query)
            expect([query, body.data.length, body.has_more, body.last_sequence]).toEqual([query, size, true, 103])
          }
          for (const limit of ["0", "101", "-1", "1e1", " 5", "", "1.0"]) {
            const refused = yield* list(key, `?limit=${encodeURIComponent(limit)}`)
            expect([limit, ...World.refusal(refused)]).toEqual([limit, 400, "parameter_invalid", "limit"])
          }
        }))
    })

    layer(World.world(database))((it) => {
      const total = 9
      let made: Effect.Success<ReturnType<typeof make>> | undefined
      /** One journal of nine events for the properties below, which only read it. */
      const stage = Effect.gen(function*() {
        made ??= yield* make(total)
        const reader = yield* World.makeKey(made.organization.id, made.organization.admins.owner.id)
        return { ...made, key: reader.key, events: yield* World.journal(made.organization.id) }
      })

      it.effect.prop(
        "S4.15-04: it is newest first, and before_id walks backwards over every event once, at any page size",
        [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))],
        ([limit]) =>
          Effect.gen(function*() {
            const { key } = yield* stage
            const pages: Array<ReadonlyArray<number>> = []
            let before = ""
            while (true) {
              const answer = yield* list(key, `?limit=${limit}${before}`)
              pages.push(sequences(answer))
              expect(answer.body.last_sequence).toBe(total)
              if (!answer.body.has_more) break
              expect(answer.body.data).toHaveLength(limit)
              before = `&before_id=${answer.body.data.at(-1).id}`
            }
            expect(pages.flat()).toEqual(down(total, 1))
          }),
        drawnOn(name, 12)
      )

      it.effect("S2-01, S7-04: a moment is an ISO 8601 date-time that the calendar has, and nothing else", () =>
        Effect.gen(function*() {
          const { key } = yield* stage
          const good = [
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.123456Z",
            "2026-01-01T00:00:00+14:00",
            "2024-02-29T23:59:59-12:00",
            "0001-01-02T00:00:00Z",
            "9999-12-31T00:00:00Z"
          ]
          const bad = [
            "1.5",
            "2026",
            "2026-01-01",
            "2026-01-01T00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00:00Z",
            "20260101T000000Z",
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T00:00:00+99:99",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-12:00",
            "+275760-09-13T00:00:00.000Z"
          ]
          for (const name of ["before", "since"]) {
            for (const moment of [...good, ...bad]) {
              const answer = yield* list(key, `?${name}=${encodeURIComponent(moment)}`)
              expect([moment, ...World.refusal(answer)]).toEqual(
                good.includes(moment) ? [moment, 200, undefined] : [moment, 400, "parameter_invalid", name]
              )
            }
          }
        }))

      const Moment = Schema.Literals([-5, 0, 1, 2, 5, 8, 9, 10, 100])

      it.effect.prop(
        "S4.15-05, S4.15-06: before starts strictly before a moment, since from one on, and before_id wins over before",
        {
          before: Moment,
          since: Moment,
          shift: Schema.Literals([-1, 0, 1]),
          id: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
        },
        ({ before, id, shift, since }) =>
          Effect.gen(function*() {
            const { events, key } = yield* stage
            const beforeAt = at(before).getTime() + shift
            const sinceAt = at(since).getTime() + shift
            const text = (millis: number) => new Date(millis).toISOString()
            const of = (holds: (millis: number, sequence: number) => boolean) =>
              down(total, 1).filter((sequence) => holds(at(sequence).getTime(), sequence))
            const ask = (query: string) => Effect.map(list(key, query), sequences)
            expect(yield* ask(`?before=${text(beforeAt)}`)).toEqual(of((millis) => millis < beforeAt))
            expect(yield* ask(`?since=${text(sinceAt)}`)).toEqual(of((millis) => millis >= sinceAt))
            expect(yield* ask(`?since=${text(sinceAt)}&before=${text(beforeAt)}`)).toEqual(
              of((millis) => millis >= sinceAt && millis < beforeAt)
            )
            const cursor = `before_id=${events[id - 1]!.id}`
            expect(yield* ask(`?before=${text(beforeAt)}&${cursor}`)).toEqual(down(id - 1, 1))
            expect(yield* ask(`?${cursor}&since=${text(sinceAt)}`)).toEqual(
              of((millis, sequence) => sequence < id && millis >= sinceAt)
            )
          }),
        drawnOn(name, 15)
      )

      it.effect("S4.15-04: a before_id that names no event of the organization is refused, unknown and another's alike", () =>
        Effect.gen(function*() {
          const { key } = yield* stage
          const other = yield* make(1)
          const [theirs] = yield* World.journal(other.organization.id)
          const unknown = yield* list(key, `?before_id=${crypto.randomUUID()}`)
          expect(World.refusal(unknown)).toEqual([400, "parameter_invalid", "before_id"])
          expect((yield* list(key, `?before_id=${theirs!.id}`)).body).toEqual(unknown.body)
          for (const id of ["1", "", "null"]) {
            expect(World.refusal(yield* list(key, `?before_id=${id}`))).toEqual([400, "parameter_invalid", "before_id"])
          }
        }))

      it.effect("S4.15-05: a moment is an ISO date-time in any zone, and anything else is refused", () =>
        Effect.gen(function*() {
          const { key } = yield* stage
          const zoned = at(4).toISOString().replace("T22:13", "T23:13").replace("Z", "+01:00")
          for (const text of [at(4).toISOString(), zoned]) {
            expect(sequences(yield* list(key, `?before=${encodeURIComponent(text)}`))).toEqual([3, 2, 1])
          }
          for (const name of ["before", "since"]) {
            for (const text of ["", "yesterday", "1700000000", "2023-13-01T00:00:00Z", "2023-11-14T25:00:00Z"]) {
              expect([text, ...World.refusal(yield* list(key, `?${name}=${text}`))]).toEqual([
                text,
                400,
                "parameter_invalid",
                name
              ])
            }
          }
          for (const query of ["starting_after", "after_sequence", "until"]) {
            expect(World.refusal(yield* list(key, `?${query}=1`))).toEqual([400, "parameter_invalid", query])
          }
        }))

      it.effect("S4.15-01: a page and the journal's last sequence are of one moment, whatever is written meanwhile", () =>
        Effect.gen(function*() {
          const { account, key } = yield* make(2)
          let label = 0
          const write = Effect.suspend(() =>
            World.put(`/v1/accounts/${account}/role-label`, key, { role_label: `Meanwhile ${++label}` })
          )
          for (const query of ["", "?limit=1", "?outcome=done", "/tail"]) {
            const answer = yield* interrupting(write, list(key, query))
            expect([query, Math.max(...sequences(answer))]).toEqual([query, answer.body.last_sequence])
          }
          expect(label).toBeGreaterThan(3)
        }))

      it.effect.prop(
        "S4.15-04: an event that is written between two pages stands before the first and moves none",
        [Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 })))],
        ([limit]) =>
          Effect.gen(function*() {
            const { account, key, organization } = yield* make(6)
            const first = yield* list(key, `?limit=${limit}`)
            yield* World.put(`/v1/accounts/${account}/role-label`, organization.admins.owner.key, { role_label: "New" })
            const rest = yield* list(key, `?before_id=${first.body.data.at(-1).id}`)
            expect([...sequences(first), ...sequences(rest)]).toEqual(down(6, 1))
            expect(rest.body.last_sequence).toBe(7)
          }),
        drawnOn(name, 4)
      )
    })
  })
})
