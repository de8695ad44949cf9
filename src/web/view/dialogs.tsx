// The help and the command palette.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { switchNotifications } from "../app/attention.ts";
import { isHelpOpen, isPaletteOpen, keyTable } from "../app/keys.ts";
import { connection, frame, go, sessions } from "../app/state.ts";
import { nextTheme } from "../app/theme.ts";
import { copy } from "./parts.tsx";
import { viewNames } from "./view-names.ts";

const MAX_COMMANDS = 12;

export function Help() {
  const box = useDialog(isHelpOpen);
  return (
    <dialog ref={box} aria-label="Keys" onClose={() => (isHelpOpen.value = false)}>
      <h2>Keys</h2>
      <dl class="keys">
        {keyTable.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (isHelpOpen.value = false)}>
        Close
      </button>
    </dialog>
  );
}

interface Command {
  name: string;
  run: () => unknown;
}

export function Palette() {
  const box = useDialog(isPaletteOpen);
  const query = useSignal("");
  const at = useSignal(0);
  if (!isPaletteOpen.value) {
    query.value = "";
    at.value = 0;
  }
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (isPaletteOpen.value ? commands() : [])
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, MAX_COMMANDS);
  const chosen = Math.min(at.value, Math.max(0, found.length - 1));
  const run = (command: Command | undefined) => {
    isPaletteOpen.value = false;
    command?.run();
  };
  return (
    <dialog ref={box} class="palette" aria-label="Commands" onClose={() => (isPaletteOpen.value = false)}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={found.length > 0 ? `command-${chosen}` : undefined}
        aria-label="Command"
        placeholder="Go to a phase, a view, a session ..."
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") at.value = Math.min(chosen + 1, found.length - 1);
          else if (event.key === "ArrowUp") at.value = Math.max(0, chosen - 1);
          else if (event.key === "Enter") run(found[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="commands" role="listbox" aria-label="Commands">
        {found.map((command, place) => (
          <li
            key={command.name}
            id={`command-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => run(command)}
            onKeyDown={() => undefined}
          >
            {command.name}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="dim">No command matches.</p>}
    </dialog>
  );
}

function commands(): Command[] {
  const views = Object.entries(viewNames).map(([view, name]) => ({
    name: `View: ${name}`,
    run: () => go({ view: view as keyof typeof viewNames, with: null }),
  }));
  const phases = (frame.value?.session.phases ?? []).map(({ id, name }) => ({
    name: `Phase ${id}: ${name}`,
    run: () => go({ phase: id }),
  }));
  const others = sessions.value.map(({ id, title }) => ({
    name: `Session ${id}: ${title}`,
    run: () => go({ session: id, phase: null, seq: null, with: null }),
  }));
  const actions: Command[] = [
    { name: "Go to the present", run: () => go({ seq: null }, true) },
    { name: "Change the theme", run: nextTheme },
    { name: "Copy a link to this place", run: () => copy("The link", location.href) },
    { name: "Keys", run: () => (isHelpOpen.value = true) },
    ...(connection.value === "report" ? [] : [{ name: "Notifications on or off", run: switchNotifications }]),
  ];
  return [...views, ...actions, ...phases, ...others];
}

/** Opens and closes the dialog as the signal says; the browser keeps the focus inside. */
function useDialog(isOpen: { value: boolean }) {
  const box = useRef<HTMLDialogElement>(null);
  const wanted = isOpen.value;
  useLayoutEffect(() => {
    if (wanted && box.current?.open === false) box.current.showModal();
    if (!wanted && box.current?.open === true) box.current.close();
  }, [wanted]);
  return box;
}
