import { dirname, join, normalize } from "node:path"
import { describe, expect, it } from "vitest"
import { documents } from "../spec/documents.ts"
import { chapters, parseFacts } from "../spec/facts.ts"
import { files, read } from "./repository.ts"

const headings = (markdown: string) =>
  [...markdown.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title)

/** What a heading is linked by. */
const anchor = (title: string) => title.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-")

const numbers = new Set(
  chapters.flatMap(([, text]) => headings(text).flatMap((title) => /^\d+(?:\.\d+)?(?= )/.exec(title) ?? []))
)

describe("the specification", () => {
  it("has each fact under the section that its id names", () => {
    const misplaced = chapters.flatMap(([, text]) =>
      text.split(/^(?=#{1,2} \d)/m).flatMap((section) => {
        const number = /^#+ (\S+)/.exec(section)?.[1]
        return parseFacts(section).filter(({ id }) => id.replace(/^S|-\d+$/g, "") !== number).map(({ id }) => id)
      })
    )
    expect(misplaced).toEqual([])
  })

  it("has every section that a comment cites", () => {
    const cited = files("{src,test,experiments,bench,scripts}/**/*.{ts,mjs}").flatMap((file) =>
      [...read(file).matchAll(/specification,? (?:sections? )?(\d[\d., and]*)/g)].flatMap(([, list = ""]) =>
        (list.match(/\d+(?:\.\d+)?/g) ?? []).map((number) => [file, number] as const)
      )
    )
    expect(cited.length).toBeGreaterThan(20)
    expect(cited.filter(([, number]) => !numbers.has(number))).toEqual([])
    const last = [...numbers].findLast((number) => !number.includes("."))
    expect(read("docs/specification/README.md")).toContain(`Chapters 10 to ${last} are`)
  })

  it("is what comments cite by section, besides public standards", () => {
    const standard = /RFC \d+|OpenID Connect Core 1\.0|WebAuthn Level 3/
    const foreign = files("{src,test,experiments,bench,scripts}/**/*.{ts,mjs}").flatMap((file) =>
      [...read(file).matchAll(/([\w. ]+),\s+(?:\*\s+)?sections?\s+(?:\*\s+)?\d/g)].flatMap(([, of = ""]) =>
        of.endsWith("specification") || standard.test(of) ? [] : [`${file}: ${of}`]
      )
    )
    expect(foreign).toEqual([])
  })
})

describe("the numbered cases of OAuth", () => {
  it("are numbered from one on", () => {
    const { cases } = documents
    expect(cases).toEqual(Array.from({ length: cases.length }, (_, index) => index + 1))
    expect(cases.length).toBeGreaterThan(50)
  })
})

describe("the documents", () => {
  it("link to files and headings that exist", () => {
    const broken = files("{*.md,docs/**/*.md,deploy/*.md}").flatMap((file) =>
      [...read(file).replaceAll(/^```[^]*?^```$/gm, "").matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .flatMap(([link, path = "", fragment]) => {
          const target = path === "" ? file : normalize(join(dirname(file), path))
          const found = files(target).length > 0 || files(`${target}/*`).length > 0
          return found && (fragment === undefined || headings(read(target)).map(anchor).includes(fragment))
            ? []
            : [`${file}: ${link}`]
        })
    )
    expect(broken).toEqual([])
  })

  it("name paths that exist", () => {
    const missing = files("{*.md,docs/*.md,docs/specification/*.md,deploy/*.md}").flatMap((file) =>
      [...read(file).matchAll(/`((?:src|test|experiments|bench|scripts|docs|seeds|deploy)\/[\w./-]*)`/g)]
        .flatMap(([, path = ""]) => files(path.replace(/\/$/, "")).length > 0 ? [] : [`${file}: ${path}`])
    )
    expect(missing).toEqual([])
  })
})

describe("the architecture", () => {
  it("has a line for every module", () => {
    const modules = [...read("docs/architecture.md").matchAll(/^\| `(src\/\w+)\/` \|/gm)].map(([, path]) => path)
    expect(modules.toSorted()).toEqual(files("src/*/"))
  })
})
