import { PgConnection } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import type { SqlError } from "effect/sql"
import * as fc from "fast-check"
import * as v8 from "node:v8"
import * as vm from "node:vm"
import { Own } from "../../../src/layers/postgres/DatabaseSessions.ts"
import type { Statement, StatementResult } from "../../../src/layers/postgres/protocol/Cycle.ts"
import { type Placement, WireSession } from "../../../src/layers/postgres/protocol/ServerSession.ts"
import { Shared } from "../../../src/layers/postgres/protocol/SharedSession.ts"
import { tried } from "../../support/drawn.ts"
import { ScriptedServer } from "../../support/postgres/scriptedServer.ts"

const statement = (text: string, value: string): Statement => ({ text, values: [value], named: true })

const open = (server: ScriptedServer, cancel?: (asked: () => void) => void) =>
  Effect.map(
    PgConnection.make({ stream: () => server, ssl: false, username: "anybody" }),
    (connection) => new WireSession(connection, cancel)
  )

/** Runs with a session of the server; what is left there is told to `cancel`, if there is one. */
const withSession = <A>(
  server: ScriptedServer,
  use: (session: WireSession) => Effect.Effect<A>,
  cancel?: (asked: () => void) => void
) => Effect.runPromise(Effect.scoped(Effect.flatMap(Effect.orDie(open(server, cancel)), use)))

/** What the statement is answered, or the code that it fails with. */
const ask = (session: WireSession, text: string, repeatable: boolean, at?: Placement) =>
  Effect.map(Effect.exit(session.run([statement(text, text)], undefined, repeatable, at)), codeOf)

/** The names by which the server knows the text. */
const namesOf = ({ statements }: ScriptedServer, text: string) =>
  [...statements].flatMap(([name, known]) => known === text ? [name] : [])

/** Runs with an organization's transaction on a session of one's own. */
const withTransaction = <A>(use: (own: Own, server: ScriptedServer, session: WireSession) => Effect.Effect<A>) => {
  const server = new ScriptedServer([40], [])
  return withSession(server, (session) => {
    const own = new Own(session)
    own.begin("acme", statement("settings", "acme"), undefined)
    return use(own, server, session)
  })
}

const codeOf = (exit: Exit.Exit<StatementResult | void, SqlError.SqlError>): unknown => {
  if (Exit.isSuccess(exit)) return exit.value?.rows
  const [reason] = exit.cause.reasons
  if (reason?._tag !== "Fail") return reason?._tag
  const { cause } = reason.error.reason
  return cause instanceof Error && "code" in cause ? cause.code : "lost"
}

/** What the server refuses each text with. */
const texts = {
  fine: undefined,
  "also fine": undefined,
  "bad parse": "42601",
  "bad bind": "22P02",
  "bad execute": "22012"
}

const cycles = fc.array(
  fc.array(fc.constantFrom(...(["fine", "also fine", "bad parse", "bad bind", "bad execute"] as const)), {
    minLength: 1,
    maxLength: 3
  }),
  { minLength: 1, maxLength: 12 }
)
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
const place = fc.integer({ min: 0, max: 60 })

/** Runs the cycles at once, each with a value of its own. */
const runAll = (session: WireSession, given: ReadonlyArray<ReadonlyArray<keyof typeof texts>>) =>
  Effect.forEach(
    given,
    (cycle, index) =>
      Effect.map(
        Effect.exit(session.run(cycle.map((text, at) => statement(text, `${index}/${at}`)), undefined, true)),
        codeOf
      ),
    { concurrency: "unbounded" }
  )

const right = (given: ReadonlyArray<ReadonlyArray<keyof typeof texts>>) =>
  given.map((cycle, index) =>
    cycle.map((text) => texts[text]).find((code) => code !== undefined) ??
      [{ answer: `${index}/${cycle.length - 1}` }]
  )

/** Collects what nothing holds any more. */
const collect = (): void => {
  v8.setFlagsFromString("--expose-gc")
  const gc: unknown = vm.runInNewContext("gc")
  if (typeof gc === "function") gc()
}

describe("a session", () => {
  it("lets go of what it has answered, though it always owes something", () =>
    withSession(new ScriptedServer([40], []), (session) =>
      Effect.gen(function*() {
        const ask = Effect.orDie(session.run([statement("fine", "value")], undefined, true))
        const always: Effect.Effect<never> = Effect.flatMap(ask, () => always)
        yield* Effect.forkChild(always)
        yield* Effect.forkChild(always)
        yield* Effect.sleep("10 millis")
        const answer = yield* Effect.map(ask, (answered) => new WeakRef(answered))
        yield* Effect.sleep("10 millis")
        collect()
        expect(session.outstanding).toBe(2)
        expect(answer.deref()).toBeUndefined()
      })))

  it("sends a transaction's last changes with its COMMIT, as one", () =>
    withTransaction((own, server) =>
      Effect.gen(function*() {
        yield* Effect.orDie(own.query(statement("first", "x")))
        own.post(statement("change", "y"))
        own.post(statement("entry", "z"))
        yield* Effect.orDie(own.commit)
        expect(server.cycles).toEqual([["BEGIN", "settings", "first"], ["change", "entry", "COMMIT"]])
      })
    ))

  it("sends nothing of a change that is rolled back before anything waits for it", () =>
    withTransaction((own, server, session) =>
      Effect.gen(function*() {
        own.post(statement("change", "y"))
        yield* own.rollback
        expect(server.cycles).toEqual([])
        expect(session.isFree).toBe(true)
      })
    ))

  it("rolls back what cannot be committed, and reports the first posted statement that failed", () =>
    withTransaction((own, server) =>
      Effect.gen(function*() {
        own.post(statement("bad execute", "y"))
        expect(codeOf(yield* Effect.exit(own.query(statement("next", "z"))))).toBe("22012")
        expect(codeOf(yield* Effect.exit(own.query(statement("later", "z"))))).toBe("22012")
        expect(codeOf(yield* Effect.exit(own.commit))).toBe("22012")
        expect(server.cycles).toEqual([["BEGIN", "settings", "bad execute"], ["ROLLBACK"]])
      })
    ))

  it("answers each cycle with its own, wherever the answer is cut and whatever notices come in between", () =>
    fc.assert(
      fc.asyncProperty(cycles, sizes, fc.array(place, { maxLength: 5 }), async (given, cuts, places) => {
        const server = new ScriptedServer(cuts, places.map((at) => ({ at, what: "statusMessages" })))
        await withSession(server, (session) =>
          Effect.gen(function*() {
            expect(yield* runAll(session, given)).toEqual(right(given))
            expect(yield* runAll(session, given)).toEqual(right(given))
            expect(session.isFree).toBe(true)
          }))
      }),
      tried(200)
    ))

  it("sends what is asked for at one place in one turn as one: each has its own answer, or all fail alike", () =>
    fc.assert(
      fc.asyncProperty(cycles, sizes, async (given, cuts) => {
        const server = new ScriptedServer(cuts, [])
        await withSession(server, (session) =>
          Effect.gen(function*() {
            const answers = yield* Effect.forEach(given, (texts, index) => {
              const at: Placement = { cycle: undefined }
              return Effect.forEach(
                texts,
                (text, number) =>
                  Effect.map(
                    Effect.exit(
                      session.run(
                        [statement("fine", "before"), statement(text, `${index}/${number}`)],
                        undefined,
                        true,
                        at
                      )
                    ),
                    codeOf
                  ),
                { concurrency: "unbounded" }
              )
            }, { concurrency: "unbounded" })
            const expected = given.map((asked, index) => {
              const code = asked.map((text) => texts[text]).find((code) => code !== undefined)
              return asked.map((_, number) => code ?? [{ answer: `${index}/${number}` }])
            })
            expect(answers).toEqual(expected)
            expect(session.isFree).toBe(true)
          }))
      }),
      tried(200)
    ))

  it("is lost with a broken answer: each cycle has its own answer by then or fails, and what comes after fails", () =>
    fc.assert(
      fc.asyncProperty(
        cycles,
        sizes,
        place,
        fc.constantFrom("garbage", "ready", "copy", "fatal", "closed", "endless"),
        async (given, cuts, at, what) => {
          const server = new ScriptedServer(cuts, [{ at, what }])
          await withSession(server, (session) =>
            Effect.gen(function*() {
              const answers = yield* runAll(session, given)
              const expected = right(given)
              for (const [index, answer] of answers.entries()) {
                expect([expected[index], "lost", "57P01"]).toContainEqual(answer)
              }
              if (!server.broken) return expect(answers).toEqual(expected)
              // What was broken after the last answer is noticed as soon as it is read.
              yield* Effect.callback<void>((resume) => session.onLost(() => resume(Effect.void)))
              yield* Effect.promise(() => new Promise(setImmediate))
              expect(session.isLost).toBe(true)
              expect(server.destroyed).toBe(true)
              expect(yield* runAll(session, [["fine"]])).not.toEqual(right([["fine"]]))
            }))
        }
      ),
      tried(300)
    ))

  it("knows 256 statements at most, forgets the one that was not used for longest, and says so to the server", () => {
    const server = new ScriptedServer([4096], [])
    return withSession(server, (session) =>
      Effect.gen(function*() {
        for (let number = 0; number < 300; number++) {
          yield* Effect.orDie(session.run([statement("fine", "a"), statement(`fine ${number}`, "b")], undefined, true))
        }
        yield* Effect.orDie(session.run([statement("fine", "a")], undefined, true))
        expect(server.statements.size).toBe(256)
        expect([...server.statements.values()].filter((text) => text === "fine")).toHaveLength(1)
        expect(server.parsed.filter((text) => text === "fine")).toHaveLength(1)
      }))
  })

  it("keeps nothing at the server of statements that fail", () => {
    const server = new ScriptedServer([4096], [])
    return withSession(server, (session) =>
      Effect.gen(function*() {
        for (let number = 0; number < 300; number++) {
          yield* Effect.exit(session.run([statement(`bad execute ${number}`, "a")], undefined, true))
        }
        yield* Effect.orDie(session.run([statement("fine", "a")], undefined, true))
        expect([...server.statements.values()]).toEqual(["fine"])
      }))
  })

  it("sends a statement again that the server has dropped or replaced, only where that is safe, and prepares it anew", () =>
    Effect.runPromise(Effect.forEach(["26000", "0A000"], (code) => {
      const server = new ScriptedServer([4096], [])
      const spoil = () => {
        for (const name of namesOf(server, "fine")) {
          if (code === "26000") server.statements.delete(name)
          else server.outlived.add(name)
        }
      }
      return Effect.promise(() =>
        withSession(server, (session) =>
          Effect.gen(function*() {
            const answer = [{ answer: "fine" }]
            expect(yield* ask(session, "fine", false)).toEqual(answer)
            spoil()
            expect(yield* ask(session, "fine", false)).toBe(code)
            expect(server.cycles).toEqual([["fine"], []])
            expect(yield* ask(session, "fine", false)).toEqual(answer)
            spoil()
            expect(yield* ask(session, "fine", true)).toEqual(answer)
            expect(server.cycles).toEqual([["fine"], [], ["fine"], [], ["fine"]])
            for (let time = 0; time < 2; time++) expect(yield* ask(session, "fine", false)).toEqual(answer)
            expect(server.parsed).toHaveLength(4)
          }))
      )
    })))

  it("answers a repeated statement only with its own rows", () => {
    const server = new ScriptedServer([4096], [])
    return withSession(server, (session) =>
      Effect.gen(function*() {
        const both = () => {
          const at: Placement = { cycle: undefined }
          return Effect.all([ask(session, "fine", true, at), ask(session, "also fine", true, at)], {
            concurrency: "unbounded"
          })
        }
        const answers = [[{ answer: "fine" }], [{ answer: "also fine" }]]
        expect(yield* both()).toEqual(answers)
        for (const name of namesOf(server, "also fine")) server.statements.delete(name)
        expect(yield* both()).toEqual(answers)
        expect(server.cycles).toEqual([["fine", "also fine"], ["fine"], ["fine", "also fine"]])
      }))
  })

  it("takes nothing for known that went with what cannot be sent", () => {
    const server = new ScriptedServer([4096], [])
    return withSession(server, (session) =>
      Effect.gen(function*() {
        const unsendable = [statement("fine", "a"), statement("no\0text", "b")]
        expect(codeOf(yield* Effect.exit(session.run(unsendable, undefined, false)))).toBe("lost")
        expect(yield* ask(session, "fine", false)).toEqual([{ answer: "fine" }])
        expect(server.cycles).toEqual([["fine"]])
      }))
  })

  it("has the server leave what is given up when its turn comes, and is nobody else's until that has arrived", () => {
    const arrive: Array<() => void> = []
    return withSession(
      new ScriptedServer([4096], []),
      (session) =>
        Effect.gen(function*() {
          const first = yield* Effect.forkChild(ask(session, "fine", false), { startImmediately: true })
          const second = yield* Effect.forkChild(ask(session, "also fine", false), { startImmediately: true })
          yield* Fiber.interrupt(second)
          expect([session.outstanding, arrive.length]).toEqual([2, 0])
          expect(yield* Fiber.join(first)).toEqual([{ answer: "fine" }])
          yield* session.answered
          expect([arrive.length, session.isFree]).toEqual([1, false])
          arrive[0]?.()
          expect(session.isFree).toBe(true)
        }),
      (asked) => arrive.push(asked)
    )
  })
})

describe("sessions that are shared", () => {
  it("serve by turns, but one that has yet to leave what was given up, while it has", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const shared = new Shared(2, Effect.suspend(() => open(new ScriptedServer([4096], []))), yield* Effect.scope)
      const next = Effect.orDie(
        Effect.suspend(() => shared.use(shared.least, (session) => Effect.succeed(session)))
      )
      const isNext = (session: WireSession) => Effect.map(next, (found) => found === session)
      const begin = (session: WireSession) => Effect.forkChild(ask(session, "fine", true), { startImmediately: true })
      const first = yield* next
      yield* begin(first)
      const second = yield* next
      yield* first.answered
      expect([shared.sessions, yield* isNext(first)]).toEqual([[first, second], true])
      const left = yield* begin(first)
      yield* begin(second)
      yield* begin(second)
      expect([first.outstanding, second.outstanding, yield* isNext(first)]).toEqual([1, 2, true])
      yield* Fiber.interrupt(left)
      expect([first.outstanding, second.outstanding, yield* isNext(second)]).toEqual([1, 2, true])
      yield* first.answered
      yield* second.answered
      expect(yield* isNext(first)).toBe(true)
    }))))
})
