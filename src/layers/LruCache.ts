/** A memory for a bounded number of keys, from which those that were not asked for longest are dropped. */
export class LruCache<Value> {
  readonly #values = new Map<string, Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** The key's value, where there is one; it is forgotten no later for that. */
  peek(key: string): Value | undefined {
    return this.#values.get(key)
  }

  /** The key's value, made where there is none yet. */
  get(key: string, make: () => Value): Value {
    const value = this.#values.get(key) ?? make()
    this.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size <= this.#most) return
    const [oldest] = this.#values.keys()
    if (oldest !== undefined) this.#values.delete(oldest)
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}
