// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/values_given.h"

#include <cstddef>

#include "common/base/crc32c.h"

namespace popdist::train {
namespace {

std::vector<std::uint32_t> digestsOf(std::span<const FlatTensors> replicas) {
  std::vector<std::uint32_t> digests;
  for (std::size_t parameter = 0; parameter < replicas.front().spec().size(); ++parameter)
    for (const FlatTensors& replica : replicas)
      digests.push_back(pop::crc32c(replica.refs().bytes(parameter)));
  return digests;
}

}  // namespace

void ValuesGiven::open(std::span<const FlatTensors> replicas) {
  if (before_.empty()) before_ = digestsOf(replicas);
}

std::string ValuesGiven::text(std::span<const FlatTensors> replicas) const {
  std::string text;
  if (!before_.empty()) {
    const std::vector<std::uint32_t> now = digestsOf(replicas);
    for (std::size_t at = 0; at < now.size(); at += replicas.size()) {
      const std::span<const std::uint32_t> of_all = std::span(now).subspan(at, replicas.size());
      bool has_changed = false;
      for (std::size_t i = 0; i < of_all.size(); ++i)
        has_changed = has_changed || of_all[i] != before_[at + i];
      if (!has_changed) continue;
      text += (text.empty() ? "" : ", ") + replicas.front().spec()[at / replicas.size()].name +
              " with digest " + std::to_string(of_all.front());
      for (std::size_t i = 1; i < of_all.size(); ++i)
        if (of_all[i] != of_all.front())
          text += " and " + std::to_string(of_all[i]) + " on local replica " + std::to_string(i);
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace popdist::train
