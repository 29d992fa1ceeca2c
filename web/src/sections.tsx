// SPDX-License-Identifier: Apache-2.0
// The pages by the first part of their address, as the navigation shows them: a new one is a row here.
import type { ComponentChildren } from "preact";
import { About } from "./pages/about";
import { Hosts } from "./pages/hosts";
import { JobPage } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { Overview } from "./pages/overview";
import { Pods } from "./pages/pods";

export interface Section {
  path: string;
  title: string;
  icon: string;
  key: string; // after "g"
  page: (rest: string[]) => ComponentChildren;
}

export const SECTIONS: Section[] = [
  { path: "", title: "Overview", icon: "overview", key: "o", page: () => <Overview /> },
  {
    path: "jobs",
    title: "Jobs",
    icon: "jobs",
    key: "j",
    page: ([job]) => (job === undefined ? <Jobs /> : <JobPage name={job} key={job} />),
  },
  { path: "pods", title: "Pods", icon: "pods", key: "p", page: () => <Pods /> },
  { path: "hosts", title: "Hosts", icon: "hosts", key: "h", page: () => <Hosts /> },
  { path: "about", title: "About", icon: "about", key: "a", page: () => <About /> },
];
