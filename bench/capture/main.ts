/** `npm run bench:capture`: archiving of what is pushed and of a long history, beside the watch of many accounts. */
import { parseArgs } from "node:util"
import { record } from "../support/figure.ts"
import { startGround } from "../support/ground.ts"
import { columns, isPart, measure, parts } from "./measure.ts"

const help = `npm run bench:capture -- [--accounts 1000] [--seconds 60] [--messages-per-second 50] [--rate 1]
  [--parts live,backup,runs,night,files,sealing]

Watches so many accounts in one process over a data centre on loopback in a process of its own, on a PostgreSQL of its own;
archives what is pushed to them, and a first backup of 100,000 messages at so many calls a second, by default as many as
accounts make. About 35 minutes, 20 at 4 calls a second; some of the parts, or fewer than 1000 accounts, are a trial that is
not kept.`

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
    "messages-per-second": { type: "string", default: "50" },
    rate: { type: "string", default: "1" },
    parts: { type: "string", default: Object.keys(parts).join() },
    help: { type: "boolean", default: false }
  }
})

const run = async () => {
  const ground = await startGround({ track_commit_timestamp: "on" })
  const sizes = {
    accounts: Number(values.accounts),
    seconds: Number(values.seconds),
    messagesPerSecond: Number(values["messages-per-second"]),
    rate: Number(values.rate)
  }
  try {
    const chosen = values.parts.split(",").filter(isPart)
    const rows = await measure(ground, sizes, chosen)
    if (sizes.accounts < 1000 || chosen.length < Object.keys(parts).length) return console.log(rows)
    record({
      name: "capture",
      title: "Archiving beside the watch",
      command: "npm run bench:capture",
      text: [
        `One process watches ${sizes.accounts} accounts over the adapter, looks at each once a minute, and archives what is pushed to them; the data centre is another process on loopback, and PostgreSQL is the run's own. Each account has a private chat and a channel, which a run has read before. Each part begins a worker of its own and measures the watch alone first, for ${sizes.seconds} s as every other state; the watch beside quiet accounts, and these, for four times as long, as a collection of the whole memory takes a second.`,
        "Quiet accounts are measured from a minute after every one has asked for what it missed: glances at channels and differences are spread over their periods by the account, so that any window has its share of them. What the beginning costs is said apart. Memory is the heap and what it holds outside, after a collection, that is more than for the watch alone, whose own growth over its window goes on: the messenger's library keeps the ids of each session's last messages. A quiet account has no fiber, but what its pushes and the end of its session wake.",
        `Then ${sizes.messagesPerSecond} messages a second are pushed. A message is archived with the commit that stores it; processor time of one is what the process takes more than for the watch alone.`,
        `One of the accounts has its first backup: 100,000 messages in 120 chats and groups, at ${sizes.rate} calls a second (1 by default), while messages are pushed to all as before. Meanwhile, in rounds, strangers sign in to 50 accounts, are found, and are signed out at their deadlines, which are brought forward. In the next part 32 accounts are read at the same time, each at the default rate and all at that of the process: 28 have 10,000 messages in one chat, four have files of 16 MiB. A first backup of another account, as long, follows without a rate and alone, and after it nights with nothing new; the first of these runs code that nothing has run before. Sealing is that of pages of that history by themselves.`,
        "The data centre counts what it is asked for. Messages are compared by the counts of each chat, which the archive keeps once for each id."
      ],
      tables: [{ title: `${sizes.accounts} accounts in one process`, columns, rows }],
      charts: []
    })
  } finally {
    await ground.remove()
  }
}

if (values.help) console.log(help)
else await run()
process.exit(0)
