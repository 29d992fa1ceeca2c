// SPDX-License-Identifier: Apache-2.0
// The test child's output; apart, because the tests need it as well, to compare.
#include "common/base/random.h"
#include "tests/testing/test_child.h"

namespace pop::testing {

std::string lineText(int instance, char stream, int number, std::size_t bytes) {
  std::string line = std::to_string(instance) + ' ' + stream + ' ' + std::to_string(number) + ' ';
  line.resize(bytes - 1, static_cast<char>('a' + number % 26));
  return line + '\n';
}

std::string binaryText(std::size_t bytes) {
  SplitMix64 random(bytes);
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random.next());
  return text;
}

}  // namespace pop::testing
