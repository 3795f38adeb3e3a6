import { mailRequested } from "../../signin/ForgottenPasswords.ts"
import * as Job from "../Job.ts"

export const mailPasswordResets = Job.make("mail_password_resets", {
  period: "1 second",
  does: "mails a link to admins who have asked for one",
  run: mailRequested
})
