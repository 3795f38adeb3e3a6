import { change, type MutantsByFile } from "../mutant.ts"

export const transport: MutantsByFile = {
  "src/transport/Authenticate.ts": [
    change({ in: "entered", replace: "site.organizationId", by: "null" })
      .loses("credentials of others work at an organization's own address")
      .seenBy("test/http/hosts.test.ts"),
    change({
      in: "onFailure",
      replace: "andThen(attempts.count(origin.ip, wellFormed ? token : null), Effect.fail(failure))",
      by: "fail(failure)"
    })
      .loses("guesses are not counted")
      .seenBy("test/http/address.test.ts")
  ],
  "src/transport/ClientAddress.ts": [
    change({
      in: "clientAddress",
      replace: "!trusted.some((network) => IpNetwork.contains(network, next.value))",
      by: "trusted.length === 0"
    })
      .loses("a client says of itself where it comes from")
      .seenBy("test/http/address.test.ts")
  ],
  "src/transport/StrictJson.ts": [
    change({ in: "read", replace: "if (open.members?.has(name) === true) duplicate ??= name", by: "" })
      .loses("of a duplicate member the last one is taken in silence")
      .seenBy("test/http/body.test.ts")
  ],
  "src/transport/Answer.ts": [
    change({ in: "known", replace: "{}", by: "{ message: String(failure) }" })
      .loses("an answer tells what went wrong inside")
      .seenBy("test/http/edge.test.ts"),
    change({ in: "rateHeaders", replace: "\"ratelimit-remaining\": String(remaining),", by: "" })
      .loses("a client cannot see its budget")
      .seenBy("test/spec/08_limits.test.ts")
  ]
}
