/** `npm run bench:archive`: what it costs to archive, store, list, search, verify and delete messages, and how that grows. */
import { parseArgs } from "node:util"
import { startWithFlags } from "../../src/cli/process/NodeFlags.ts"
import { record, type Table } from "../support/figure.ts"
import { startFilled, startGround } from "../support/ground.ts"
import { farFromGoals } from "../verdicts.ts"
import { messagesPerAccount } from "./corpus.ts"
import { columns, fill, keysFor, measure } from "./measure.ts"

// The writer is measured as the service is deployed.
startWithFlags(import.meta.filename)

const help = `npm run bench:archive -- [--messages 1000000,5000000] [--kept FOLDER]

Archives so many messages, ${
  messagesPerAccount.toLocaleString("en")
} of each account, on a PostgreSQL of its own, beside
a table with a row for each message; then lists and searches both, verifies, and deletes an account's. About a quarter of an hour, and 6 GB of disk.
Fails where a goal is missed by more than half as much again.

--kept FOLDER   begins with the messages that an earlier run has left there, or leaves them there; prints what reading
                and deleting them come to, without that table, and keeps no figures`

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "1000000,5000000" },
    kept: { type: "string" },
    help: { type: "boolean", default: false }
  }
})

/** Keeps the tables of the sizes so far. */
const keep = (tables: ReadonlyArray<Table>) =>
  record({
    name: "archive",
    title: "The archive",
    command: "npm run bench:archive",
    text: [
      "Made-up chats with words as frequent as in a language, 60 characters a message on average, 11 messages on a day on which somebody writes. The archive is written by its own writer, and read over HTTP from the installed service, with the archive password, as the owner of the organization, who may read all accounts.",
      "The peer is a table with a row for each message, each sealed under a key of its account, and an index of keyed fingerprints of its words. It is asked by its statements alone, without a server or duties. It finds whole words only, and its index shows to a thief of the database which messages have words in common; the archive finds parts of words, and shows nothing of them.",
      "A verification reads every sealed page and compares it with the manifests. A cleanup is one of a whole account, in batches that each test holds and keep the counters right; the peer deletes its rows by one statement and keeps neither.",
      "Processor time of writing leaves out the making of the messages. The peer is measured with 1,000,000 messages alone: writing it takes longer than all else.",
      "The first request with a password derives its key by Argon2id (128 MiB, 3 passes, 4 lanes), whose time beside it is that of the derivation alone in a process that does nothing else; its goal is of a machine that derives in 114 ms.",
      "The reads begin once the service has made the manifests of all that was written, which it does from its start on; lists are counted after 600 others, by when its code is compiled.",
      "Files are sealed from memory, and opened from a file, in chunks of 64 KiB, in a process of their own with Node's flags of the service; Node's cipher alone, over one chunk again and again, is what the machine can do. Every chunk is new memory, which Node's collector counts.",
      "The longest transaction is of all those of the service while it cleans up, looked for every few milliseconds. The scan is of what the cleanup has left, once all vocabularies are dropped and the tables analyzed, as PostgreSQL does by itself within a minute.",
      "A search is timed until its first page of 20 is complete, however many calls that takes. Two searches at a time look for a word that is nowhere and for two words, while messages are listed: once in the process that lists, whose threads search, and once in another process on the same two processors. That process has just started, so that the few searches of that time are slower in it."
    ],
    tables,
    charts: []
  })

const run = async (sizes: ReadonlyArray<number>) => {
  const tables: Array<Table> = []
  for (const messages of sizes) {
    const ground = await startGround()
    try {
      const title = `${messages.toLocaleString("en")} messages of ${messages / messagesPerAccount} accounts`
      const keys = keysFor(messages)
      const written = await fill(ground, messages, keys)
      tables.push({ title, columns, rows: [...written, ...await measure(ground, keys)] })
    } finally {
      await ground.remove()
    }
    keep(tables)
  }
  const far = farFromGoals(tables)
  for (const line of far) console.error(`Missed by more than half as much again. ${line}`)
  if (far.length > 0) process.exitCode = 1
}

const runKept = async (messages: number, folder: string) => {
  const ground = await startFilled(folder, async (ground) => void await fill(ground, messages, null))
  try {
    for (const [measured, value] of await measure(ground, null)) console.log(`${measured}: ${value}`)
  } finally {
    await ground.remove()
  }
}

const sizes = values.messages.split(",").map(Number)
if (values.help) console.log(help)
else if (sizes.some((size) => !(size > 0) || size % messagesPerAccount !== 0)) {
  console.error(`--messages takes multiples of ${messagesPerAccount}, such as 1000000,5000000`)
  process.exitCode = 1
} else if (values.kept === undefined) await run(sizes)
else await runKept(sizes[0] ?? 0, values.kept)
