// SPDX-License-Identifier: Apache-2.0
#include "agent/app.h"

int main(int argc, char** argv) {
  return pop::agent::runApp({argv + 1, argv + argc});
}
