/** Every operation that the tests serve: the product's, and one that is added as any other would be. */
import * as Operation from "../../src/kernel/Operation.ts"
import { operations as product } from "../../src/operations/index.ts"
import { retireLabel } from "./retire_label.ts"

export const operations = [
  ...product,
  retireLabel
] as const

/** The operations by their id. */
export const api = Operation.byId(operations)
