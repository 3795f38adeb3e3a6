/** What the section says before its numbers: what each side does, and how to read it. */
import { deployedFlags } from "./processes.ts"
import type { Run } from "./rounds.ts"

export const heading = (
  requests: number,
  { connections, rounds, seconds, warmUp }: Run
): ReadonlyArray<string> => [
  `Servers, each a process of its own, take turns under the load of another process (autocannon, ${connections} ` +
  `connections that stay open, each on an organization of its own) in ${rounds} rounds; each slot is ${seconds} s ` +
  `after ${warmUp} s of warm-up or more, and each round begins with another server. One PostgreSQL 15 with fsync on ` +
  "has a database of each: the same 16 organizations of 1,000 accounts, with three sessions and five ended ones each, " +
  "and the same keys. The owner's keys ask, but where a workload names another credential. Before a slot both " +
  "databases are brought to the same state: budgets whole, vacuumed, a checkpoint taken.",
  "**The service** is `security-console serve` with the settings of its database and keys, and its log as JSON. " +
  "**The peer** (`bench/peers/peer`) is a server on Fastify 5 and `pg` that was designed freely, as a team does that " +
  "knows both and has not seen ours: its own schema with columns for what is shown, its own indexes, named prepared " +
  "statements, few sessions that many requests share at once (`pg`'s pipelining). A read is two statements: one finds " +
  "the key with its admin and organization and counts the request in the sliding window of 120 in 60 seconds, which " +
  "replicas share; the other reads the data, and the organization needs none. A write's second is a function in the " +
  "database, which changes the account and appends the entry behind the lock on the journal's head, chained by hash, " +
  "committed to disk. It decides scope, closed organization, role and reach, checks inputs by schema, answers by " +
  "compiled serialisers, with the same headers and codes, and writes the same line of log for each request to the same " +
  "kind of file, a turn of the event loop at once. Over MCP it answers by the official SDK " +
  "(`@modelcontextprotocol/server`, stateless, JSON), with the answer's JSON as the text beside it, where the service " +
  "has a shorter table. Nothing is answered from a cache.",
  "What only the service has: row level security below every statement; OAuth tokens, hosts of organizations, trusted " +
  "proxies, idempotency keys, draining on stop, spans, and the other operations.",
  "**The floor** is `node:http` with one `pg` statement a request, for one organization: no key, limit, journal, " +
  "header or log. **Embedded** is the service with its embedded database in its own process, without a peer.",
  `Before the load, ${requests} requests to both, refusals, filters and cursors among them, had to have the same ` +
  "status, headers and body, the entries of both journals had to be the same, and both chains had to be whole.",
  "**Where the service falls short of the peer.** [A profile](peers-profile.md) says where the time of a request goes, " +
  "and [the statements](peers-statements.md) what it asks of the database and of the system. *A read*: requests that " +
  "arrive in one turn of the event loop enter by one statement, and what an operation reads travels as one message. " +
  "What the service takes longer for is its own code, most of all Effect's runtime, which the peer does not have; no " +
  "function of it takes more than 3 % of a request.",
  "*The role label*: the service waits for three answers of the database where the peer waits for two, as it decides " +
  "in TypeScript, with the account locked, what the peer's function decides in the database. PostgreSQL runs the " +
  "service's statements in no more time than the peer's: what it needs beyond that is for six statements in two " +
  "messages of an open transaction, where the peer sends one. To decide by what was read before the lock, each " +
  "operation would have to say its rules again in SQL; and of several requests in one transaction, one that waits or " +
  "is refused would be in the way of the others. The service also takes a session from a pool, and runs in a fiber of " +
  "its own, so that no answer waits for a connection that hangs. PostgreSQL needs the more processor time for a label " +
  "the more sessions change something at a time: in the best of a few rounds 1.6 ms with 4, 2.1 with 8 and 2.5 with " +
  "the default's 16 (`--max-connections`), beside 1.3 for the peer, whose changes share a few. The service's journal " +
  "has more indexes, and a table by which admins of a department find its events. What accounts are searched by has a table of its own, whose row a new " +
  "label changes too; the peer has no search. And the service reads every entry back and compares its hash before it " +
  "signs a checkpoint; the peer signs none.",
  `*p99*: the load keeps ${connections} requests under way, each of which waits for those before it, so that a server ` +
  "that answers fewer a second answers all of them later. p99 over a server's own p50, in the table of the servers, is " +
  "what throughput does not explain.",
  "*Memory*: what it is made of stands with the statements. At rest the service holds about 110 MiB: 49 of files, " +
  "which are Node's own, and 32 of live objects, of which a quarter is the program's text. Under load Node adds up " +
  "to 32 for what is new, and lets what is older grow to one and a half times what is in use. A granted admin's list " +
  "needs no more of it than the owner's: measured without the other workloads, either came to 183 to 192 MiB.",
  "*A granted admin's list* takes the first accounts of each granted department and those granted one by one, merges " +
  "them, and reads the page's rows again, where the owner's list reads one index. A list with a status filter asks for " +
  "two kinds of rows: those that are in it, and those that time brings into it. " +
  `Both servers run with Node's \`${deployedFlags}\`, as the service's unit and image do.`,
  "All processes share this machine's cores, so that throughput says how much work the server, the database and the " +
  "load together make, and evens out what the servers differ in; CPU a request is the server's own."
]
