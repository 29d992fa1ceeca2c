// SPDX-License-Identifier: Apache-2.0
#include "common/sys/random_name.h"

#include <sys/random.h>

#include <cstdio>

#include "common/base/check.h"

namespace pop::sys {

std::string randomName() {
  unsigned long long bits = 0;
  POP_CHECK(::getrandom(&bits, sizeof(bits), 0) == sizeof(bits));
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", bits);
  return text;
}

}  // namespace pop::sys
