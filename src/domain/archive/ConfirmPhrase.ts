/** The phrases that a person types before archived data is deleted. */
import { Text } from "../JsonShapes.ts"

/** A deletion that is confirmed by a phrase. */
export type PhraseSubject =
  | { readonly kind: "account"; readonly phoneNumber: string }
  | { readonly kind: "archive"; readonly organizationId: string }
  | { readonly kind: "cleanup"; readonly what: "messages" | "files"; readonly count: number; readonly accounts: number }

const maxPhraseLength = 200

export const ConfirmPhrase = Text(maxPhraseLength)

/** The phrase that confirms a deletion. */
export const confirmPhrase = (subject: PhraseSubject): string => {
  switch (subject.kind) {
    case "account":
      return `delete ${subject.phoneNumber.replace(/\D/g, "")}`
    case "archive":
      return `delete archive ${subject.organizationId}`
    case "cleanup":
      return `delete ${subject.count} ${subject.what} from ${subject.accounts} ${
        subject.accounts === 1 ? "account" : "accounts"
      }`
  }
}

const collapsed = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase()

/** True if the phrase confirms the deletion: spaces and capitals make no difference. */
export const isConfirmed = (typed: string, subject: PhraseSubject): boolean =>
  collapsed(typed) === collapsed(confirmPhrase(subject))
