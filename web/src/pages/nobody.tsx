// SPDX-License-Identifier: Apache-2.0
// In place of all pages, where the daemon does not know who asks.
import { Command, Missing } from "../parts/basics";
import { connection } from "../store";

export function Nobody() {
  return (
    <Missing title="popdistd does not know who you are">
      {connection.value.why}
      <span class="nobody-help">
        Your browser needs your certificate. Make a file that browsers import, and open this page again:
      </span>
      <Command text="openssl pkcs12 -export -in user-NAME.pem -inkey user-NAME-key.pem -out NAME.p12" />
    </Missing>
  );
}
