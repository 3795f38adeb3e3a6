/** `npm run bench:scale`: what a request costs as organizations, journals and replicas grow, and what a start costs. */
import { parseArgs } from "node:util"
import { fillDatabase, type Filling } from "../../test/support/postgres/fill.ts"
import { deployed, startService } from "../peers/processes.ts"
import { record, recordTables, type Table } from "../support/figure.ts"
import { startGround } from "../support/ground.ts"
import { measureColdStart } from "./cold.ts"
import { measurePages, measurePeople } from "./pages.ts"
import { paper, paperTitle } from "./paper.ts"
import { measureReplicas } from "./replicas.ts"

const help = `npm run bench:scale -- [--accounts 1000,100000,1000000] [--organizations 1000] [--events 10000000]
  [--rounds 40] [--seconds 4] [--starts 5] [--rest 10] [--parts pages,replicas,cold,people,paper]

Fills one organization of each size of --accounts and --organizations of 1,000 accounts, with --events journal entries
together, and asks every page --rounds times; then 1, 2 and 4 replicas five times for --seconds; then --starts starts.
The part people, a figure of its own, asks for admins and departments of the largest size alone. The part paper plays
the looks of up to a million accounts over 200 workers, and replaces the table of what they need; about ten minutes.
With the defaults it takes about a quarter of an hour, and 12 GB of disk while it runs.`

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "1000,100000,1000000" },
    organizations: { type: "string", default: "1000" },
    events: { type: "string", default: "10000000" },
    rounds: { type: "string", default: "40" },
    seconds: { type: "string", default: "4" },
    starts: { type: "string", default: "5" },
    rest: { type: "string", default: "10" },
    parts: { type: "string", default: "pages,replicas,cold" },
    help: { type: "boolean", default: false }
  }
})

const departmentsOf = (accounts: number) => Math.max(10, Math.min(200, Math.floor(accounts / 500)))

/** The largest organization has most of the journal, the many small ones a tenth of it together. */
const fillings = (sizes: ReadonlyArray<number>, organizations: number, events: number) => {
  const rest = Math.floor(events / 10)
  const single = sizes.map((accounts, index): Filling => ({
    id: `one-${accounts}`,
    accounts,
    departments: departmentsOf(accounts),
    events: index === sizes.length - 1
      ? events - rest * (organizations > 0 ? 1 : 0) - sizes.slice(0, -1).reduce((sum, size) => sum + size * 10, 0)
      : accounts * 10
  }))
  const many = Array.from({ length: organizations }, (_, index): Filling => ({
    id: `many-${index + 1}`,
    accounts: 1000,
    departments: 10,
    events: Math.max(100, Math.floor(rest / organizations))
  }))
  return { single, many }
}

const seconds = (since: bigint) => (Number(process.hrtime.bigint() - since) / 1e9).toFixed(0)

/** 1,000 admins and 200 departments of the largest size, on a ground of their own. */
const runPeople = async () => {
  const filling: Filling = {
    id: "people",
    accounts: Math.max(...values.accounts.split(",").map(Number)),
    departments: 200,
    admins: 1000,
    events: 10_000
  }
  const ground = await startGround()
  try {
    await fillDatabase(ground.superuser, [filling])
    await ground.superuser.query("vacuum")
    const service = await startService(ground.url, ground.pepper, deployed)
    try {
      record({
        name: "people",
        title: "Admins and departments",
        command: "npm run bench:scale -- --parts people",
        text: [
          `One organization with ${
            filling.accounts.toLocaleString("en")
          } accounts, 1,000 admins and 200 departments. Every admin has 10 accounts and 3 departments granted, two connected applications and a console session; the caller that is limited reaches 3 departments. Departments keep the count of their accounts, so that no page counts them.`
        ],
        tables: [await measurePeople(ground, service, filling, Number(values.rounds))],
        charts: []
      })
    } finally {
      await service.stop()
    }
  } finally {
    await ground.remove()
  }
}

const run = async (parts: ReadonlyArray<string>) => {
  const ground = await startGround()
  const tables: Array<Table> = []
  const text: Array<string> = []
  try {
    const { many, single } = fillings(
      values.accounts.split(",").map(Number),
      Number(values.organizations),
      Number(values.events)
    )
    const charts = []
    if (parts.includes("pages")) {
      const begun = process.hrtime.bigint()
      await fillDatabase(ground.superuser, [...many, ...single], (id) => {
        if (!id.startsWith("many")) process.stderr.write(`${id} filled after ${seconds(begun)} s\n`)
      })
      await ground.superuser.query("vacuum")
      const all = [...single, ...many]
      const total = (of: (filling: Filling) => number) =>
        all.reduce((sum, filling) => sum + of(filling), 0).toLocaleString("en")
      text.push(
        `${all.length.toLocaleString("en")} organizations with ${total(({ accounts }) => accounts)} accounts and ${
          total(({ events }) => events)
        } journal entries were filled in by statements over sets in ${
          seconds(begun)
        } s, past the API: the entries' hashes are no chain, which no page looks at. Of 1,000 accounts 860 are protected and 2 to 80 are in each other status; the admin is granted 3 departments and 10 further accounts, the application is limited to 3 departments. Each page is asked of the real service over HTTP, the organizations in turn.`,
        "What falls short: a page of the journal for a caller whose reach is narrow, filtered by something that is common in the organization and rare within that reach, reads until it has found its events; it never reads more than the caller may see and the events that match. Each event of a department costs a look of three blocks at the index of the filter, about 5 µs: an index that has departments and filters together would save it, and cost every change one entry for each filter. A search is looked for by groups of three letters or digits once an organization has more than 5,000 accounts. A part that is common is in many accounts, and the places of all of them are gathered before the first 500 are read. A number is found by groups of three digits, and every number shares most of them, so that long lists are read for one match; so it is with the names here, which end in 32 hexadecimal digits.",
        "Every other page reads at most 20 rows for each one it may hold, and looks at no more than 20 blocks of the database for each, which test/layers/postgres/plans.test.ts holds to. Where such a page is marked all the same, by less than a millisecond, the cause is none of its plan: with 200,000 accounts as with 1,000 the start of an admin's accounts looks at 260 blocks and the owner's available ones at 54 or 55. An admin's page of one department looks at 281 blocks with 5,000 accounts in it as with 100, four for each of its rows, which are read by their ids: it takes longer where the database has to read them from the disk. What is left is the time to reach them, and noise."
      )
      const service = await startService(ground.url, ground.pepper, deployed)
      try {
        const sample = many.slice(Math.floor(many.length / 2)).slice(0, 1)
        const pages = await measurePages(ground, service, [...single, ...sample], Number(values.rounds))
        tables.push(...pages.tables)
        charts.push(...pages.charts)
      } finally {
        await service.stop()
      }
      process.stderr.write(`pages measured after ${seconds(begun)} s\n`)
    }
    if (parts.includes("replicas")) {
      const replicas = await measureReplicas(ground, [1, 2, 4], Number(values.seconds))
      tables.push(...replicas.tables)
      text.push(
        "Replicas share the machine with the database and the client. On two cores more replicas than one cannot serve more; what the table shows is that they cost little and agree: on the limit, which is exact over all of them, and on one journal."
      )
    }
    if (parts.includes("cold")) {
      tables.push(await measureColdStart(ground, Number(values.starts), Number(values.rest)))
      text.push(
        "A start waits for no statement that many accounts make longer: what reads whole tables has a session of its own. It takes the program's processor time, and longer beside anything that needs the cores, such as the first runs of the jobs that count accounts."
      )
    }
    record({ name: "scale", title: "How cost grows", command: "npm run bench:scale", text, tables, charts }, [
      paperTitle
    ])
  } finally {
    await ground.remove()
  }
}

const parts = values.parts.split(",")
const others = parts.filter((part) => part !== "people" && part !== "paper")
if (values.help) console.log(help)
else {
  if (others.length > 0) await run(others)
  if (parts.includes("people")) await runPeople()
  if (parts.includes("paper")) recordTables("scale", [await paper()])
}
