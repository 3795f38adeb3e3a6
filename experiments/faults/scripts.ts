/** Tells the simulated messenger how to answer; only the database can. */
import type { Stage } from "./stage.ts"

let number = 1_000_000_000

/** The next `times` changes of the account's profile are answered so, as scripts of the simulated platform are kept. */
export const script = (stage: Stage, account: string, answer: object, times = 1) =>
  stage.within((query) =>
    query(
      `insert into simulated_script (number, user_id, operation, answer, remaining)
        select $1::int, messenger_user_id, 'update_profile', $2, $3::int from account where id = $4::uuid`,
      [++number, JSON.stringify(answer), times, account]
    )
  )
