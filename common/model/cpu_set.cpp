// SPDX-License-Identifier: Apache-2.0
#include "common/model/cpu_set.h"

#include <algorithm>
#include <iterator>

#include "common/base/text.h"

namespace pop::model {
namespace {

constexpr std::int64_t kMaxCpus = 65536;

struct Range {
  int first = 0;
  int last = 0;
};

Result<Range> parseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const Result<std::int64_t> first = parseInteger(text.substr(0, dash));
  const Result<std::int64_t> last =
      dash == std::string_view::npos ? first : parseInteger(text.substr(dash + 1));
  if (!first.ok() || !last.ok() || first.value() < 0 || last.value() < first.value() ||
      last.value() >= kMaxCpus) {
    return invalidArgument(inQuotes(text) + " is not a number or a range such as 0-3");
  }
  return Range{static_cast<int>(first.value()), static_cast<int>(last.value())};
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

Result<CpuSet> CpuSet::parse(std::string_view text) {
  std::vector<int> cpus;
  while (true) {
    const std::size_t comma = text.find(',');
    POP_ASSIGN_OR_RETURN(const Range range, parseRange(text.substr(0, comma)));
    if (static_cast<std::int64_t>(cpus.size()) + range.last - range.first >= kMaxCpus)
      return invalidArgument("a list names more than " + std::to_string(kMaxCpus) + " CPUs");
    for (int cpu = range.first; cpu <= range.last; ++cpu) cpus.push_back(cpu);
    if (comma == std::string_view::npos) return CpuSet(std::move(cpus));
    text.remove_prefix(comma + 1);
  }
}

bool CpuSet::contains(int cpu) const {
  return std::binary_search(cpus_.begin(), cpus_.end(), cpu);
}

std::string CpuSet::text() const {
  std::string result;
  for (std::size_t begin = 0, end = 0; begin < cpus_.size(); begin = end) {
    end = begin + 1;
    while (end < cpus_.size() && cpus_[end] == cpus_[end - 1] + 1) ++end;
    if (!result.empty()) result += ',';
    result += std::to_string(cpus_[begin]);
    if (end - begin > 1) result += '-' + std::to_string(cpus_[end - 1]);
  }
  return result;
}

CpuSet operator&(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  std::set_intersection(a.cpus_.begin(), a.cpus_.end(), b.cpus_.begin(), b.cpus_.end(),
                        std::back_inserter(both.cpus_));
  return both;
}

CpuSet operator|(const CpuSet& a, const CpuSet& b) {
  CpuSet either;
  std::set_union(a.cpus_.begin(), a.cpus_.end(), b.cpus_.begin(), b.cpus_.end(),
                 std::back_inserter(either.cpus_));
  return either;
}

CpuSet operator-(const CpuSet& a, const CpuSet& b) {
  CpuSet rest;
  std::set_difference(a.cpus_.begin(), a.cpus_.end(), b.cpus_.begin(), b.cpus_.end(),
                      std::back_inserter(rest.cpus_));
  return rest;
}

}  // namespace pop::model
