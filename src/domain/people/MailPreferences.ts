/** The emails that an admin gets (specification, section 2.9). Those a person cannot turn off are not choices. */
import { Schema } from "effect"
import { described, Kind } from "../JsonShapes.ts"
import type { Recipients } from "../organization/Organization.ts"
import type { Role } from "./Access.ts"

export const mailChoices = {
  security: Schema.Boolean.annotate({
    description: "Alerts about accounts: new sign-ins, takeovers, changes outside the console."
  }),
  storage: Schema.Boolean.annotate({ description: "Storage filling up." }),
  news: Schema.Boolean.annotate({ description: "News of the service." }),
  offers: Schema.Boolean.annotate({ description: "Offers of the maker." })
}

export const MailPreferences = Schema.Struct({
  object: Kind("mail_preferences"),
  email: described(Schema.String, "The address that the emails go to."),
  choices: described(Schema.Struct(mailChoices), "Which emails are sent: each true or false.")
}).annotate({ identifier: "mail_preferences" })

export interface MailChoices {
  readonly security: boolean
  readonly storage: boolean
  readonly news: boolean
  readonly offers: boolean
}

export const sameChoices = (one: MailChoices, other: MailChoices): boolean =>
  one.security === other.security && one.storage === other.storage && one.news === other.news &&
  one.offers === other.offers

/** True if the organization's notifications go to the role (specification, section 2.10). */
export const hearsOfTakeovers = (role: Role, recipients: Recipients): boolean =>
  role === "owner" || role === "superadmin" && recipients === "owner_superadmins"
