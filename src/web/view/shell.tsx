// The frame of the page: head, figures, navigation, the chosen view beside the selected phase, replay.

import { computed, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { isNotifying, switchNotifications } from "../app/attention.ts";
import { isHelpOpen, isPaletteOpen } from "../app/keys.ts";
import { enter } from "../app/start.ts";
import {
  connection,
  critical,
  type Frame,
  frame,
  go,
  isAlone,
  isPrinting,
  linkTo,
  notice,
  overview,
  prices,
  rested,
  route,
  sessions,
} from "../app/state.ts";
import { nextTheme, theme } from "../app/theme.ts";
import { figuresOf } from "../model/figures.ts";
import type { ViewName } from "../model/route.ts";
import { sessionSign } from "../model/sign.ts";
import { PhasePanel } from "../phase/phase.tsx";
import { send } from "./answer-form.tsx";
import { Help, Palette } from "./dialogs.tsx";
import { GraphView } from "./graph.tsx";
import { HistoryView } from "./history.tsx";
import { NeedsView } from "./needs.tsx";
import { Mark } from "./parts.tsx";
import { PrintView } from "./print.tsx";
import { ReplayBar } from "./replay-bar.tsx";
import { TimelineView } from "./timeline.tsx";
import { viewNames } from "./view-names.ts";
import { WhatIfView } from "./what-if.tsx";

const views: Record<ViewName, () => ComponentChild> = {
  needs: () => <NeedsView />,
  timeline: () => <TimelineView />,
  graph: () => <GraphView />,
  history: () => <HistoryView />,
  whatif: () => <WhatIfView />,
};

/** Moving through time changes the address, but not these. */
const viewName = computed(() => route.value.view);
const isSplit = computed(() => route.value.phase !== null);

export function PageShell() {
  if (isPrinting.value) return <PrintView />;
  const view = viewName.value;
  return (
    <>
      <Head />
      <Banner />
      <Figures />
      <Navigation />
      <div class={isSplit.value ? "stage split" : "stage"}>
        <main id="main" aria-label={viewNames[view]} tabIndex={-1}>
          {frame.value === null && view !== "history" ? <Nothing /> : views[view]()}
        </main>
        <PhasePanel />
      </div>
      <ReplayBar />
      <Help />
      <Palette />
      <div class="notice" role="status">
        {notice.value !== null && <p class={notice.value.isError ? "bad" : ""}>{notice.value.text}</p>}
      </div>
    </>
  );
}

function Head() {
  const now = frame.value;
  const isReport = connection.value === "report";
  return (
    <header class="head">
      <button
        type="button"
        class="skip"
        onClick={() => document.querySelector<HTMLElement>(isAlone.value ? ".phase" : "#main")?.focus()}
      >
        Skip to the content
      </button>
      <span class="brand" aria-hidden="true">
        Maestro
      </span>
      <span class="dim project" title="Project">
        {overview.value?.project}
      </span>
      <h1>{now?.session.title ?? "Maestro"}</h1>
      {now !== null && <Mark sign={signOf(now)} />}
      {now !== null && !now.isLive && <span class="past">replay</span>}
      <span class="spacer" />
      {overview.value?.control && (
        <span class="control" title="Started with --control: this page can record decisions">
          can decide
        </span>
      )}
      {overview.value?.control && now?.isLive && now.isDriven && (
        <button type="button" class="danger" onClick={() => void send({ label: "Stop", action: "stop" })}>
          Stop
        </button>
      )}
      {!isReport && (
        <button type="button" aria-pressed={isNotifying.value} onClick={() => void switchNotifications()}>
          Notify
        </button>
      )}
      <button type="button" onClick={nextTheme} aria-label={`Theme: ${theme.value}`} title={`Theme: ${theme.value}`}>
        {theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}
      </button>
      <button
        type="button"
        onClick={() => (isPaletteOpen.value = true)}
        aria-label="Commands"
        title="Commands (Ctrl K)"
      >
        ⌘
      </button>
      <button type="button" onClick={() => (isHelpOpen.value = true)} aria-label="Keys" title="Keys (?)">
        ?
      </button>
    </header>
  );
}

function signOf({ session, isLive, isDriven }: Frame) {
  return sessionSign(session.status, { isAborted: session.aborted, isIdle: isLive && !isDriven });
}

function Banner() {
  const state = connection.value;
  if (state === "lost")
    return (
      <p class="banner warn" role="status">
        The dashboard does not answer. The page shows the last known state and is reconnecting.
      </p>
    );
  if (state === "refused") return <LoginForm />;
  return null;
}

/** For a page that was opened without the code, as --open does, or after the server was restarted. */
function LoginForm() {
  const code = useSignal("");
  const isWrong = useSignal(false);
  return (
    <form
      class="banner login"
      aria-label="Login"
      onSubmit={(event) => {
        event.preventDefault();
        void enter(code.value).then((isIn) => {
          isWrong.value = !isIn;
        });
      }}
    >
      <label>
        This page is not logged in. Enter the code from the address that &quot;maestro dashboard&quot; printed:{" "}
        <input
          autocomplete="off"
          value={code.value}
          onInput={({ currentTarget }) => {
            code.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit">Log in</button>
      <span role="status">{isWrong.value && "This code is not valid, or has been used."}</span>
    </form>
  );
}

/** Found when the moment has rested, not whenever the page is drawn. */
const figures = computed(() => {
  const now = rested.value;
  return now === null ? null : figuresOf(now.session, prices.value, new Date(now.now), critical.value.ms);
});

function Figures() {
  const shown = figures.value;
  if (shown === null) return null;
  return (
    <section aria-label="Figures">
      <dl class="figures">
        {shown.map(({ label, value, detail }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <b>{value}</b>
              <span class="dim">{detail}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Navigation() {
  const { view } = route.value;
  const count = frame.value?.needs.length ?? 0;
  const shown = (Object.keys(viewNames) as ViewName[]).filter(
    (name) => name !== "history" || connection.value !== "report" || sessions.value.length > 1,
  );
  return (
    <nav class="views" aria-label="Views">
      {shown.map((name) => (
        <a
          key={name}
          href={linkTo({ view: name, with: null })}
          aria-current={view === name ? "page" : undefined}
          onClick={(event) => {
            event.preventDefault();
            go({ view: name, with: null });
          }}
        >
          {viewNames[name]} {name === "needs" && count > 0 && <span class="badge">{count}</span>}
        </a>
      ))}
    </nav>
  );
}

function Nothing() {
  const state = connection.value;
  if (state === "refused") return null;
  return (
    <div class="empty">
      {state === "ended" ? (
        <p>This project has no such session.</p>
      ) : state === "starting" || sessions.value.length > 0 ? (
        <p>Reading the session.</p>
      ) : (
        <>
          <p class="empty-head">This project has no session yet.</p>
          <p>Start one with: maestro run &lt;plan&gt;. It appears here automatically.</p>
        </>
      )}
    </div>
  );
}
