import { describe, expect, test } from "vitest";
import type { PhaseId } from "../../ids.ts";
import { QuotaWatch } from "./quota-watch.ts";
import type { SharedQuota } from "./shared-quota.ts";

const begin = Date.parse("2026-02-14T12:00:00Z");

describe("a quota error", () => {
  test("is recorded with a wait that ends as it ends for the engine, also when telling other sessions takes long", () => {
    let clock = begin;
    const told: number[] = [];
    const slow = {
      limit: null,
      refused: (waitMs: number) => {
        told.push(waitMs);
        clock += 500;
      },
    } as unknown as SharedQuota;
    const limits = { slots: 4, quotaBaseMs: 0, quotaWaitMs: 60_000 };
    const watch = new QuotaWatch(limits, { now: () => new Date(clock), warn: () => undefined, sharedQuota: slow });
    expect(watch.refused("1" as PhaseId, 300, 2)).toMatchObject({
      wait_ms: 300,
      until: new Date(begin + 300).toISOString(),
    });
    expect(told).toEqual([300]);
  });
});
