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
type SealedReading = Extract<
  Served,
  {
    readonly id:
      | "download_sealed_file"
      | "get_archive_keys"
      | "list_sealed_blocks"
      | "list_sealed_files"
      | "list_sealed_pages"
  }
>

/**
 * Operations whose answer is no JSON but a content: test/archive/exports/download.test.ts and
 * test/spec/10_11_archive_files.test.ts have them.
 */
type Contents = Extract<Served, { readonly id: "download_archive_export_part" | "download_file" }>

type Keyed = Exclude<Served, Contents | SealedReading>

/** Those that an API key may call, and that answer JSON. */
export const operations = served.filter((one) =>
  !Operation.answersSealed(one) && !Operation.answersContent(one)
) as unknown as readonly [
  Keyed,
  ...ReadonlyArray<Keyed>
]

/** The operations by their id. */
export const api = Operation.byId(operations)
