// SPDX-License-Identifier: Apache-2.0
// Prints raw measurements, one series per line.
// usage: bench_collectives_limits copy BATCHES BYTES | tcp BATCHES BYTES [FROM TO ADDRESS] | handover BATCHES
// FROM and TO are network namespaces, ADDRESS is in that of TO.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/collectives_speed/limits/limits.h"

namespace collectives = pop::bench::collectives;

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  const int batches = argc > 2 ? std::atoi(argv[2]) : 0;
  std::vector<collectives::Series> all;
  const std::size_t bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (what == "copy" && argc == 4) all = collectives::copyRates(bytes, batches);
  if (what == "tcp" && argc == 4 && bytes > 0) all = collectives::tcpFigures(bytes, batches);
  if (what == "tcp" && argc == 7 && bytes > 0)
    all = collectives::tcpFigures(bytes, batches, {argv[4], argv[5], argv[6]});
  if (what == "handover") all = collectives::handoverTimes(batches);
  if (all.empty()) {
    std::fputs(
        "usage: bench_collectives_limits copy BATCHES BYTES | tcp BATCHES BYTES [FROM TO ADDRESS] | "
        "handover BATCHES\n",
        stderr);
    return 2;
  }
  for (const auto& [name, values] : all) std::puts(collectives::seriesLine(name, values).c_str());
}
