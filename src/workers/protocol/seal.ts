// The proof that the sender of an order or a delivery has the key: an HMAC over object ids, which cover all of the content.
// A seal is bound to its kind, its attempt and, for a delivery, its order: it proves nothing elsewhere.

import { createHmac, timingSafeEqual } from "node:crypto";

export interface Sealed {
  kind: "order" | "delivery";
  key: string;
  /** The tree with the whole content. */
  tree: string;
  /** The order's commit; empty for an order itself. */
  order: string;
}

export function sealOf(secret: string, { kind, key, tree, order }: Sealed): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["maestro", 1, kind, key, tree, order]))
    .digest("hex");
}

export function isSealed(secret: string, sealed: Sealed, seal: string): boolean {
  const [wanted, given] = [sealOf(secret, sealed), seal].map((text) => Buffer.from(text, "latin1"));
  return wanted !== undefined && given?.length === wanted.length && timingSafeEqual(wanted, given);
}
