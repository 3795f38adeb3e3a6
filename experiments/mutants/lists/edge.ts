import type { Mutant } from "../list.ts"

export const edge: ReadonlyArray<Mutant> = [
  {
    file: "src/edge/Authenticate.ts",
    line: "entrance.enter(token, resourceAddress(site.baseUrl, resource), site.organizationId),",
    becomes: "entrance.enter(token, resourceAddress(site.baseUrl, resource), null),",
    why: "credentials of others work at an organization's own address",
    tests: ["test/http/hosts.test.ts"]
  },
  {
    file: "src/edge/Authenticate.ts",
    line: ": Effect.andThen(attempts.count(origin.ip, wellFormed ? token : null), Effect.fail(failure))",
    becomes: ": Effect.fail(failure)",
    why: "guesses are not counted",
    tests: ["test/http/address.test.ts"]
  },
  {
    file: "src/edge/ClientAddress.ts",
    line: "if (!trusted.some((network) => IpNetwork.contains(network, next.value))) return address",
    becomes: "if (trusted.length === 0) return address",
    why: "a client says of itself where it comes from",
    tests: ["test/http/address.test.ts"]
  },
  {
    file: "src/edge/Json.ts",
    line: "if (open.members?.has(name) === true) duplicate ??= name",
    becomes: "",
    why: "of a member that stands twice the last one is taken in silence",
    tests: ["test/http/body.test.ts"]
  },
  {
    file: "src/edge/Answer.ts",
    line: "const known = isFailure(failure) ? failure : new Failures.InternalError({})",
    becomes: "const known = isFailure(failure) ? failure : new Failures.InternalError({ message: String(failure) })",
    why: "an answer tells what went wrong inside",
    tests: ["test/http/edge.test.ts"]
  },
  {
    file: "src/edge/Answer.ts",
    line: "\"ratelimit-remaining\": String(remaining),",
    becomes: "",
    why: "a client cannot see its budget",
    tests: ["test/spec/08_limits.test.ts"]
  }
]
