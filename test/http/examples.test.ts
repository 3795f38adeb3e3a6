import { describe, expect, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Documents from "../../src/http/Documents.ts"
import { operations } from "../../src/operations/index.ts"

const document: any = JSON.parse(JSON.stringify(Documents.make()))

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema(document, "document")

const entries: ReadonlyArray<readonly [id: string, pointer: string, entry: any]> = Object.entries<any>(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, entry]) =>
      [
        entry.operationId,
        `document#/paths/${encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"))}/${method}`,
        entry
      ] as const
    )
  )

/** What is wrong with the value by the schema at the pointer. */
const wrong = (pointer: string, value: unknown) => {
  const validate = ajv.compile({ $ref: `${pointer}/content/application~1json/schema` })
  validate(value)
  return validate.errors ?? []
}

describe("the document's examples", () => {
  it("stand at every operation's answer and body", () => {
    expect(entries.map(([id]) => id).toSorted()).toEqual(operations.map(({ id }) => id).toSorted())
    for (const [id, , entry] of entries) {
      expect([id, entry.responses["200"].content["application/json"].examples.demo.value]).toEqual([
        id,
        expect.any(Object)
      ])
      if (entry.requestBody !== undefined) {
        expect([id, entry.requestBody.content["application/json"].examples.demo.value]).toEqual([
          id,
          expect.any(Object)
        ])
      }
    }
  })

  it.each(entries)("of %s are what its schemas allow", (_, pointer, entry) => {
    const example = entry.responses["200"].content["application/json"].examples.demo.value
    expect(wrong(`${pointer}/responses/200`, example)).toEqual([])
    expect(wrong(`${pointer}/responses/200`, { ...example, surprise: true })).not.toEqual([])
    if (entry.requestBody !== undefined) {
      const body = entry.requestBody.content["application/json"].examples.demo.value
      expect(wrong(`${pointer}/requestBody`, body)).toEqual([])
      expect(wrong(`${pointer}/requestBody`, { ...body, surprise: true })).not.toEqual([])
    }
  })
})

describe("the document", () => {
  it("says in a sentence what each area and each parameter is about", () => {
    for (const { description, name } of document.tags) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)])
    }
    for (const [id, , entry] of entries) {
      for (const { description, name } of entry.parameters) {
        expect([id, name, description]).toEqual([id, name, expect.stringMatching(/\.$/)])
      }
    }
  })
})
