// The page of the dashboard and of the report: draws it, and starts to read.

import { render } from "preact";
import { watchAttention } from "./app/attention.ts";
import { listen } from "./app/keys.ts";
import { start } from "./app/start.ts";
import { revealTexts } from "./app/text-nodes.ts";
import { applyTheme } from "./app/theme.ts";
import { PageShell } from "./view/shell.tsx";

applyTheme();
revealTexts();
const root = document.getElementById("page");
if (root !== null) render(<PageShell />, root);
listen();
watchAttention();
void start();
