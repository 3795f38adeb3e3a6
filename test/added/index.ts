/** Every operation that the tests serve: the product's, and one that is added as any other would be. */
import * as Operation from "../../src/kernel/Operation.ts"
import { operations as product } from "../../src/operations/index.ts"
import { retireLabel } from "./retire_label.ts"

export const served = [
  ...product,
  retireLabel
] as const

type Served = typeof served[number]

/** Operations of sealed data, which no API key may call: test/spec/10_6_sealed_reading.test.ts has them. */
type SealedReading = Extract<Served, { readonly id: "get_archive_keys" | "list_sealed_blocks" | "list_sealed_pages" }>

type Keyed = Exclude<Served, SealedReading>

/** Those that an API key may call. */
export const operations = served.filter(({ kind }) => kind !== "sealed") as unknown as readonly [
  Keyed,
  ...ReadonlyArray<Keyed>
]

/** The operations by their id. */
export const api = Operation.byId(operations)
