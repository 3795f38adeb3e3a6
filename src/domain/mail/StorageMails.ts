/** Mails about the storage of the archive. */
import { mailKind } from "./Mail.ts"

/** A size in GB, with as many digits as tell small limits apart. */
const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`

export const storageAlmostFull = mailKind("storage_almost_full", {
  to: "recipients",
  choice: "storage",
  when: "The archive takes nine tenths of its limit.",
  write: ({ limit, used }: { readonly used: number; readonly limit: number }) => ({
    subject: "The archive's storage is nearly full",
    paragraphs: [
      { values: [["Used", gigabytes(used)], ["Limit", gigabytes(limit)]] },
      "At the limit nothing more is archived. What is archived stays, and accounts stay protected.",
      "A cleanup or a retention deletes old messages; a larger plan raises the limit."
    ]
  })
})
