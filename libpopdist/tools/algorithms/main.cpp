// SPDX-License-Identifier: Apache-2.0
// popdist-algorithms: which algorithm the tables choose for each collective, and what each one takes here.
#include "libpopdist/tools/algorithms/app.h"

int main(int argc, char** argv) {
  return popdist::algorithms::runApp(argc, argv);
}
