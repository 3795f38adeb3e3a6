/** Every kind of mail. */
import * as Alerts from "./Alerts.ts"
import * as People from "./People.ts"

export * from "./Alerts.ts"
export * from "./People.ts"

/** What the table of mails shows of each kind. */
export const mailKinds = [...Object.values(People), ...Object.values(Alerts)]
  .map(({ choice, kind, to, when }) => ({ choice, kind, to, when }))
