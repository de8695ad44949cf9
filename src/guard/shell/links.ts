// Tracks the links that a command line creates, so that later paths can be resolved through them.

import type { Machine } from "../machine.ts";
import { normal, parentOf } from "../paths.ts";
import { isKnown } from "./shape.ts";

/** Ordinary command lines create a handful. */
const MAX_LINKS = 1000;
const MAX_FOLLOWED = 40;

export class Links {
  readonly #targets = new Map<string, string>();

  /** False when there are too many to follow. */
  add(place: string, target: string): boolean {
    if (!isKnown(place) || !isKnown(target)) return true;
    const parent = parentOf(place);
    this.#targets.set(this.#follow(parent) + place.slice(parent.length), target);
    return this.#targets.size <= MAX_LINKS;
  }

  /** Records that a link was moved or copied. */
  carry(from: string, to: string): boolean {
    const target = this.#targets.get(from);
    return target === undefined || this.add(to, target);
  }

  /** A machine that resolves paths through these links, including those added later. */
  over(machine: Machine): Machine {
    const { realpath } = machine;
    return {
      ...machine,
      through: (path) => this.#follow(path),
      ...(realpath === undefined ? {} : { realpath: (path) => realpath(this.#follow(path)) }),
    };
  }

  /** `path` is a shape; holes are not resolved. */
  #follow(path: string): string {
    if (this.#targets.size === 0) return path;
    let at = path;
    for (let followed = 0; followed < MAX_FOLLOWED; followed++) {
      const link = this.#linkIn(at);
      if (link === undefined) return at;
      at = normal((this.#targets.get(link) as string) + at.slice(link.length));
    }
    return at;
  }

  /** The outermost parent that is a link, or the path itself. */
  #linkIn(path: string): string | undefined {
    for (let end = path.indexOf("/", 1); end >= 0; end = path.indexOf("/", end + 1)) {
      if (this.#targets.has(path.slice(0, end))) return path.slice(0, end);
    }
    return this.#targets.has(path) ? path : undefined;
  }
}
