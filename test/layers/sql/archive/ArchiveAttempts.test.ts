import { describe, expect, layer } from "@effect/vitest"
import { Effect, type Redacted } from "effect"
import { TestClock } from "effect/testing"
import { ArchiveAttempts } from "../../../../src/ports/archive/ArchiveAttempts.ts"
import { Credentials } from "../../../../src/ports/credentials/Credentials.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const callerOf = Effect.fnUntraced(function*(key: Redacted.Redacted) {
  const known = yield* (yield* Credentials).authenticate(key, `${World.baseUrl}/v1`)
  return { ...known, via: "rest" as const, ip: null, requestId: null }
})
type AnyCaller = Effect.Success<ReturnType<typeof callerOf>>

/** Tries wrong passwords; the number of those that were counted. */
const tryWrong = Effect.fnUntraced(function*(caller: AnyCaller, times: number) {
  const attempts = yield* ArchiveAttempts
  const results = yield* Effect.forEach(Array.from({ length: times }), () => Effect.isSuccess(attempts.count(caller)))
  return results.filter(Boolean).length
})

/** The caller by another credential of the same admin. */
const another = (caller: AnyCaller, id: string): AnyCaller => ({ ...caller, credential: { ...caller.credential, id } })

const other = "019bc0e2-0000-7000-8000-00000000000"

describe("wrong archive passwords", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are limited for an admin over all credentials, and for an organization over all admins", () =>
      Effect.gen(function*() {
        const { id } = yield* World.makeOrganization()
        for (let person = 0; person < 5; person++) {
          const caller = yield* callerOf((yield* World.makePerson(id, "archive")).key)
          expect(yield* tryWrong(caller, 6)).toBe(6)
          expect(yield* tryWrong(another(caller, `${other}${person}`), 6)).toBe(4)
        }
        const last = yield* callerOf((yield* World.makePerson(id, "archive")).key)
        expect(yield* tryWrong(last, 1)).toBe(0)
        yield* TestClock.adjust("1 hour")
        expect(yield* tryWrong(last, 1)).toBe(1)
      }))

    it.effect("of others lock no credential out that has opened the archive within a week", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const attempts = yield* ArchiveAttempts
        const owner = yield* callerOf(admins.owner.key)
        yield* attempts.count(owner)
        yield* attempts.opened(owner)
        yield* TestClock.adjust("6 days")
        for (let person = 0; person < 5; person++) {
          yield* tryWrong(yield* callerOf((yield* World.makePerson(id, "archive")).key), 10)
        }
        expect(yield* tryWrong(another(owner, `${other}0`), 1)).toBe(0)
        expect(yield* tryWrong(owner, 12)).toBe(10)
        yield* TestClock.adjust("2 days")
        for (let person = 0; person < 5; person++) {
          yield* tryWrong(yield* callerOf((yield* World.makePerson(id, "archive")).key), 10)
        }
        expect(yield* tryWrong(owner, 1)).toBe(0)
      }))
  })
})
