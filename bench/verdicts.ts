/** What the kept figures come to: one line for each question that a reader asks. */
import type { Recorded, Table } from "./support/figure.ts"

export interface Verdict {
  readonly question: string
  readonly holds: boolean
  readonly measured: string
}

type Row = Readonly<Record<string, string>>

const rows = ({ columns, rows }: Table): ReadonlyArray<Row> =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, String(row[index])])))

/** The rows of every table that has the column; one table at least has it. */
const having = ({ name, tables }: Recorded, column: string): ReadonlyArray<Row> => {
  const found = tables.filter(({ columns }) => columns.includes(column))
  if (found.length === 0) throw new Error(`The figure ${name} has no column ${column}`)
  return found.flatMap(rows)
}

const numbers = (text: string | undefined): ReadonlyArray<number> => (text?.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)

const sum = (found: ReadonlyArray<Row>, column: string): number =>
  found.reduce((total, row) => total + (numbers(row[column])[0] ?? 0), 0)

const from = (values: ReadonlyArray<number>): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? String(least) : `${least} to ${most}`
}

const count = (value: number): string => value.toLocaleString("en-US")

/** What each property over random sequences says. */
const properties: Readonly<Record<string, string>> = {
  isolation: "An organization's answers and rows do not depend on any other organization",
  monotonicity: "Fewer rights never permit or show more",
  reach: "Nobody comes to reach, or hands out, more than they have connected themselves",
  watch: "Accounts are watched by the rules, whatever happens outside, fails or dies"
}

const propertyOf = (property: string): string => {
  const question = properties[property]
  if (question === undefined) throw new Error(`There is no property ${property}`)
  return question
}

/** Some of what was waited for never came. */
const lacksSome = /, \d+ missing/

const isWithin = (goal: string, bound: number, value = Number.NaN, factor = 1): boolean =>
  goal.startsWith("at least") ? value >= bound / factor : value <= bound * factor

/** The rows of the archive with a goal; `holds` where no number is beyond it by more than the factor. */
const archiveVerdicts = (tables: ReadonlyArray<Table>, factor = 1): ReadonlyArray<Verdict> =>
  tables.flatMap((table) => {
    const { title } = table
    return rows(table).filter(({ goal }) => goal !== "").map(({ archive, goal = "", measured }) => {
      const goals = numbers(goal)
      const found = numbers(archive)
      const holds = goals.every((bound, index) => isWithin(goal, bound, found[index], factor))
      return { question: `The archive, ${title}: ${measured}, goal ${goal}`, holds, measured: archive ?? "" }
    })
  })

/** A goal that is missed by more fails the bench of the archive. */
const farFactor = 1.5

/** What the bench of the archive fails by, a line each. */
export const farFromGoals = (tables: ReadonlyArray<Table>): ReadonlyArray<string> =>
  archiveVerdicts(tables, farFactor).filter(({ holds }) => !holds).map(({ measured, question }) =>
    `${question}: ${measured}`
  )

/** Each row with a goal reaches it, by all of its numbers. */
const reaching = (subject: string) => (figure: Recorded): ReadonlyArray<Verdict> =>
  having(figure, "measured").filter(({ goal }) => goal !== "").map(({ goal = "", measured = "", value = "" }) => {
    const [bound = 0] = numbers(goal)
    const found = numbers(value)
    return {
      question: `${subject}: ${measured}, goal ${goal}`,
      holds: !lacksSome.test(measured) && found.length > 0 && found.every((one) => isWithin(goal, bound, one)),
      measured: value
    }
  })

/** The verdicts of a figure, by its name. */
const judges: Readonly<Record<string, (figure: Recorded) => ReadonlyArray<Verdict>>> = {
  peers: (figure) =>
    [...Map.groupBy(having(figure, "reached"), ({ goal, ratio }) => `${ratio}, goal ${goal}`)].map(([asked, found]) => {
      const short = found.filter(({ reached }) => reached === "falls short").length
      const measured = found.flatMap(({ measured }) => numbers(measured)[0] ?? [])
      return {
        question: `${asked.charAt(0).toUpperCase()}${asked.slice(1)}`,
        holds: short === 0,
        measured: `${from(measured)}; ${short} of ${found.length} workloads fall short`
      }
    }),
  scale: (figure) => {
    const ratio = "ratio, largest to smallest"
    const pages = having(figure, ratio)
    const flat = pages.filter((row) => !row[ratio]?.includes("not flat")).length
    const replicas = having(figure, "replicas")
    const budget = replicas.map((row) => Object.entries(row).at(-1)?.[1] ?? "")
    const served = (count: string) =>
      numbers(replicas.find((row) => row["replicas"] === count)?.["requests a second"])[0] ?? Number.NaN
    const kept = served("2") / served("1")
    return [
      {
        question: "A page costs the same with a thousand and with a million accounts",
        holds: flat === pages.length,
        measured: `${flat} of ${pages.length} pages are flat, its page marks the others`
      },
      {
        question: "Two replicas on the same cores serve at most a tenth less than one",
        holds: kept >= 0.9,
        measured: `${kept.toFixed(2)} of one's requests a second`
      },
      {
        question: "The budget of a credential is exact over replicas",
        holds: budget.every((each) => each.startsWith("120 /")),
        measured: `admitted / refused: ${budget.join("; ")}`
      }
    ]
  },
  start: (figure) =>
    having(figure, "goals reached").filter((row) => row["goals reached"] !== "").map((row) => ({
      question: `Start: ${row["start"]}`,
      holds: row["goals reached"] === "yes",
      measured: ["median s", "peak MiB", "at rest MiB"].filter((column) => row[column]?.includes(" of ")).map((
        column
      ) => `${column} ${row[column]}`).join("; ")
    })),
  people: (figure) => {
    const pages = having(figure, "goal, ms")
    const times = pages.flatMap((row) => numbers(row["database CPU, ms"])[0] ?? [])
    const goal = numbers(pages[0]?.["goal, ms"])[0] ?? 0
    return [{
      question: `Admins and departments of a million accounts, a page of 100, goal ${goal} ms`,
      holds: times.every((time) => time <= goal),
      measured: `${from(times)} ms of the database's processor time`
    }]
  },
  // The goal of a column stands in its title; of several numbers in a cell the largest before `of` counts.
  monitor: (figure) => {
    const found = having(figure, "accounts")
    return Object.keys(found[0] ?? {}).filter((title) => title.includes("(goal ")).map((title) => {
      const [question = "", goal = ""] = title.split(" (goal ")
      const most = found.map((row) => {
        const cell = row[title] ?? ""
        return cell.includes("missing") ? Number.NaN : Math.max(...numbers(cell.split(" of ")[0]))
      })
      return {
        question: `Watch: ${question.split(":")[0]}, goal ${goal.replace(")", "")}`,
        holds: most.every((value) => value <= (numbers(goal)[0] ?? 0)),
        measured: found.map((row) => `${count(Number(row["accounts"]))}: ${row[title]}`).join("; ")
      }
    })
  },
  wire: reaching("Sessions over the wire"),
  cluster: reaching("Several processes"),
  capture: reaching("Archiving beside the watch"),
  archive: ({ tables }) => archiveVerdicts(tables),
  viewer: (figure) =>
    having(figure, "time").filter(({ goal }) => goal !== "").map(({ goal = "", measured = "", time = "" }) => {
      const [found = Number.NaN] = numbers(time)
      const [bound = 0] = numbers(goal)
      return {
        question: `The viewer: ${measured.replace(/ \(.*\)$/, "")}, goal ${goal}`,
        holds: found <= bound,
        measured: time
      }
    }),
  timing: (figure) => {
    const found = having(figure, "98.75 % interval")
    const apart = found.filter((row) => {
      const [low = 0, high = 0] = numbers(row["98.75 % interval"])
      return low > 0 || high < 0
    })
    return [{
      question: "The time of a 404 does not tell why it is one, nor that of a wrong password whose address it is",
      holds: apart.length === 0,
      measured: `differences of medians: ${
        found.map(({ difference }) => difference).join(", ")
      }; ${apart.length} of ${found.length} intervals leave zero out`
    }]
  },
  fuzz: (figure) => [{
    question: "Bad input is refused with the right parameter, and leaves nothing behind",
    holds: sum(having(figure, "Fault"), "Cases") === 0 && sum(having(figure, "Surface"), "Cases") > 0,
    measured: `${count(sum(having(figure, "Surface"), "Cases"))} requests, ${
      count(sum(having(figure, "Fault"), "Cases"))
    } with a finding, explained on its page`
  }],
  faults: (figure) => {
    const found = having(figure, "fault")
    const bad = ["lost", "duplicated", "half-done", "journal orphans"].map((column) =>
      `${sum(found, column)} ${column}`
    )
    return [{
      question: "No fault loses, doubles or halves an acknowledged change",
      holds: bad.every((each) => each.startsWith("0 ")),
      measured: `${found.length} kinds of faults, ${count(sum(found, "acknowledged"))} acknowledged changes: ${
        bad.join(", ")
      }`
    }]
  },
  "faults-watch": (figure) => {
    const found = having(figure, "fault")
    return [{
      question: "Whatever breaks, each stranger is found, mailed of and signed out once",
      holds: figure.tables.every(({ note }) => note === "Everything was as expected."),
      measured: `${found.length} kinds of faults, ${count(sum(found, "what was seen"))} strangers`
    }]
  },
  "faults-cluster": (figure) => {
    const found = having(figure, "fault")
    return [{
      question:
        "Whatever breaks of three processes, no key is used by two, nothing is done twice, and nobody is unwatched",
      holds: figure.tables.every(({ note }) => note === "Everything was as expected."),
      measured: `${numbers(found[0]?.["fault"])[0]} rounds, ${count(sum(found, "what was seen"))} strangers, ${
        count(sum(found, "acknowledged"))
      } changes at any process`
    }]
  },
  "faults-archive": (figure) => [{
    question: "Whatever breaks, the archive holds each message once, and none that was never written",
    holds: figure.tables.every(({ note }) => note === "Everything was as expected."),
    measured: `10 kinds of faults, ${count(sum(having(figure, "fault"), "what was seen"))} messages compared one by one`
  }],
  properties: (figure) =>
    having(figure, "Property").map((row) => ({
      question: propertyOf(row["Property"] ?? ""),
      holds: row["Findings"] === "0",
      measured: `${count(sum([row], "Sequences"))} sequences, ${count(sum([row], "Requests"))} requests, ${
        row["Findings"]
      } findings`
    })),
  "capture-laws": (figure) =>
    having(figure, "Store").map((row) => ({
      question: `What an account sees is archived, whatever is lost and wherever a process dies: ${row["Store"]}`,
      holds: row["Findings"] === "0",
      measured: `${count(sum([row], "Histories"))} histories, ${count(sum([row], "Deaths"))} deaths, ${
        row["Findings"]
      } findings`
    })),
  mutants: (figure) => {
    const found = having(figure, "Survived")
    const [killed, tried] = [sum(found, "Killed"), sum(found, "Changes")]
    return [{
      question: "Tests fail when a line that matters is changed",
      holds: tried > 0 && killed === tried,
      measured: `${killed} of ${tried} changes found`
    }]
  }
}

export const verdicts = (figure: Recorded): ReadonlyArray<Verdict> => judges[figure.name]?.(figure) ?? []
