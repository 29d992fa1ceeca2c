// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/popctl/popctl_fixture.h"

#include <cstdlib>
#include <fstream>

namespace pop::testing {

bool PopctlTest::isJson(const std::string& text) const {
  const std::string path = home_.path() + "/output.json";
  std::ofstream(path) << text;
  return std::system(("python3 -m json.tool " + path + " >/dev/null").c_str()) == 0;
}

}  // namespace pop::testing
