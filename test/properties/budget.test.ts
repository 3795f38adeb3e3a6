import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Mcp from "../mcp/support.ts"
import { connected, mcp } from "../oauth/support.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

type Key = World.Asking["key"] & {}

const budget = 120

/** What a request was answered: how many are left, or the status and code of its refusal. */
const summaryOf = ({ body, headers, status }: Pick<World.Answer, "status" | "headers" | "body">) =>
  status === 200 && body.error === undefined && body.result?.isError === undefined
    ? Number(headers.get("ratelimit-remaining"))
    : `${status} ${body.error?.code}`

const rest = (key: Key) => Effect.map(World.get("/v1/organization", key), summaryOf)

/** A call as the newest revision makes it. */
const call = (key: Key) => Effect.map(Mcp.call("get_organization", {}, { key }), summaryOf)

/** The same call as the revisions before make it, which is answered another way. */
const legacy = (key: Key) =>
  Effect.map(Mcp.send({ key, body: Mcp.legacy("tools/call", { name: "get_organization" }) }), summaryOf)

/** Sends 300 requests at once, each of the ways to each of the replicas in turn. */
const sendAll = Effect.fnUntraced(function*(
  [one, two]: Effect.Success<typeof replicas>,
  ways: ReadonlyArray<typeof rest>,
  key: Key
) {
  const requests = Array.from({ length: 300 }, (_, at) => {
    const way = ways[Math.floor(at / 2) % ways.length] ?? rest
    return (at % 2 === 0 ? one : two)(way(key))
  })
  return yield* Effect.all(requests, { concurrency: "unbounded" })
})

const admittedAndRefused = (answers: ReadonlyArray<number | string>) => ({
  left: answers.filter((answer) => typeof answer === "number").toSorted((one, other) => one - other),
  refusals: answers.filter((answer) => typeof answer === "string")
})

/** Each that is admitted is told another rest of the budget; all others are refused. */
const shared = {
  left: Array.from({ length: budget }, (_, index) => index),
  refusals: Array.from({ length: 300 - budget }, () => "429 rate_limited")
}

describe("the budget of a credential, over two replicas on PostgreSQL", () => {
  it.live("S8-02: a key has 120 of 150 requests over REST and 150 calls of tools at once, whichever replica they go to", () =>
    Effect.gen(function*() {
      const both = yield* replicas
      const [one, two] = both
      const { admins } = yield* one(World.makeOrganization())
      const { key } = admins.owner
      expect(admittedAndRefused(yield* sendAll(both, [rest, call, rest, legacy], key))).toEqual(shared)
      for (const replica of both) {
        for (const way of [rest, call, legacy]) expect(yield* replica(way(key))).toBe("429 rate_limited")
      }
      expect(yield* two(rest(admins.admin.key))).toBe(budget - 1)
    }))

  it.live("S8-02: an application's token has 120 of 300 calls of tools at once, whichever replica they go to", () =>
    Effect.gen(function*() {
      const both = yield* replicas
      const [one] = both
      const { tokens } = yield* one(connected({ params: { resource: mcp } }))
      expect(admittedAndRefused(yield* sendAll(both, [call, legacy], tokens.access_token))).toEqual(shared)
    }))
})
