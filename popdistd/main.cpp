// SPDX-License-Identifier: Apache-2.0
// popdistd: keeps a cluster's jobs and hosts. It is no process's parent: runners and agents go on without it.
#include "popdistd/program.h"

int main(int argc, char** argv) {
  return pop::popdistd::runProgram({argv + (argc > 0 ? 1 : 0), argv + argc});
}
