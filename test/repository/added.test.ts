import { basename } from "node:path"
import { describe, expect, it } from "vitest"
import { operations as product } from "../../src/operations/index.ts"
import { operations } from "../added/index.ts"
import { files, read } from "./repository.ts"

/** The operations that the tests add to the product's. */
const added = operations.filter(({ id }) => !product.some((one) => one.id === id)).map(({ id }): string => id)

const lines = (file: string) => read(file).trimEnd().split("\n")

/** Tests that need some operation of the list, whichever: of the kernel, and of the repository. */
const elsewhere = /^test\/(?:kernel|repository)\//

describe("an operation that is added", () => {
  it("is one file, its sample in the area's file, its test, and one line of the list beside the import", () => {
    const names = files("test/added/*").map((file) => basename(file))
    expect(added.length).toBeGreaterThan(0)
    expect(names).toEqual([
      "added.samples.ts",
      "index.ts",
      ...added.flatMap((id) => [`${id}.test.ts`, `${id}.ts`])
    ])
    for (const id of added) {
      const name = id.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
      expect(lines("test/added/index.ts").filter((line) => line.includes(name))).toEqual([
        `import { ${name} } from "./${id}.ts"`,
        expect.stringMatching(`^  ${name},?$`)
      ])
    }
  })

  it("takes 80 lines at most to declare, and about 100 to test by hand", () => {
    for (const id of added) {
      const count = (ending: string) => lines(`test/added/${id}${ending}`).length
      expect([id, count(".ts") <= 80, count(".test.ts") <= 110]).toEqual([id, true, true])
    }
  })

  it("is named in no test that is derived from the list, but for a line of the specification's table and one of what it needs", () => {
    for (const id of added) {
      const naming = files("{src,test,experiments,bench}/**/*.ts").filter((file) =>
        !file.startsWith("test/added/") && !elsewhere.test(file) && read(file).includes(id)
      )
      const path = operations.find((one) => one.id === id)?.path.split("/").at(-1) ?? id
      const linesOf = (file: string) => lines(file).filter((line) => line.includes(id) || line.includes(path)).length
      expect([id, ...naming.map((file) => [file, linesOf(file)])]).toEqual([
        id,
        ["test/spec/table.ts", 1],
        ["test/support/preparations.ts", 1]
      ])
    }
  })
})
