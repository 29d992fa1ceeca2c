// SPDX-License-Identifier: Apache-2.0
// poprun: jobs on this host, and plans of all others.
#include "poprun/app.h"

int main(int argc, char** argv) {
  return pop::runApp(argc, argv, nullptr);
}
