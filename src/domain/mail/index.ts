/** Every kind of mail. */
import * as AdminMails from "./AdminMails.ts"
import * as Alerts from "./Alerts.ts"
import * as StorageMails from "./StorageMails.ts"

export * from "./AdminMails.ts"
export * from "./Alerts.ts"
export * from "./StorageMails.ts"

/** Each kind as the table of mails shows it. */
export const mailKinds = [...Object.values(AdminMails), ...Object.values(Alerts), ...Object.values(StorageMails)]
  .map(({ choice, kind, to, when }) => ({ choice, kind, to, when }))
