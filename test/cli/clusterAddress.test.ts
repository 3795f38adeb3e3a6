import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as ClusterAddress from "../../src/cli/settings/ClusterAddress.ts"

const machine = ["10.89.70.3", "10.89.71.3", "fd00::7"]

const parse = (text: string, addresses = machine) =>
  ClusterAddress.parse(Option.some(text), () => addresses).pipe(
    Effect.map(({ host, port }) => `${host} ${port}`),
    Effect.catch(({ message }) => Effect.succeed(message))
  )

describe("the address at which other processes reach a worker", () => {
  it.effect("is a private one, the machine's only one, or its one in a network", () =>
    Effect.gen(function*() {
      const { host } = yield* ClusterAddress.parse(Option.none())
      assert.strictEqual(host, "127.0.0.1")
      for (
        const [text, expected] of [
          ["10.0.0.7:8090", "10.0.0.7 8090"],
          ["[fd00::8]:8090", "fd00::8 8090"],
          ["10.89.70.0/24:8090", "10.89.70.3 8090"],
          ["[fd00::/8]:8090", "fd00::7 8090"]
        ] as const
      ) {
        assert.strictEqual(yield* parse(text), expected)
      }
      assert.strictEqual(yield* parse("auto:8090", ["10.0.0.9", "fd00::7"]), "10.0.0.9 8090")
    }))

  it.effect("is refused where it is public, ambiguous, missing or at a port of outgoing connections", () =>
    Effect.gen(function*() {
      for (
        const [text, part] of [
          ["8.8.8.8:8090", "not 8.8.8.8"],
          ["0.0.0.0:8090", "not 0.0.0.0"],
          ["0.0.0.0/0:8090", "not 0.0.0.0/0"],
          ["10.0.0.0/33:8090", "not 10.0.0.0/33"],
          ["worker:8090", "not worker"],
          ["10.0.0.7:40000", "up to 32767"],
          ["10.0.0.7", "an address and a port"],
          ["auto:8090", "name one of 10.89.70.3, 10.89.71.3"],
          ["10.0.0.0/8:8090", "name one of 10.89.70.3, 10.89.71.3"],
          ["192.168.0.0/16:8090", "finds no private address"]
        ] as const
      ) {
        assert.include(yield* parse(text), part, text)
      }
    }))
})
