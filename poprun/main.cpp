// SPDX-License-Identifier: Apache-2.0
#include "poprun/app.h"

int main(int argc, char** argv) {
  return pop::runApp({argv + 1, argv + argc});
}
