/** Mails about the archive as a whole: its storage, and its end. */
import type { ArchiveEnd } from "../archive/ArchiveEnd.ts"
import { moment } from "./Letter.ts"
import { mailKind } from "./Mail.ts"

/** A size in GB, with as many digits as tell small limits apart. */
const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`

export const storageAlmostFull = mailKind("storage_almost_full", {
  to: "recipients",
  choice: "storage",
  when: "The archive takes nine tenths of its limit, or the limit was lowered to what it takes.",
  write: ({ limit, used }: { readonly used: number; readonly limit: number }) => ({
    subject: used < limit ? "The archive's storage is nearly full" : "The archive's storage is full",
    paragraphs: [
      { values: [["Used", gigabytes(used)], ["Limit", gigabytes(limit)]] },
      `${
        used < limit ? "At the limit nothing more is archived." : "Nothing more is archived."
      } What is archived stays, and accounts stay protected.`,
      "A cleanup or a retention deletes old messages; a larger plan raises the limit."
    ]
  })
})

const toOwner = { to: "owner", choice: "security" } as const

export const archiveCloses = mailKind("archive_closes", {
  ...toOwner,
  when: "No licence includes the archive any more.",
  write: ({ closesAt, deletesAt }: ArchiveEnd) => ({
    subject: `Your archive closes on ${moment(closesAt)}`,
    paragraphs: [
      "Your organization has no licence that includes the archive any more. Nothing more is archived, and what is archived can be read and exported until it closes.",
      { values: [["Closes", moment(closesAt)], ["Is deleted", moment(deletesAt)]] },
      "A plan with the archive keeps it. Otherwise export what you need before it closes, in the console under Archive exports."
    ]
  })
})

export const archiveIsDeleted = mailKind("archive_is_deleted", {
  ...toOwner,
  when: "The archive closes 30 days after its licence; again 7 days before it is deleted, 90 days after the licence.",
  write: ({ deletesAt }: ArchiveEnd) => ({
    subject: `Your archive is deleted on ${moment(deletesAt)}`,
    paragraphs: [
      "Your organization's archive is closed, because no licence includes the archive. It can no longer be read, and is deleted.",
      { values: [["Is deleted", moment(deletesAt)]] },
      "A plan with the archive opens it again until then. Afterwards nobody can restore it."
    ]
  })
})
