// Links that a command line makes and then goes through.

import type { Ground } from "./ground.ts";
import { isInside, locate } from "./paths.ts";
import { isKnown } from "./shape.ts";

const MAX_FOLLOWED = 40;

export class Links {
  readonly #targets = new Map<string, string>();

  add(place: string, target: string): void {
    if (isKnown(place) && isKnown(target) && place !== target) this.#targets.set(place, target);
  }

  /** The ground with these links on it, also with those that are added later. */
  over(ground: Ground): Ground {
    return { ...ground, realpath: (path) => ground.realpath?.(this.#follow(path)) ?? this.#follow(path) };
  }

  #follow(path: string): string {
    let at = path;
    for (let followed = 0; followed < MAX_FOLLOWED; followed++) {
      const link = [...this.#targets].find(([place]) => isInside(at, place));
      if (link === undefined) return at;
      at = locate(`.${at.slice(link[0].length)}`, link[1]);
    }
    return at;
  }
}
