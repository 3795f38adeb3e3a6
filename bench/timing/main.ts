/**
 * `npm run bench:timing`: whether the time of a 404 tells which of the three kinds of absence it was, and that of a wrong
 * password whether the address is an admin's.
 */
import { parseArgs } from "node:util"
import { fillDatabase, idOf } from "../../test/support/postgres/fill.ts"
import { startService } from "../peers/processes.ts"
import { differenceOfMedians, median, quantile, startAsking, taking } from "../support/asking.ts"
import { record } from "../support/figure.ts"
import { makeKeys, startGround } from "../support/ground.ts"
import { addressesFor, givePasswords, signInKinds, timeSignIns } from "./signIn.ts"

const help = `npm run bench:timing -- [--requests 20000] [--accounts 10000] [--attempts 2000]

Asks get_account for ids of three kinds in turn, --requests of each, as an admin with granted access in an organization
of --accounts accounts; then signs in with a wrong password, --attempts times with addresses of admins and as often with
others. With the defaults it takes about eight minutes.`

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "20000" },
    accounts: { type: "string", default: "10000" },
    attempts: { type: "string", default: "2000" },
    help: { type: "boolean", default: false }
  }
})

const kinds = ["another organization's", "ungranted", "non-existent"] as const
type Kind = (typeof kinds)[number]

/** Bonferroni: four intervals of 98.75 % hold together in 95 of 100 runs. */
const interval = { confidence: 1 - 0.05 / 4, draws: 2000 }

const shuffled = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values.map((value) => [Math.random(), value] as const).sort(([left], [right]) => left - right).map(([, value]) =>
    value
  )

const micros = (millis: number): string => `${(millis * 1000).toFixed(1)} µs`

const run = async (requests: number, accounts: number, attempts: number) => {
  const ground = await startGround()
  try {
    const organization = { accounts, events: 0, departments: 10 }
    await fillDatabase(ground.superuser, [
      { id: "own", ...organization, admins: addressesFor(attempts) },
      { id: "other", ...organization }
    ])
    await givePasswords(ground, "own")
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
    const service = await startService(ground.url, ground.pepper, { trustedProxies: "127.0.0.1/32" })
    const { ask, stop } = startAsking(service.address)
    const times: Record<Kind, Array<number>> = { "another organization's": [], "ungranted": [], "non-existent": [] }
    const bodies = new Set<string>()
    let signIns: Awaited<ReturnType<typeof timeSignIns>>
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
      signIns = await timeSignIns(service.address, "own", attempts)
    } finally {
      stop()
      await service.stop()
    }
    const pairs = [[0, 1], [0, 2], [1, 2]].map(([left = 0, right = 0]) => {
      const [one, other] = [kinds[left] ?? kinds[0], kinds[right] ?? kinds[0]]
      return { one: `${one} id`, other: `${other} id`, ...differenceOfMedians(times[one], times[other], interval) }
    })
    const [one, other] = signInKinds
    const all = [...pairs, { one, other, ...differenceOfMedians(signIns[one], signIns[other], interval) }]
    const apart = all.filter(({ high, low }) => low > 0 || high < 0)
    const widest = Math.max(...apart.map(({ difference }) => Math.abs(difference)))
    const verdict = apart.length === 0
      ? "The intervals of all differences hold zero: this many requests do not tell the kinds apart."
      : `${apart.length} of the ${all.length} intervals do not hold zero; the widest of these differences is ${
        micros(widest)
      }, from a client on the same machine.`
    record({
      name: "timing",
      title: "The time of a 404 and of a wrong password",
      command: "npm run bench:timing",
      text: [
        `get_account was asked for three kinds of ids, ${requests} times each, one request after another over one connection, the three kinds in a new random order each time, with the key of an admin with granted access, on PostgreSQL; ${keys.length} keys took turns because each may ask 120 times a minute. The ${
          bodies.size === 1 ? "answers were one body" : `answers were ${bodies.size} bodies`
        }. That the three run the same statements by the same plans is a test (test/properties/missing.test.ts).`,
        `Then the sign-in page was sent a wrong password, ${attempts} times with the addresses of admins and as often with addresses that are nobody's, one attempt after another, each from a network address of its own. That both run the same statements is a test (test/http/pages/signin/throttleRecords.test.ts).`,
        verdict
      ],
      tables: [
        {
          title: "Time of one request",
          columns: ["asked for", "requests", "median", "p95"],
          rows: [
            ...kinds.map((kind) => [`get_account, ${kind} id`, times[kind]] as const),
            ...signInKinds.map((kind) => [`a wrong password, ${kind}`, signIns[kind]] as const)
          ].map(([asked, found]) => [asked, found.length, micros(median(found)), micros(quantile(found, 0.95))])
        },
        {
          title: "Difference of medians",
          columns: ["between", "and", "difference", "98.75 % interval"],
          rows: all.map(({ difference, high, low, one, other }) => [
            one,
            other,
            micros(difference),
            `${micros(low)} to ${micros(high)}`
          ]),
          note:
            "The interval is a bootstrap's: both samples drawn again 2000 times. Four intervals of 98.75 % hold together in at least 95 of 100 runs."
        }
      ],
      charts: []
    })
  } finally {
    await ground.remove()
  }
}

if (values.help) console.log(help)
else await run(Number(values.requests), Number(values.accounts), Number(values.attempts))
