import { describe, expect, it } from "@effect/vitest"
import * as path from "node:path"
import { files, read } from "./repository.ts"

const architecture = read("docs/architecture.md")

/** The areas that the document names. */
const areas = [...(/^\*\*Areas\.\*\*.*?\. A port/m.exec(architecture)?.[0] ?? "").matchAll(/`([a-z]+)`/g)]
  .map(([, name = ""]) => name)

/** The modules with a folder for each area, by the document's table. */
const modules = [...new Set([...architecture.matchAll(/`src\/([a-z/]+)\/<area>\/`/g)].map(([, name = ""]) => name))]

/** Folders of such a module that are no area's. */
const others = ["src/http/pages/kit/"]

const areaOf = (file: string): string | undefined => file.split("/").slice(0, -1).find((part) => areas.includes(part))

describe("the areas", () => {
  it("have a folder of the same name in every module that has folders for them", () => {
    expect([areas.length, modules.length]).toEqual([14, 9])
    for (const name of modules) {
      const folders = files(`src/${name}/*/`).filter((folder) => !others.includes(`${folder}/`))
      expect([name, folders.filter((folder) => !areas.includes(path.basename(folder)))]).toEqual([name, []])
    }
  })

  it("are those of the operations, and those that have none", () => {
    const without = ["signin", "oauth", "protection", "mail", "messenger"]
    const own = files("src/operations/*/").map((folder) => path.basename(folder))
    expect(areas.toSorted()).toEqual([...own, ...without].toSorted())
  })

  it("tell files of one name apart from each other by nothing but the module", () => {
    const byName = new Map<string, ReadonlyArray<string>>()
    // What is kept in memory, for tests and single processes, is named like what it stands for.
    for (const file of files("src/**/*.ts").filter((file) => !file.startsWith("src/layers/memory/"))) {
      const name = path.basename(file)
      if (name !== "index.ts") byName.set(name, [...(byName.get(name) ?? []), file])
    }
    const apart = [...byName.values()].filter((same) => new Set(same.map(areaOf)).size > 1)
    expect(apart).toEqual([])
  })
})
