/** What one organization sees and has is a function of its own requests alone. */
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role } from "../../../src/domain/people/Access.ts"
import * as Populated from "../populated.ts"
import * as Random from "../random.ts"
import { answerOf, makeNaming } from "./answers.ts"
import { spoken } from "./logins.ts"
import { rewind } from "./rewind.ts"
import { kinds, type Member, type Stage, vias } from "./stage.ts"

/** How many organizations play. */
export const organizations = 3

const step = Arbitrary.all({
  by: Random.between(0, organizations - 1),
  role: Random.pickOf(...Role.literals),
  kind: Random.pickOf(...kinds),
  via: Random.oneOf(...[...vias, "rest" as const].map((via) => Arbitrary.Constant(via))),
  draft: Random.everyDraft
})

type Step = Effect.Success<ReturnType<typeof sample>>[number]["steps"][number]

/** Requests of several organizations in one order, and the organization whose requests are repeated alone. */
export const sequences = Arbitrary.all({
  alone: Random.between(0, organizations - 1),
  steps: Arbitrary.array(step, { minLength: 2, maxLength: 7 })
})

const sample = () => Arbitrary.sampleEffect(sequences, { count: 1 })

/**
 * The messenger has each username and each person once, for all organizations: each asks for usernames of its own, and
 * connects people of its own.
 */
const drawn = ({ by, draft }: Step, stage: Stage): Random.Request => {
  const own = stage.members[by]?.ids ?? Populated.nothing
  const others = stage.members.flatMap(({ ids }, index) => index === by ? [] : [ids])
  const said = spoken(draft, stage.members[by]?.phones ?? [])
  const { username } = said.members
  const members = typeof username === "string" && username !== ""
    ? { ...said.members, username: `${username.slice(0, 20)}_${by}` }
    : said.members
  return Random.draw(
    { ...draft, members },
    Populated.together(own, own, own, ...others, Populated.nothing)
  )
}

const rowsOf = (stage: Stage, { id }: Member) =>
  Effect.promise(async () => {
    const { rows } = await stage.overseer.query<{ name: string; row: string }>({
      name: "everything",
      text: stage.everything,
      values: [id]
    })
    return rows.map(({ name, row }) => `${name} ${row}`).join("\n")
  })

/** What one organization was told and has after the steps that `plays` lets through. */
const play = Effect.fnUntraced(function*(
  stage: Stage,
  steps: ReadonlyArray<Step>,
  whose: number,
  plays: (step: Step) => boolean
) {
  yield* rewind(stage.overseer)
  const collected: Array<string> = []
  let requests = 0
  for (const [index, step] of steps.entries()) {
    if (!plays(step)) continue
    yield* TestClock.setTime(stage.startsAt + 1000 * (index + 1))
    const member = stage.members[step.by]
    if (member === undefined) continue
    const request = drawn(step, stage)
    const answer = yield* answerOf(request, step.via, member.credentials[step.role](step.kind, step.via))
    requests += 1
    const text = `${step.via} ${request.operation.id} ${JSON.stringify(answer)}`
    // An id that was asked with is not told: a refusal may name the page of what it was asked about.
    const foreign = stage.members.flatMap(({ marks }, index) => index === step.by ? [] : marks)
      .filter((mark) => text.includes(mark) && !request.path.includes(mark))
    if (foreign.length > 0) throw new Error(`${request.method} ${request.path} tells ${foreign.join(", ")}: ${text}`)
    if (answer.status >= 500) throw new Error(`${request.method} ${request.path} answers ${text}`)
    if (step.by === whose) collected.push(text)
  }
  const member = stage.members[whose]
  const rows = member === undefined ? "" : yield* rowsOf(stage, member)
  const naming = makeNaming(stage.known)
  return { collected: collected.map(naming), rows: naming(rows), requests }
})

/** The time of a credential's last use is written soon after its answer: whether the next answer has it is chance. */
const withoutUse = (text: string | undefined) =>
  text?.replaceAll(/"last_used_at":"[^"]*"/g, "\"last_used_at\":\"used\"")

/** Plays a sequence among the others' requests and without them, and compares what the one was told and has. */
export const compare = Effect.fnUntraced(function*(
  stage: Stage,
  { alone, steps }: { readonly alone: number; readonly steps: ReadonlyArray<Step> }
) {
  const among = yield* play(stage, steps, alone, () => true)
  const without = yield* play(stage, steps, alone, ({ by }) => by === alone)
  for (const [index, text] of without.collected.entries()) {
    if (withoutUse(among.collected[index]) !== withoutUse(text)) {
      throw new Error(`Among the others' requests:\n${among.collected[index]}\nwithout them:\n${text}`)
    }
  }
  if (among.rows !== without.rows) {
    const rows = new Set(without.rows.split("\n"))
    const more = among.rows.split("\n").filter((row) => !rows.has(row))
    throw new Error(`Rows differ among the others' requests:\n${more.join("\n")}`)
  }
  return {
    requests: among.requests + without.requests,
    comparisons: without.collected.length + without.rows.split("\n").length
  }
})
