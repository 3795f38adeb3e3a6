/** The messenger refuses, is slow, is away, or does what it is asked while its answer is lost. */
import * as Clients from "./clients.ts"
import { type Fault, unmet } from "./fault.ts"
import { type Attempt, type Event, judge } from "./ledger.ts"
import { script } from "./scripts.ts"
import { onPostgres, pause, type Stage } from "./stage.ts"

interface Case {
  readonly name: string
  /** The answer of the simulated platform, as its scripts are kept. */
  readonly answer: object
  readonly status: number
  /** How the journal closes the intent: error and whether that is certain; null for done. */
  readonly closed: { readonly error: string; readonly certain: boolean } | null
  readonly happened: boolean
}

const unavailable = { error: "messenger_unavailable", certain: false }

const cases: ReadonlyArray<Case> = [
  {
    name: "refuses",
    answer: { _tag: "Refused", reason: "OTHER" },
    status: 409,
    closed: { error: "messenger_refused", certain: true },
    happened: false
  },
  { name: "asks to wait", answer: { _tag: "Busy", seconds: 7 }, status: 503, closed: unavailable, happened: false },
  { name: "is away", answer: { _tag: "Unavailable" }, status: 503, closed: unavailable, happened: false },
  { name: "takes 3 s", answer: { _tag: "Slow", milliseconds: 3000 }, status: 200, closed: null, happened: true },
  {
    name: "takes 9 s",
    answer: { _tag: "Slow", milliseconds: 9000 },
    status: 503,
    closed: unavailable,
    happened: false
  },
  { name: "says nothing", answer: { _tag: "Silent" }, status: 503, closed: unavailable, happened: false },
  { name: "does it, answer lost", answer: { _tag: "Lost" }, status: 503, closed: unavailable, happened: true }
]

const aboutOf = async (stage: Stage, address: string, account: string): Promise<unknown> =>
  (await Clients.send(address, Clients.nextKey(stage), "GET", Clients.profileOf(account))).body?.about

/** Whether the journal holds an intent of the request and the outcome that it must have. */
const isTold = (events: ReadonlyArray<Event>, request: string | null, closed: Case["closed"]): boolean => {
  const [intent, outcome, ...more] = events.filter((event) => event.request_id === request)
  return intent?.outcome === "pending" && outcome?.closes === intent.sequence && more.length === 0 &&
    outcome.outcome === (closed === null ? "done" : "failed") &&
    (closed === null ||
      (outcome.details["error"] === closed.error && outcome.details["certain"] === closed.certain))
}

export const messenger: Fault = async ({ rounds = 3 }) => {
  const stage = await onPostgres(1)
  try {
    let service = await stage.serve()
    const attempts: Array<Attempt> = []
    const wrong: Array<string> = []
    const expected: Array<readonly [Case, string | null]> = []
    for (let round = 0; round < rounds; round++) {
      await Promise.all(cases.map(async (tried, place) => {
        const account = stage.live[place] ?? ""
        const text = `${tried.name} ${round}`
        await script(stage, account, tried.answer)
        const attempt = await Clients.write(stage, service.address, "about", account, text)
        attempts.push(attempt)
        expected.push([tried, attempt.request])
        const happened = await aboutOf(stage, service.address, account) === text
        if (attempt.status !== tried.status || happened !== tried.happened) {
          wrong.push(`${text}: ${attempt.status}, ${happened ? "" : "not "}done`)
        }
        if (tried.happened) {
          const again = await Clients.write(stage, service.address, "about", account, text)
          if (again.status !== 200) wrong.push(`${text} again: ${again.status}`)
        }
      }))
    }
    const orphan = stage.live.at(-1) ?? ""
    await script(stage, orphan, { _tag: "Silent" })
    const hanging = Clients.write(stage, service.address, "about", orphan, "killed")
    await pause(1500)
    await service.stop("SIGKILL")
    attempts.push(await hanging)
    service = await stage.serve()
    await service.stop()
    const kept = await stage.settle()
    const untold = expected.filter(([{ closed }, request]) => !isTold(kept.events, request, closed))
    const swept = kept.events.filter(({ account_id, details, outcome }) =>
      account_id === orphan && outcome === "failed" && details["error"] === "unknown" && details["certain"] === false
    )
    const journaled = kept.events.filter(({ outcome }) => outcome === "pending").length
    return {
      done: `The messenger refuses, asks to wait, is away, slow, silent, or its answer is lost, ${rounds} rounds`,
      verdict: judge(attempts, kept),
      seen:
        `${journaled} intents, each with its outcome: done, failed for certain where it refused, failed and not certain everywhere else; what the lost answer did shows at the next read, and asking for it again writes no entry; the intent of a killed process is closed as not certain`,
      failed: unmet({
        [`answers and effects are as expected: ${wrong.slice(0, 3).join("; ")}`]: wrong.length === 0,
        [`the journal tells each: ${untold.slice(0, 3).map(([{ name }]) => name).join(", ")}`]: untold.length === 0,
        "the intent of the killed process is closed once": swept.length === 1,
        "asking again writes no intent": journaled === cases.length * rounds + 1
      })
    }
  } finally {
    await stage.remove()
  }
}
