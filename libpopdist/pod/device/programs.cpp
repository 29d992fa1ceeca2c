// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/programs.h"

#include <utility>

#include "pod/clock/bounds.h"

namespace popdist::pod {

pop::Result<Program*> Programs::of(const Collective& collective, std::string_view method) {
  constexpr std::size_t kKept = 1024;
  Key key{collective.kind,
          collective.group.size,
          collective.group.stride,
          collective.count,
          collective.element_bytes,
          collective.root,
          std::string(method.empty() ? std::string_view(method_) : method)};
  if (const auto kept = programs_.find(key); kept != programs_.end()) return &kept->second;
  POP_ASSIGN_OR_RETURN(TimedSchedule timed,
                       scheduleByName(topology_, layout_, collective, std::get<std::string>(key)));
  PodCollective report{.method = std::move(timed.name),
                       .time = timed.time.total,
                       .lower_bound = lowerBound(topology_, layout_, collective),
                       .rounds = timed.time.rounds,
                       .bytes_on_busiest_link = timed.time.bytes_on_busiest_link};
  if (programs_.size() >= kKept) programs_.clear();
  return &programs_.emplace(std::move(key), Program{collective, std::move(timed.schedule), std::move(report)})
              .first->second;
}

}  // namespace popdist::pod
