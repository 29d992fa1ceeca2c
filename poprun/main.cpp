// SPDX-License-Identifier: Apache-2.0
// poprun: runs jobs on this host, and plans all jobs.
#include "poprun/app.h"

int main(int argc, char** argv) {
  return pop::runApp(argc, argv, nullptr);
}
