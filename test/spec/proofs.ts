/** What the specification and the document of security say that tests show, beside the tests that passed. */
import { type Fact, idsIn } from "./facts.ts"

/** A test that was run: its file below `test/`, and the titles of its groups and its own. */
export interface Ran {
  readonly file: string
  readonly titles: ReadonlyArray<string>
  readonly passed: boolean
}

export interface Documents {
  readonly facts: ReadonlyArray<Fact>
  /** Facts that no test has to name, each with its reason. */
  readonly excluded: Readonly<Record<string, string>>
  /** Facts that are left unproved, each with its reason. */
  readonly excepted: Readonly<Record<string, string>>
  /** The numbers of the cases of OAuth. */
  readonly cases: ReadonlyArray<number>
  /** The tests that a document names by file and whole title. */
  readonly shown: ReadonlyArray<{ readonly file: string; readonly title: string }>
}

/** The numbers of the cases that a title names: `case 1`, `cases 2 to 4, 7 and 9`. */
export const casesIn = (title: string): ReadonlyArray<number> =>
  [...title.matchAll(/\bcases? (\d+)(?: to (\d+))?((?:(?:,| and) \d+)*)/g)].flatMap((
    [, from, to = from, more = ""]
  ) => [
    ...Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
    ...(more.match(/\d+/g) ?? []).map(Number)
  ])

/** For each thing that titles name, the tests whose titles name it. */
const namedBy = <A>(tests: ReadonlyArray<Ran>, namesIn: (title: string) => ReadonlyArray<A>) => {
  const named = new Map<A, Array<string>>()
  for (const { file, titles } of tests) {
    for (const each of new Set(titles.flatMap(namesIn))) {
      named.set(each, [...named.get(each) ?? [], `${file}: ${titles.at(-1)}`])
    }
  }
  return named
}

const passedOf = (tests: ReadonlyArray<Ran>) => tests.filter(({ passed }) => passed)

/** For each fact, the tests that passed and name it in their own title or in one of a group's. */
export const proofsOf = (tests: ReadonlyArray<Ran>): ReadonlyMap<string, ReadonlyArray<string>> =>
  namedBy(passedOf(tests), idsIn)

/** What is not as the documents say, a line each; none after a run that proves all. */
export const findingsOf = (
  tests: ReadonlyArray<Ran>,
  { cases, excepted, excluded, facts, shown }: Documents
): ReadonlyArray<string> => {
  const proofs = proofsOf(tests)
  const ids = new Set(facts.map(({ id }) => id))
  const provedCases = namedBy(passedOf(tests), casesIn)
  const passed = new Set(passedOf(tests).flatMap(({ file, titles }) => titles.map((title) => `${file}: ${title}`)))
  return [
    ...facts.filter(({ id }) => !proofs.has(id) && !(id in excluded) && !(id in excepted))
      .map(({ id, text }) => `${id} is named by no test that passed: ${text}`),
    ...Object.keys(excepted).filter((id) => proofs.has(id)).map((id) => `${id} is excepted, and yet tests name it`),
    ...[...namedBy(tests, idsIn)].filter(([id]) => !ids.has(id)).map(([id, by]) =>
      `${id} is no fact: ${by.join("; ")}`
    ),
    ...cases.filter((each) => !provedCases.has(each)).map((each) => `Case ${each} is named by no test that passed`),
    ...[...namedBy(tests, casesIn)].filter(([each]) => !cases.includes(each))
      .map(([each, by]) => `Case ${each} does not exist: ${by.join("; ")}`),
    ...shown.map(({ file, title }) => `${file}: ${title}`).filter((each) => !passed.has(each))
      .map((each) => `docs/security.md names what no test that passed is called: ${each}`)
  ]
}
