// SPDX-License-Identifier: Apache-2.0
// poprun-hosts: poprun with the code for jobs on other hosts, and for detached ones.
#include "poprun/app.h"
#include "poprun/command/hosts_half.h"

int main(int argc, char** argv) {
  const pop::HostsHalf hosts = pop::hostsOverSsh();
  return pop::runApp(argc, argv, &hosts);
}
