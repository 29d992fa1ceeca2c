// SPDX-License-Identifier: Apache-2.0
// The daemon itself.
import { Card, Facts, Loading, When } from "../parts/basics";
import * as store from "../store";

export function About() {
  const about = store.about.value;
  if (!about) return <Loading />;
  return (
    <>
      <div class="page-head">
        <h1>About</h1>
      </div>
      {about.warnings.map((warning) => (
        <p key={warning} class="notice error">
          {warning}
        </p>
      ))}
      <div class="columns">
        <Card title="popdistd">
          <Facts
            rows={[
              ["Version", about.version],
              ["Started", <When time={about.started} />],
              ["Its lives so far", about.epoch],
              ["Cluster", <code>{about.cluster_id}</code>],
              ["You are", about.user],
            ]}
          />
        </Card>
        <Card title="Keys">
          <Facts
            rows={[
              ["/", "search on this page"],
              ["g then o, j, p, h", "overview, jobs, Pods, hosts"],
              ["Tab, Enter", "everything else"],
            ]}
          />
        </Card>
      </div>
    </>
  );
}
