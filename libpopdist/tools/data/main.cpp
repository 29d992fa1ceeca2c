// SPDX-License-Identifier: Apache-2.0
// popdist-data: how quickly data comes, files of records, and whether a program waits for its input.
#include "libpopdist/tools/data/app.h"

int main(int argc, char** argv) {
  return popdist::data::runApp(argc, argv);
}
