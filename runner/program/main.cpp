// SPDX-License-Identifier: Apache-2.0
#include "runner/program/program.h"

int main(int argc, char** argv) {
  return pop::runner::runProgram({argv + 1, argv + argc});
}
