/** The messages that a session sends and answers together. */
import { type Clock, Result } from "effect"
import type { SqlError } from "effect/sql"
import type * as Values from "./BinaryValues.ts"

/** A statement with its values; one that is not `named` is planned for these values and forgotten. */
export interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  readonly named: boolean
}

/** The answer to a statement. */
export interface StatementResult {
  readonly rows: ReadonlyArray<Values.WireRow>
  /** The command's tag, such as `SELECT 1`. */
  readonly command: string
}

/** The time to wait for an answer, by the waiting fiber's clock. */
export interface Deadline {
  readonly clock: Clock.Clock
  readonly at: number
  /** True if a session that is late with the answer is abandoned immediately. */
  readonly final?: boolean
}

/** A statement that the session knows by a name. */
export interface Prepared {
  readonly name: string
  readonly text: string
  /** The types of its parameters. */
  readonly types: string
  /** The time it was last sent, counted in statements. */
  used: number
  /** Undefined until the server has described it, null where it answers no rows. */
  description: Values.Description | null | undefined
}

/** The way a statement of a cycle was sent: whether the server has yet to learn its name. */
export interface Sent {
  readonly prepared: Prepared
  readonly parsed: boolean
}

/** Says how a cycle went. */
export type Settle = (outcome: Result.Result<StatementResult, SqlError.SqlError>) => void

/** For a statement whose answer is waited for with that of a later one. */
const settledLater: Settle = () => {}

/** One of a cycle's statements whose answer is waited for. */
export class PendingStatement implements StatementResult {
  /** Undefined if its fiber no longer waits. */
  settle: Settle | undefined
  rows: Array<Values.WireRow> = []
  command = ""

  constructor(settle: Settle) {
    this.settle = settle
  }
}

/** The statements that are answered together. */
export class Cycle {
  readonly statements: Array<Statement>
  /** Its requested statements; the ones before them, such as BEGIN, are not included. */
  readonly asked: Array<PendingStatement>
  /** The way its statements were sent, of those that are. */
  sent: Array<Sent> = []
  readonly deadline: Deadline | undefined
  /** True if it may be sent once more, because its transaction ends with it and nothing of it has happened. */
  repeatable: boolean
  isRepeated = false
  /** The index of the statement that is being answered. */
  at = 0
  failure: SqlError.SqlError | undefined
  code: string | undefined

  constructor(
    statements: ReadonlyArray<Statement>,
    deadline: Deadline | undefined,
    repeatable: boolean,
    settle: Settle,
    asked = 1
  ) {
    this.statements = [...statements]
    this.deadline = deadline
    this.repeatable = repeatable
    this.asked = Array.from(
      { length: asked },
      (_, place) => new PendingStatement(place + 1 === asked ? settle : settledLater)
    )
  }

  /** True if anybody still waits for any of it. */
  get isAwaited(): boolean {
    return this.asked.some(({ settle }) => settle !== undefined)
  }

  /** The request that waits for the statement that is being answered. */
  get answering(): PendingStatement | undefined {
    return this.asked[this.at - this.statements.length + this.asked.length]
  }

  fail(error: SqlError.SqlError): void {
    for (const { settle } of this.asked) settle?.(Result.fail(error))
  }

  /** It is sent once more, and no more than that. */
  repeat(): void {
    this.repeatable = false
    this.isRepeated = true
    this.at = 0
    for (const asked of this.asked) asked.rows = []
    this.failure = undefined
    this.code = undefined
  }
}
