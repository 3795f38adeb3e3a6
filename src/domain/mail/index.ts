/** Every kind of mail. */
import * as AdminMails from "./AdminMails.ts"
import * as Alerts from "./Alerts.ts"

export * from "./AdminMails.ts"
export * from "./Alerts.ts"

/** What the table of mails shows of each kind. */
export const mailKinds = [...Object.values(AdminMails), ...Object.values(Alerts)]
  .map(({ choice, kind, to, when }) => ({ choice, kind, to, when }))
