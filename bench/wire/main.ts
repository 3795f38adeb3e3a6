/** `npm run bench:wire`: what it costs to hold many sessions on the messenger, and how soon they are live again. */
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { startGround } from "../support/ground.ts"
import { columns, measure } from "./measure.ts"

const help = `npm run bench:wire -- [--sessions 1000] [--seconds 30]

Holds so many sessions in one process over a data centre on loopback in a process of its own, on a PostgreSQL of its own.
About six minutes.`

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000" },
    seconds: { type: "string", default: "30" },
    help: { type: "boolean", default: false }
  }
})

const run = async () => {
  const ground = await startGround()
  try {
    const rows = await measure(ground, Number(values.sessions), Number(values.seconds))
    record({
      name: "wire",
      title: "Sessions on the messenger over its own protocol",
      command: "npm run bench:wire",
      text: [
        `One process holds ${values.sessions} sessions over the adapter, each with its own key, connection and account, over a data centre on loopback in another process; PostgreSQL is the run's own. Memory is what the process takes more than before it opened them, after a collection, per session. It rests for ${values.seconds} s, and then looks at every account once a minute, as the service does.`,
        "Strangers sign in to a tenth of the accounts, and the data centre pushes that at once: a stranger is found when its session is written down. Then every connection is cut; and last, the data centre takes no connections for 30 s."
      ],
      tables: [{ title: `${values.sessions} sessions in one process`, columns, rows }],
      charts: []
    })
  } finally {
    await ground.remove()
  }
}

if (values.help) console.log(help)
else await run()
process.exit(0)
