// SPDX-License-Identifier: Apache-2.0
#include "common/sys/host_name.h"

#include <unistd.h>

#include <array>

namespace pop::sys {

std::string hostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace pop::sys
