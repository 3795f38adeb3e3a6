/** The faults of a seed file. */
import { Schema } from "effect"

/** One thing that is wrong with a seed file, and where. */
export interface SeedFault {
  readonly path: string
  readonly message: string
}

/** The path of a member, as a text that a person can follow. */
export const at = (...path: ReadonlyArray<string | number>): string =>
  path.reduce<string>(
    (text, part) => typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`,
    ""
  )

/** The path of a fault in a text that a person can follow: `organizations[0].admins[1].email`. */
export const pathText = (path: ReadonlyArray<PropertyKey>): string =>
  at(...path.map((part) => typeof part === "number" ? part : String(part)))

/** A seed file with faults; nothing of it was written. */
export class SeedInvalid extends Schema.TaggedError<SeedInvalid>()("SeedInvalid", {
  faults: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {
  override get message(): string {
    return ["The seed file has faults:", ...this.faults.map(({ message, path }) => `  ${path}: ${message}`)].join("\n")
  }
}
