/** What the section says before its numbers: what each side does, and how to read it. */
import type { Run } from "./figures.ts"

export const heading = (
  requests: number,
  { connections, rounds, seconds, warmUp }: Run
): ReadonlyArray<string> => [
  `Four servers, each a process of its own, take turns under the load of another process (autocannon, ${connections} ` +
  `connections that stay open) in ${rounds} rounds; each slot is ${seconds} s after ${warmUp} s of warm-up, and each ` +
  "round begins with another server. They share one PostgreSQL 15 with fsync on, 16 organizations of 1,000 accounts " +
  "with three sessions and five ended ones each, and the same keys, half of them an owner's and half of an admin who " +
  "reaches 400 accounts by departments. Each connection asks an organization of its own, except where one " +
  "organization is named. Before a slot the database is brought to the same state: budgets whole, no key used " +
  "lately, vacuumed, a checkpoint taken.",
  "**The service** is `security-console serve` with the settings of its database and keys, and its log as JSON. " +
  "**The peer** (`bench/peers/peer`) is written by hand on Fastify 5 and `pg`, with validation and serialisation by " +
  "schema, named prepared statements, and pino's log. Both do for each request: find the key by checksum and HMAC " +
  "digest joined to admin and organization, note when it was used once a minute, count it in the sliding window of " +
  "the shared table, check scope, closed organization, role, input and host, run one transaction as the tenants' " +
  "role behind row level security, apply the admin's reach, append a chained and hashed entry for a write, write " +
  "one line of log to a file and count and time the request, with the same headers. Over MCP the peer answers by " +
  "the official SDK (`@modelcontextprotocol/sdk` 1, stateless, JSON), and the service by `@modelcontextprotocol/server`.",
  "The peer waits for each statement, as programs on `pg` do. **Pipelined** it uses the switch that `pg` has for it: " +
  "the transaction's beginning is sent with its first statement, statements that do not depend on each other at once, " +
  "and nobody waits for the end of one that only reads, all of which the service does by itself. " +
  "The goals are about the peer that waits; the pipelined one shows what of a difference is owed to that.",
  "What only the service does: OAuth tokens, hosts of organizations, trusted proxies, a clock anchored to the " +
  "database's, a deadline over each transaction that rolls it back, draining on stop, and " +
  "the other operations. The peer stops at a timeout of each statement. The rules of accounts and organizations are " +
  "written twice; the one function shared is the search for members that stand twice in JSON.",
  "**The floor** is `node:http` with one `pg` statement a request, for one organization: no key, limit, transaction, " +
  "policy, header or log.",
  `Before the load, ${requests} requests to both, refusals among them, had to have the same status, headers and body, ` +
  "the entries of the journal had to be the same, and `journal verify` had to find the chain whole.",
  "All processes share this machine's cores, so that throughput says how much work the server, the database and the " +
  "load together make, and evens out what the servers differ in; CPU a request is the server's own. In one " +
  "organization writes queue at the lock of its journal's head, which is held until the commit is on disk: that, and " +
  "not the server, is what the last workload of writes measures."
]

/** What a goal that is not reached is owed to. */
export const remains =
  "What remains, by profiles of the service when this was written: what it does for one row costs less than the peer's, " +
  "what it does for one request costs 0.3 ms more. A statement alone costs its driver 0.04 ms of CPU, as `pg`'s does; a " +
  "transaction with one statement costs 0.16 ms where `pg`'s costs 0.10, for its scope, the fiber that keeps its deadline, " +
  "and the session's way through the pool. The rest is spread over the runtime (fibers, contexts, the scheduler), the log and " +
  "the headers, no place of it above 3 %. What has been mended on the way, from 2.7 ms of CPU for the list and 0.9 ms for the " +
  "organization: answers are checked against their schema instead of encoded member by member, BEGIN goes with the statement " +
  "after it, nobody waits for the end of a transaction that only reads, statements outside transactions share two sessions " +
  "on which they are sent together, an entry of the journal takes two statements instead of four, seats are not counted at " +
  "each request, and MCP answers as JSON instead of a stream of events."
