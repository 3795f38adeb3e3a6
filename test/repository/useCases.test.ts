import { describe, expect, it } from "vitest"
import { CommandRequests, DatabaseRequests } from "../../src/cli/process/Administration.ts"
import { operations } from "../../src/operations/index.ts"
import { files, read } from "./repository.ts"

const declared = files("src/operator/**/*.ts").flatMap((file) =>
  [...read(file).matchAll(/= (?:change|setDisabled|streamed|useCase)\(\s*"([^"]*)"/g)].map(([, name]) => name ?? "")
)

describe("the use cases of operators", () => {
  it("are each declared once, with what they do, and asked under that name", () => {
    const requests = [...CommandRequests.requests.keys(), ...DatabaseRequests.requests.keys()]
    expect(declared.toSorted()).toEqual(requests.toSorted())
    expect(declared.length).toBeGreaterThan(40)
    expect(new Set(declared).size).toBe(declared.length)
  })

  it("have names of their own, and none is an operation's id", () => {
    const ids = new Set<string>(operations.map(({ id }) => id))
    expect(declared.filter((name) => ids.has(name))).toEqual([])
  })
})
