// SPDX-License-Identifier: Apache-2.0
// popctl: what people ask of popdistd, from a shell.
#include "popctl/app.h"

int main(int argc, char** argv) {
  return pop::popctl::runApp(argc > 0 ? argv[0] : "popctl", {argv + (argc > 0 ? 1 : 0), argv + argc});
}
