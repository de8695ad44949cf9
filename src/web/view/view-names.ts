// The names of the views, in the order of the navigation.

import type { ViewName } from "../model/route.ts";

export const viewNames: Record<ViewName, string> = {
  needs: "Needs you",
  timeline: "Timeline",
  graph: "Graph",
  history: "History",
  whatif: "What if",
};
