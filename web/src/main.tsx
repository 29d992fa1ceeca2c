// SPDX-License-Identifier: Apache-2.0
// The page around its sections: navigation, the state of the connection, keys.
import { effect } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { retryNow, start } from "./live";
import { act, Questions, Said } from "./parts/ask";
import { Missing, When } from "./parts/basics";
import { Nobody } from "./pages/nobody";
import { Icon } from "./parts/icons";
import { problems } from "./problems";
import { link, route } from "./router";
import { SECTIONS, type Section } from "./sections";
import { isLoggedIn, logOut } from "./session";
import { about, connection } from "./store";
import { nextTheme, theme } from "./theme";

function current(): Section | undefined {
  return SECTIONS.find((each) => each.path === (route.value.parts[0] ?? ""));
}

function Navigation() {
  const here = current();
  const wrong = problems.value.length;
  return (
    <nav aria-label="Pages">
      {SECTIONS.map((each) => (
        <a key={each.path} href={link(each.path ? [each.path] : [])} aria-current={each === here ? "page" : undefined}>
          <Icon name={each.icon} />
          <span>{each.title}</span>
          {each.path === "" && wrong > 0 && (
            <span class="nav-count" aria-label={`, ${wrong} things need a look`}>
              {wrong}
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

function Side() {
  const { state } = connection.value;
  const words = { connecting: "connecting", live: "live", lost: "connection lost", nobody: "not signed in" };
  const icons = { auto: "auto", light: "sun", dark: "moon" };
  return (
    <div class="side-foot">
      <span class={`live-state ${state}`} role="status">
        {words[state]}
      </span>
      {about.value && state !== "nobody" && (
        <span class="who-am-i" title={`popdistd ${about.value.version}`}>
          {about.value.user}
        </span>
      )}
      {isLoggedIn.value && state !== "nobody" && (
        <button type="button" class="button small" onClick={() => void act(logOut)}>
          Log out
        </button>
      )}
      <button
        type="button"
        class="button small ghost"
        onClick={nextTheme}
        aria-label={`Colours: ${theme.value}; change`}
        title={`Colours: ${theme.value}`}
      >
        <Icon name={icons[theme.value]} />
      </button>
    </div>
  );
}

function Lost() {
  const { state, since, why } = connection.value;
  if (state !== "lost") return null;
  return (
    <div class="notice error lost" role="alert">
      <span>
        The connection to popdistd was lost <When time={new Date(since).toISOString()} />: {why}. What is shown may be
        old; jobs are not touched by this. It is tried again by itself.
      </span>
      <button type="button" class="button small" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}

function Page() {
  const section = current();
  const content = section ? (
    section.page(route.value.parts.slice(1))
  ) : (
    <Missing title="There is no such page">
      <a href={link([])}>Overview</a>
    </Missing>
  );
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}
      >
        To the content
      </a>
      <header class="side">
        <a class="brand" href={link([])}>
          <img src="assets/icon.svg" alt="" width="26" height="26" />
          <span>popdistd</span>
        </a>
        <Navigation />
        <Side />
      </header>
      <main id="main" tabIndex={-1}>
        <Lost />
        {connection.value.state === "nobody" ? <Nobody /> : content}
      </main>
      <Questions />
      <Said />
    </>
  );
}

// "/" searches; "g" and then a letter goes to a page. Not while something is typed.
let went = 0;
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    const box = document.querySelector<HTMLInputElement>("[data-search]");
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "g") {
    went = event.timeStamp;
  } else if (event.timeStamp - went < 1000) {
    const section = SECTIONS.find((each) => each.key === event.key);
    if (section) location.hash = link(section.path ? [section.path] : []);
    went = 0;
  }
});

effect(() => {
  const [, name] = route.value.parts;
  const title = current()?.title ?? "popdistd";
  const wrong = problems.value.length;
  document.title = `${wrong > 0 ? `(${wrong}) ` : ""}${name ? `${title} ${name}` : title} – popdistd`;
});
let path = "";
effect(() => {
  const next = route.value.parts.join("/");
  if (path !== next) scrollTo(0, 0);
  path = next;
});

render(<Page />, document.getElementById("page")!);
void start();
