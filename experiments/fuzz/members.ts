/** Objects in JSON, member by member as they are written: valid ones, and what is done to them. */
import * as fc from "fast-check"
import { type JsonSchema, resolve } from "../../test/support/http/documented.ts"
import type { Case } from "./case.ts"
import { boundary, judge, valid } from "./schema.ts"
import { anyJson, badNumber, loneSurrogate, oddNumber, oddText, unknownName } from "./texts.ts"

/** An object before it is text; names and values are JSON already. */
export interface Draft {
  readonly members: ReadonlyArray<readonly [name: string, value: string]>
  readonly kinds: ReadonlyArray<string>
  readonly fate: Case["fate"]
  readonly blame: ReadonlyArray<string>
  /** The members to which something was done already. */
  readonly touched: ReadonlyArray<string>
}

export const write = ({ members }: Draft): string => `{${members.map(([name, value]) => `${name}:${value}`).join(",")}}`

/** What two things done to one request make of it together. */
export const worse = (one: Case["fate"], other: Case["fate"]): Case["fate"] =>
  one === "refused" || other === "refused" ? "refused" : one === "either" || other === "either" ? "either" : one

/** A valid object of the schema: the required members, and some of the others. */
export const validDraft = (schema: JsonSchema, ids: (name: string) => ReadonlyArray<string>): fc.Arbitrary<Draft> => {
  const { properties = {}, required = [] } = resolve(schema)
  const members = Object.entries(properties).map(([name, property]) => {
    const member = valid(property, name, ids).map((value) => [JSON.stringify(name), value] as const)
    return required.includes(name) ? member : fc.option(member, { nil: undefined })
  })
  return fc.tuple(...members).map((all) => ({
    members: all.filter((member) => member !== undefined),
    kinds: [],
    fate: "well-formed",
    blame: [],
    touched: []
  }))
}

type Change = (draft: Draft) => Draft

/** Does one thing to a member to which nothing was done yet. */
const done = (
  member: string,
  kind: string,
  fate: Case["fate"],
  blame: ReadonlyArray<string>,
  change: (members: Draft["members"]) => Draft["members"]
): Change =>
(draft) =>
  draft.touched.includes(member) ? draft : {
    members: change(draft.members),
    kinds: [...draft.kinds, kind],
    fate: worse(draft.fate, fate),
    blame: [...draft.blame, ...blame],
    touched: [...draft.touched, member]
  }

const set = (name: string, value: string) => (members: Draft["members"]): Draft["members"] => [
  ...members.filter(([known]) => known !== JSON.stringify(name)),
  [JSON.stringify(name), value]
]

/** Things to do to an object of the schema. */
const changes = (schema: JsonSchema, nullIsAbsent: boolean): fc.Arbitrary<Change> => {
  const { properties = {}, required = [] } = resolve(schema)
  const known = Object.entries(properties)
  const isAbsent = (name: string, value: string) => nullIsAbsent && value === "null" && !required.includes(name)
  const onMember = (kind: string, arbitrary: fc.Arbitrary<string>) =>
    fc.tuple(fc.constantFrom(...known), arbitrary).map(([[name, property], value]) =>
      // What is nested too deeply to be looked through is no JSON to the service.
      done(
        name,
        kind,
        isAbsent(name, value) ? "either" : judge(property, value),
        value.length > 100 ? [name, "body"] : [name],
        set(name, value)
      )
    )
  const bounds = known.flatMap(([name, property]) => {
    const values = boundary(property)
    return values === undefined
      ? []
      : [values.map((value) => done(name, "boundary", judge(property, value), [name], set(name, value)))]
  })
  return fc.oneof(
    unknownName.filter((name) => !Object.hasOwn(properties, name)).chain((name) =>
      anyJson.map((value) => done(name, "unknown member", "refused", [name, "body"], set(name, value)))
    ),
    ...(known.length === 0 ? [] : [
      onMember("wrong type", anyJson),
      onMember("odd text", oddText.map((text) => JSON.stringify(text))),
      onMember("lone surrogate", loneSurrogate),
      onMember("odd number", oddNumber),
      fc.tuple(fc.constantFrom(...known), badNumber).map(([[name], value]) =>
        done(name, "no JSON number", "refused", ["body"], set(name, value))
      ),
      fc.tuple(fc.constantFrom(...known), anyJson, fc.boolean()).map(([[name], value, escaped]) =>
        done(name, "duplicate member", "refused", [name, "body"], (members) => {
          const first = members.find(([each]) => each === JSON.stringify(name)) ??
            [JSON.stringify(name), value] as const
          const again = escaped ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"` : first[0]
          return [...set(name, first[1])(members), [again, value]]
        })
      )
    ]),
    ...(required.length === 0 ? [] : [
      fc.constantFrom(...required).map((name) =>
        done(
          name,
          "missing member",
          "refused",
          [name],
          (members) => members.filter(([each]) => each !== JSON.stringify(name))
        )
      )
    ]),
    ...bounds
  )
}

/** An object with nothing, one thing, or two things done to it; null may stand for a member that is left out. */
export const drafts = (
  schema: JsonSchema,
  ids: (name: string) => ReadonlyArray<string>,
  { nullIsAbsent = false } = {}
): fc.Arbitrary<Draft> =>
  fc.tuple(validDraft(schema, ids), fc.array(changes(schema, nullIsAbsent), { minLength: 1, maxLength: 2 })).map((
    [draft, all]
  ) => all.reduce((changed, change) => change(changed), draft))
