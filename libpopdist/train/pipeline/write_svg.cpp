// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fstream>

#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/schedule.hpp"

namespace popdist::train {

void writeSvg(const Schedule& schedule, const Simulation& simulation, const std::string& path,
              const SvgOptions& options) {
  const std::string text = svg(schedule, simulation, options);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file.good())
    throwIfError({pop::Code::kUnavailable, pop::errnoStatus("cannot write " + path, errno).message()},
                 "writeSvg");
}

}  // namespace popdist::train
