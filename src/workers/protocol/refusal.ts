// Why a worker refuses an order, as the queue carries it.

const REFUSED = "refused: ";

/** The seal of the order was not made with the worker's key: the worker cannot read it, and another one may. */
export const OTHER_KEY = "the order was not made with this worker's key";

export function refusedText(reason: string): string {
  return `${REFUSED}${reason}`;
}

/** Undefined when the attempt failed in the queue for another reason. */
export function refusalIn(failure: string): string | undefined {
  return failure.startsWith(REFUSED) ? failure.slice(REFUSED.length) : undefined;
}
