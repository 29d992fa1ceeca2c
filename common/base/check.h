// SPDX-License-Identifier: Apache-2.0
// POP_CHECK ends the process when the project's own code is wrong. Bad input is not a bug: it gets a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace pop {

[[noreturn]] inline void checkFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error, please report it: %s does not hold\n", file, line, expression);
  std::abort();
}

}  // namespace pop

#define POP_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::pop::checkFailed(#expression, __FILE__, __LINE__))
