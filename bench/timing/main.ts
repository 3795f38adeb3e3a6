/** `npm run bench:timing`: whether the time of a 404 tells which of the three kinds of absence it was. */
import { parseArgs } from "node:util"
import { fillDatabase, idOf } from "../../test/support/postgres/fill.ts"
import { startService } from "../peers/processes.ts"
import { differenceOfMedians, median, quantile, startAsking, taking } from "../support/asking.ts"
import { record } from "../support/figure.ts"
import { makeKeys, startGround } from "../support/ground.ts"

const help = `npm run bench:timing -- [--requests 20000] [--accounts 10000]

Asks get_account for ids of three kinds in turn, --requests of each, as an admin with granted access in an organization
of --accounts accounts. With the defaults it takes about three minutes.`

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "20000" },
    accounts: { type: "string", default: "10000" },
    help: { type: "boolean", default: false }
  }
})

const kinds = ["another organization's", "ungranted", "non-existent"] as const
type Kind = (typeof kinds)[number]

const shuffled = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values.map((value) => [Math.random(), value] as const).sort(([left], [right]) => left - right).map(([, value]) =>
    value
  )

const micros = (millis: number): string => `${(millis * 1000).toFixed(1)} µs`

const run = async (requests: number, accounts: number) => {
  const ground = await startGround()
  try {
    const organization = { accounts, events: 0, departments: 10 }
    await fillDatabase(ground.superuser, [{ id: "own", ...organization }, { id: "other", ...organization }])
    await ground.superuser.query("vacuum analyze")
    const ids = async (text: string) =>
      (await ground.superuser.query<{ id: string }>(
        `select ${text} as id from generate_series(1, ${Math.floor(accounts / 10) - 1}) n`
      )).rows.map((
        { id }
      ) => id)
    const pools: Record<Kind, ReadonlyArray<string>> = {
      "another organization's": await ids(idOf("account", "other", "(n * 10 + 7)")),
      // Filed in a department that is granted to nobody, and not granted by themselves.
      "ungranted": await ids(idOf("account", "own", "(n * 10 + 7)")),
      "non-existent": await ids(idOf("account", "own", "(-n)"))
    }
    // Three requests in turn use one key, which stays far from its limit in the minutes that the run takes.
    const keys = await makeKeys(ground, "own", "admin", Math.max(10, Math.ceil(requests * 3 / 100)))
    const service = await startService(ground.url, ground.pepper)
    const { ask, stop } = startAsking(service.address)
    const times: Record<Kind, Array<number>> = { "another organization's": [], "ungranted": [], "non-existent": [] }
    const bodies = new Set<string>()
    try {
      const key = taking(keys)
      const warmUp = Math.min(1000, Math.ceil(requests / 10))
      for (let turn = -warmUp; turn < requests; turn++) {
        const taken = key()
        for (const kind of shuffled(kinds)) {
          const pool = pools[kind]
          const id = pool[Math.floor(Math.random() * pool.length)] ?? ""
          const { body, millis, status } = await ask(taken, `/v1/accounts/${id}`)
          if (status !== 404) throw new Error(`${kind}: ${status} ${body}`)
          bodies.add(body)
          if (turn >= 0) times[kind].push(millis)
        }
      }
    } finally {
      stop()
      await service.stop()
    }
    const pairs = [[0, 1], [0, 2], [1, 2]].map(([left = 0, right = 0]) => {
      const [one, other] = [kinds[left] ?? kinds[0], kinds[right] ?? kinds[0]]
      return { one, other, ...differenceOfMedians(times[one], times[other]) }
    })
    const spread = quantile(times["non-existent"], 0.75) - quantile(times["non-existent"], 0.25)
    const widest = Math.max(...pairs.map(({ difference }) => Math.abs(difference)))
    const apart = pairs.filter(({ high, low }) => low > 0 || high < 0)
    const verdict = apart.length === 0
      ? "The intervals of all three differences hold zero: this many requests do not tell the kinds apart."
      : `${apart.length} of the three intervals do not hold zero; the widest difference is ${micros(widest)}, ${
        (100 * widest / spread).toFixed(0)
      } % of the middle half's width, from a client on the same machine. Over a network, and within 120 requests a minute, one answer tells nothing; whoever could average thousands of them on a quiet line might tell which.`
    record({
      name: "timing",
      title: "The time of a 404",
      command: "npm run bench:timing",
      text: [
        `get_account was asked for three kinds of ids, ${requests} times each, one request after another over one connection, the three kinds in a new random order each time, with the key of an admin with granted access, on PostgreSQL; ${keys.length} keys took turns because each may ask 120 times a minute. The ${
          bodies.size === 1 ? "answers were one body" : `answers were ${bodies.size} bodies`
        }. That the three run the same statements by the same plans is a test (test/properties/missing.test.ts).`,
        verdict
      ],
      tables: [
        {
          title: "Time of one request",
          columns: ["the id is", "requests", "median", "p95"],
          rows: kinds.map((kind) => [
            kind,
            times[kind].length,
            micros(median(times[kind])),
            micros(quantile(times[kind], 0.95))
          ])
        },
        {
          title: "Difference of medians",
          columns: ["between", "and", "difference", "95 % interval"],
          rows: pairs.map(({ difference, high, low, one, other }) => [
            one,
            other,
            micros(difference),
            `${micros(low)} to ${micros(high)}`
          ]),
          note: "The interval is a bootstrap's: both samples drawn again 400 times."
        }
      ],
      charts: []
    })
  } finally {
    await ground.remove()
  }
}

if (values.help) console.log(help)
else await run(Number(values.requests), Number(values.accounts))
