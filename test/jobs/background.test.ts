import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Metric, Scope } from "effect"
import { TestClock } from "effect/testing"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { ServiceUnavailable } from "../../src/domain/Failure.ts"
import { Background, type Options } from "../../src/jobs/Background.ts"
import { documented, Upkeep, upkeepJobs } from "../../src/jobs/Jobs.ts"

type Members = Upkeep["Service"]

/** Background work of which a test says what some of it does, with the log and what was done. */
const start = Effect.fnUntraced(function*(members: Partial<Members>, options: Partial<Options> = {}) {
  const done: Array<string> = []
  const logged: Array<string> = []
  const note = (name: string) => Effect.sync(() => void done.push(name))
  const upkeep: Members = {
    close_abandoned_intents: { run: note("closed"), atStart: note("closed all") },
    refresh_statuses: { run: note("refreshed") },
    settle_licences: { run: note("licences") },
    expire_takeover_locks: { run: note("locks") },
    check_journals: { run: note("chains") },
    tell_key_expiry: { run: note("keys") },
    sample_statuses: { run: note("sampled") },
    notice_silence: { run: note("noticed") },
    notice_no_worker: { run: note("no worker noticed") },
    sign_checkpoints: { run: note("signed"), atEnd: note("signed all") },
    push_checkpoints: [{ name: "file:/a", run: note("pushed") }],
    journal_password_failures: { run: note("journaled") },
    journal_archive_reads: { run: note("archive reads") },
    collect_blobs: { run: note("blobs") },
    delete_archives: { run: note("archives") },
    judge_archived_chats: { run: note("judged") },
    run_archive_cleanups: { run: note("cleanups") },
    apply_archive_retention: { run: note("retention") },
    settle_archive_phases: { run: note("phases") },
    sum_archive_storage: { run: note("storage") },
    make_archive_manifests: { run: note("manifests") },
    forget_password_attempts: { run: note("attempts") },
    forget_rate_limits: { run: note("limits") },
    forget_console_sessions: { run: note("sessions") },
    forget_browsers: { run: note("browsers") },
    forget_oauth: { run: note("oauth") },
    forget_idempotency_keys: { run: note("idempotency keys") },
    forget_mail: { run: note("old mail") },
    forget_secrets: { run: note("old secrets") },
    send_mail: { run: note("mail") },
    mail_password_resets: { run: note("resets") },
    forget_archive_exports: { run: note("old exports") },
    forget_password_resets: { run: note("old resets") },
    ...members
  }
  const logger = Logger.make(({ message }) => {
    logged.push(String(Array.isArray(message) ? message[0] : message))
  })
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(
    Background.layer({ alone: false, ...options }).pipe(
      Layer.provide(Layer.succeed(Upkeep, upkeep)),
      Layer.provideMerge(Logger.layer([logger]))
    ),
    scope
  )
  yield* TestClock.adjust(0)
  const jobs = Effect.provideContext(Effect.flatMap(Background, (background) => background.jobs), context)
  const job = (name: string) => Effect.map(jobs, (all) => all.find((one) => one.name === name))
  return {
    done,
    logged,
    jobs,
    job,
    close: Scope.close(scope, Exit.void),
    times: (name: string) => done.filter((one) => one === name).length
  }
})

const runs = (job: string, outcome: string) =>
  Effect.map(
    Metric.snapshot,
    (all) =>
      all.flatMap(({ attributes, id, state }) =>
        id === "console_job_runs_total" && attributes?.["job"] === job && attributes["outcome"] === outcome &&
          "count" in state
          ? [Number(state.count)]
          : []
      )[0] ?? 0
  )

describe("background work", () => {
  it.effect("each job runs at once and again a period after its end, give or take a fifth", () =>
    Effect.gen(function*() {
      const started: Array<number> = []
      const { done, jobs, times } = yield* start({
        refresh_statuses: {
          run: Effect.flatMap(
            Effect.clockWith((clock) => clock.currentTimeMillis),
            (now) => Effect.sync(() => void started.push(now))
          )
        }
      })
      expect(done.toSorted()).toEqual(
        [
          "archive reads",
          "archives",
          "attempts",
          "blobs",
          "browsers",
          "chains",
          "cleanups",
          "closed",
          "idempotency keys",
          "journaled",
          "judged",
          "keys",
          "licences",
          "limits",
          "locks",
          "mail",
          "manifests",
          "oauth",
          "old exports",
          "old mail",
          "old resets",
          "old secrets",
          "phases",
          "pushed",
          "resets",
          "retention",
          "sampled",
          "sessions",
          "signed",
          "storage"
        ]
      )
      for (let second = 0; second < 30 * 60; second++) yield* TestClock.adjust("1 second")
      const gaps = started.slice(1).map((at, index) => (at - (started[index] ?? 0)) / 1000)
      expect(gaps.length).toBeGreaterThanOrEqual(24)
      for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(48)
      for (const gap of gaps) expect(gap).toBeLessThanOrEqual(73)
      expect(new Set(gaps).size).toBeGreaterThan(1)
      expect(times("oauth")).toBeGreaterThanOrEqual(3)
      expect(times("oauth")).toBeLessThanOrEqual(4)
      expect((yield* jobs).every(({ failure, last_done_at }) => failure === null && last_done_at !== null)).toBe(true)
    }))

  it.effect("every job that runs is documented, under one name", () =>
    Effect.gen(function*() {
      const names = documented.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      const { jobs } = yield* start({}, { watched: true })
      const running = (yield* jobs).map(({ name }) => name.replace(" file:/a", ""))
      expect(running).toEqual(documented.flatMap(({ name, worker }) => worker ? [] : [name]))
    }))

  it("every job has a file of its name in the folder of its area, and its name in the list", () => {
    const files = globSync("src/jobs/*/*.ts").filter((file) => /Job\.make/.test(readFileSync(file, "utf8")))
    expect(files.map((file) => basename(file, ".ts")).toSorted()).toEqual(documented.map(({ name }) => name).toSorted())
    for (const [name, job] of Object.entries(upkeepJobs)) expect(job.name).toBe(name)
  })

  it.effect("that nobody looks at the accounts is noticed where another process should, and not where none is to", () =>
    Effect.gen(function*() {
      expect((yield* start({}, { watched: true })).done).toContain("noticed")
      expect((yield* start({})).done).not.toContain("noticed")
    }))

  it.effect("a run that takes long delays the next one of its job and of no other, and is given up after five minutes", () =>
    Effect.gen(function*() {
      let running = 0
      let most = 0
      let began = 0
      const { job, logged, times } = yield* start({
        forget_oauth: {
          run: Effect.suspend(() => {
            running += 1
            began += 1
            most = Math.max(most, running)
            return Effect.ensuring(Effect.never, Effect.sync(() => running -= 1))
          })
        }
      })
      for (let minute = 0; minute < 4; minute++) yield* TestClock.adjust("1 minute")
      expect([began, most, times("refreshed") >= 3]).toEqual([1, 1, true])
      for (let minute = 0; minute < 20; minute++) yield* TestClock.adjust("1 minute")
      expect([began, most]).toEqual([2, 1])
      expect((yield* job("forget_oauth"))?.failure).toBe("it took longer than 5m")
      expect(logged).toEqual(["The job forget_oauth failed: it took longer than 5m"])
    }))

  it.effect("a failure is logged when it is new, counted each time, shown in the job's state, and the next run comes on time", () =>
    Effect.gen(function*() {
      let mood: "well" | "lost" | "broken" | "away" = "lost"
      const { job, logged } = yield* start({
        sign_checkpoints: {
          run: Effect.suspend(() =>
            mood === "lost"
              ? Effect.fail({ _tag: "CheckpointsLost", message: "a checkpoint is lost" })
              : mood === "broken"
              ? Effect.die(new Error("s3cret"))
              : mood === "away"
              ? Effect.fail(new ServiceUnavailable())
              : Effect.void
          )
        }
      })
      const turn = TestClock.adjust(Duration.seconds(18))
      const before = yield* runs("sign_checkpoints", "failed")
      yield* turn
      yield* turn
      expect(yield* runs("sign_checkpoints", "failed")).toBe(before + 2)
      expect((yield* job("sign_checkpoints"))?.failure).toBe("a checkpoint is lost")
      mood = "broken"
      yield* turn
      expect((yield* job("sign_checkpoints"))?.failure).toBe("it failed unexpectedly; the log has the cause")
      mood = "away"
      yield* turn
      expect(yield* runs("sign_checkpoints", "unavailable")).toBeGreaterThanOrEqual(1)
      mood = "well"
      yield* turn
      yield* turn
      expect(logged).toEqual([
        "The job sign_checkpoints failed: a checkpoint is lost",
        "The job sign_checkpoints failed",
        "The job sign_checkpoints works again"
      ])
      expect(yield* job("sign_checkpoints")).toMatchObject({
        failure: null,
        last_done_at: expect.any(Date),
        last_failed_at: expect.any(Date)
      })
    }))

  it.effect("where no other process uses the database, all intents are closed before anything is served, and all is signed at the end", () =>
    Effect.gen(function*() {
      const alone = yield* start({}, { alone: true })
      expect(alone.done[0]).toBe("closed all")
      yield* alone.close
      expect(alone.done.at(-1)).toBe("signed all")
      yield* TestClock.adjust("1 hour")
      expect(alone.done.at(-1)).toBe("signed all")
      const among = yield* start({})
      yield* among.close
      expect(among.done.filter((one) => one.endsWith(" all"))).toEqual([])
    }))

  it.effect("nothing runs before the database is ready", () =>
    Effect.gen(function*() {
      let ready = false
      const { done, logged, times } = yield* start({}, {
        alone: true,
        ready: Effect.suspend(() => ready ? Effect.void : Effect.fail(new ServiceUnavailable()))
      })
      yield* TestClock.adjust("20 seconds")
      expect([done, logged]).toEqual([[], []])
      ready = true
      // The second try comes within 36 seconds, and the third not before.
      yield* TestClock.adjust("16 seconds")
      expect([times("closed"), times("signed")]).toEqual([1, 1])
    }))
})
