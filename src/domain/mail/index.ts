/** Every kind of mail. */
import * as AdminMails from "./AdminMails.ts"
import * as Alerts from "./Alerts.ts"

export * from "./AdminMails.ts"
export * from "./Alerts.ts"

/** Each kind as the table of mails shows it. */
export const mailKinds = [...Object.values(AdminMails), ...Object.values(Alerts)]
  .map(({ choice, kind, to, when }) => ({ choice, kind, to, when }))
