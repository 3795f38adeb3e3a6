/** The limit of what an organization's archive may take. */

/** From this part of the limit on it is nearly full. */
export const nearly = 0.9

export const isNearlyFull = (used: number, limit: number): boolean => used >= limit * nearly
