/** What a session sends and answers together. */
import type { Clock, Result } from "effect"
import type { SqlError } from "effect/sql"
import type * as Values from "./Values.ts"

/** A statement with its values; one that is not `named` is planned for these values and forgotten. */
export interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly named: boolean
}

/** What the last statement of a cycle answered. */
export interface Answer {
  readonly rows: ReadonlyArray<Values.Row>
  /** The command's tag, such as `SELECT 1`. */
  readonly command: string
}

/** Until when an answer is waited for, on the clock of whoever waits. */
export interface Deadline {
  readonly clock: Clock.Clock
  readonly at: number
  /** Whether a session that is late with the answer is given up at once. */
  readonly final?: boolean
}

/** A statement that the session knows by a name. */
export interface Prepared {
  readonly name: string
  readonly key: string
  /** When it was last sent, counted in statements. */
  used: number
  /** Undefined until the server has described it, null where it answers no rows. */
  description: Values.Description | null | undefined
}

/** How a statement of a cycle was sent: whether the server has yet to learn its name. */
export interface Sent {
  readonly prepared: Prepared
  readonly parsed: boolean
}

/** Says how a cycle went. */
export type Settle = (outcome: Result.Result<Answer, SqlError.SqlError>) => void

/** What is answered together. */
export class Cycle implements Answer {
  readonly statements: ReadonlyArray<Statement>
  /** How its statements were sent, those that are. */
  sent: ReadonlyArray<Sent> = []
  readonly deadline: Deadline | undefined
  /** Whether it may be sent once more, because its transaction ends with it and nothing of it has happened. */
  repeatable: boolean
  isRepeated = false
  /** Undefined where nobody waits for it any more. */
  settle: Settle | undefined
  /** Which of its statements is being answered. */
  at = 0
  rows: Array<Values.Row> = []
  command = ""
  failure: SqlError.SqlError | undefined
  code: string | undefined

  constructor(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    repeatable: boolean,
    settle: Settle
  ) {
    this.statements = statements
    this.deadline = deadline
    this.repeatable = repeatable
    this.settle = settle
  }

  /** It is sent once more, and no more than that. */
  repeat(): void {
    this.repeatable = false
    this.isRepeated = true
    this.at = 0
    this.rows = []
    this.failure = undefined
    this.code = undefined
  }
}
