import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref } from "effect"
import { MessengerUserId, type Profile } from "../../src/domain/messenger/Messenger.ts"
import { closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import * as Fixtures from "../support/fixtures.ts"
import { silentLogins, silentSession } from "../support/messenger/silentSession.ts"
import { postgresServer, type PrivateServer } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import * as World from "../support/world.ts"

/** A process of the service on the server; it runs on while the server does not. */
const service = ({ url }: PrivateServer) => replica(url)

const stage = Effect.fnUntraced(function*(options?: { readonly fsync?: boolean }) {
  const server = yield* postgresServer(options)
  const run = yield* service(server)
  const { admins, id } = yield* run(World.makeOrganization())
  const account = yield* run(World.makeAccount(id))
  const live = yield* run(World.makeLiveAccount(id))
  const people = yield* run(Effect.forEach(Array.from({ length: 8 }), () => World.makePerson(id, "superadmin")))
  const label = (role_label: string, key = admins.owner.key) =>
    World.put(`/v1/accounts/${account}/role-label`, key, { role_label })
  return {
    ...server,
    private: server,
    run,
    id,
    account,
    key: admins.owner.key,
    people,
    live: live.id,
    label,
    read: World.get("/v1/organization", admins.owner.key),
    /** What is stored is whole: the chain holds, and the label is the last that was journaled. */
    whole: Effect.gen(function*() {
      const events = yield* World.journal(id)
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
      expect(yield* Fixtures.within(id, verify(id))).toMatchObject({ ok: true })
      const [row] = yield* World.query<{ role_label: string | null }>(
        id,
        (sql) => sql`select role_label from account where organization_id = ${id} and id = ${account}`
      )
      const labels = events.flatMap(({ details }) => details["role_label"] ?? [])
      expect(row?.role_label ?? undefined).toBe(labels.at(-1))
      return labels
    })
  }
})

const summaryOf = (answer: World.Answer) => [answer.status, answer.body.error?.code, answer.headers.get("retry-after")]

const away = [503, "service_unavailable", "5"]

describe("the database away", () => {
  it.live(
    "S7-10: at the start the service answers 503, and serves as soon as the database is there",
    () =>
      Effect.gen(function*() {
        const made = yield* stage()
        yield* Effect.promise(() => made.server.stop())
        const run = yield* service(made.private)
        const answers = yield* run(Effect.all([
          made.read,
          made.label("Away"),
          World.get(`/v1/accounts/${made.live}/messenger-profile`, made.key),
          World.get("/v1/journal", made.key)
        ]))
        expect(answers.map(summaryOf)).toEqual([away, away, away, away])
        expect(answers[0]?.body.error.type).toBe("api_error")
        expect((yield* run(World.send("GET", "/readyz"))).status).toBe(503)
        expect((yield* run(World.send("GET", "/healthz"))).status).toBe(200)
        yield* Effect.promise(() => made.server.start())
        expect((yield* run(made.read)).status).toBe(200)
        // An answer about the database holds for a second.
        yield* Effect.sleep("1 second")
        expect((yield* run(World.send("GET", "/readyz"))).status).toBe(200)
        expect((yield* run(made.label("Back"))).status).toBe(200)
        expect(yield* run(made.whole)).toEqual(["Back"])
      }),
    { timeout: 60_000 }
  )

  for (const end of ["stop", "kill"] as const) {
    it.live(
      `in the middle of changes (${end}) nothing acknowledged is lost, nothing is half-written`,
      () =>
        Effect.gen(function*() {
          const made = yield* stage({ fsync: true })
          const acknowledged = yield* Ref.make<ReadonlyArray<string>>([])
          const statuses = yield* Ref.make<ReadonlySet<unknown>>(new Set())
          const writing = yield* Effect.forkChild(Effect.forEach(made.people, (person, writer) =>
            Effect.gen(function*() {
              for (let number = 0;; number++) {
                const text = `${writer}/${number}`
                const answer = yield* made.run(made.label(text, person.key))
                yield* Ref.update(statuses, (seen) => new Set([...seen, summaryOf(answer).join()]))
                if (answer.status !== 200) return
                yield* Ref.update(acknowledged, (texts) => [...texts, text])
              }
            }), { concurrency: "unbounded" }))
          yield* Effect.repeat(Effect.andThen(Effect.yieldNow, Ref.get(acknowledged)), {
            until: (texts) => texts.length > 40
          })
          yield* Effect.promise(() => made.server[end]())
          yield* Fiber.join(writing)
          expect(yield* Ref.get(statuses)).toEqual(new Set(["200,,", away.join()]))
          expect(summaryOf(yield* made.run(made.read))).toEqual(away)
          yield* Effect.promise(() => made.server.start())
          expect((yield* made.run(made.read)).status).toBe(200)
          const kept = new Set(yield* made.run(made.whole))
          expect((yield* Ref.get(acknowledged)).filter((text) => !kept.has(text))).toEqual([])
          expect((yield* made.run(made.label("Back"))).status).toBe(200)
          yield* made.run(made.whole)
        }),
      { timeout: 60_000 }
    )
  }

  it.live(
    "an outcome that it did not take is not told as done: the intent is closed later, its cause unknown",
    () =>
      Effect.gen(function*() {
        const made = yield* stage()
        const begun = yield* Deferred.make<void>()
        const finish = yield* Deferred.make<void>()
        const profile: Profile = {
          user_id: MessengerUserId.make("1"),
          first_name: "Ada",
          last_name: null,
          username: null,
          about: null,
          phone: null,
          photo_id: null,
          premium: false
        }
        const messenger = MessengerSession.of({
          ...silentLogins,
          open: () =>
            Effect.succeed({
              ...silentSession,
              profile: Effect.succeed(profile),
              updateProfile: () =>
                Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(finish)).pipe(
                  Effect.as({ ...profile, first_name: "Grace" })
                )
            })
        })
        const before = yield* made.run(World.get(`/v1/accounts/${made.live}`, made.key))
        const changing = yield* Effect.forkChild(made.run(
          World.patch(`/v1/accounts/${made.live}/messenger-profile`, made.key, { first_name: "Grace" }).pipe(
            Effect.provideService(MessengerSession, messenger)
          )
        ))
        yield* Deferred.await(begun)
        yield* Effect.promise(() => made.server.stop())
        yield* Deferred.succeed(finish, undefined)
        expect(summaryOf(yield* Fiber.join(changing))).toEqual(away)
        yield* Effect.promise(() => made.server.start())
        const outcomes = Effect.map(
          made.run(World.journal(made.id)),
          (events) => events.map(({ outcome }) => outcome)
        )
        expect(yield* outcomes).toEqual(["pending"])
        expect(yield* made.run(closeAllIntents)).toBe(1)
        expect(yield* outcomes).toEqual(["pending", "failed"])
        const after = yield* made.run(World.get(`/v1/accounts/${made.live}`, made.key))
        expect(after.body).toEqual(before.body)
        yield* made.run(made.whole)
      }),
    { timeout: 60_000 }
  )

  it.live(
    "frozen it costs each request no more than the deadline, and everything goes on when it does",
    () =>
      Effect.gen(function*() {
        const made = yield* stage()
        const patient = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "15 seconds")
        yield* made.run(made.label("Before"))
        yield* Effect.acquireRelease(
          Effect.sync(() => made.server.freeze()),
          () => Effect.sync(() => made.server.thaw())
        ).pipe(
          Effect.andThen(Effect.all([
            patient(made.run(made.read)),
            patient(made.run(made.label("Frozen"))),
            patient(made.run(World.get(`/v1/accounts/${made.live}/messenger-profile`, made.key))),
            Effect.timeout(made.run(World.send("GET", "/readyz")), "6 seconds")
          ], { concurrency: "unbounded" })),
          Effect.scoped,
          Effect.map((answers) => {
            expect(answers.slice(0, 3).map(summaryOf)).toEqual([away, away, away])
            expect(answers[3]?.status).toBe(503)
          })
        )
        yield* Effect.repeat(made.run(made.read), { until: ({ status }) => status === 200 })
        expect(yield* made.run(made.whole)).toEqual(["Before"])
        expect((yield* made.run(made.label("After"))).status).toBe(200)
        expect(yield* made.run(made.whole)).toEqual(["Before", "After"])
      }),
    { timeout: 60_000 }
  )
})
