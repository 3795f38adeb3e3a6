/** Lists that are read page by page. */
import { Effect, Schema } from "effect"
import { ParameterInvalid } from "./Failure.ts"
import { PageLimit } from "./JsonShapes.ts"

/** The members of a query for a page: how many items, and the item it starts after. */
export const paging = <Id extends Schema.Top>(id: Id, items: string, item: string) => ({
  limit: Schema.optionalKey(PageLimit).annotateKey({ description: `The most ${items} on a page.` }),
  starting_after: Schema.optionalKey(id).annotateKey({
    description: `Id of the last ${item} of the previous page.`
  })
})

/** The rows of a page; null, where the caller sees no item to start after, is refused in these words. */
export const pageRows = <A>(rows: A | null, otherwise: string): Effect.Effect<A, ParameterInvalid> =>
  rows === null
    ? Effect.fail(new ParameterInvalid({ param: "starting_after", message: `starting_after: ${otherwise}` }))
    : Effect.succeed(rows)
