// SPDX-License-Identifier: Apache-2.0
#include "poprun/app.h"

int main(int argc, char** argv) {
  if (argc < 1) return pop::runApp("poprun", {});
  return pop::runApp(argv[0], {argv + 1, argv + argc});
}
