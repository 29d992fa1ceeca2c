// SPDX-License-Identifier: Apache-2.0
// poprun-hosts: poprun with what jobs on other hosts need.
#include "poprun/app.h"
#include "poprun/session/doctor.h"
#include "poprun/session/hosts_session.h"

int main(int argc, char** argv) {
  const pop::HostsHalf hosts{.run = pop::runOnHosts, .examine = pop::runDoctor};
  return pop::runApp(argc, argv, &hosts);
}
