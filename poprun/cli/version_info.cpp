// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/version_info.h"

#include <array>
#include <string_view>

#include "common/base/json.h"

namespace pop {
namespace {

struct Part {
  std::string_view name;
  std::string_view version;
};

// The build says which versions it found (poprun/CMakeLists.txt).
constexpr std::array kParts{
    Part{"poprun", POPRUN_VERSION},        Part{"popdist", POPRUN_VERSION},
    Part{"compiler", "g++ " __VERSION__},  Part{"boost", POPRUN_BOOST_VERSION},
    Part{"spdlog", POPRUN_SPDLOG_VERSION}, Part{"zlib", POPRUN_ZLIB_VERSION},
};

}  // namespace

std::string versionText(VersionFormat format) {
  if (format == VersionFormat::kText) return "poprun " POPRUN_VERSION "\n";
  JsonObject json;
  std::string text;
  for (const Part& part : kParts) {
    json.text(part.name, part.version);
    (((text += part.name) += ' ') += part.version) += '\n';
  }
  return format == VersionFormat::kFullJson ? json.str() + '\n' : text;
}

}  // namespace pop
