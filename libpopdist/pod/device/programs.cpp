// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/programs.h"

#include <utility>

#include "pod/clock/bounds.h"
#include "pod/system/system_text.h"

namespace popdist::pod {

Programs::Programs(ReplicaLayout layout, std::string method, std::string cache_directory)
    : layout_(std::move(layout)),
      topology_(layout_.spec),
      method_(std::move(method)),
      cache_(std::move(cache_directory)) {}

pop::Result<Program*> Programs::of(const Collective& collective, std::string_view method) {
  return get(collective, method, false);
}

pop::Result<Program*> Programs::stored(const Collective& collective, std::string_view method) {
  return get(collective, method, true);
}

pop::Result<Program*> Programs::get(const Collective& collective, std::string_view method, bool from_cache) {
  constexpr std::size_t kKept = 1024;
  Key key{collective.kind,
          collective.group.size,
          collective.group.stride,
          collective.count,
          collective.element_bytes,
          collective.root,
          std::string(method.empty() ? std::string_view(method_) : method)};
  if (const auto kept = programs_.find(key); kept != programs_.end()) return &kept->second;
  const auto compileIt = [&] { return compile(collective, std::get<std::string>(key)); };
  pop::Result<CompiledCollective> compiled =
      from_cache && cache_.isOpen() ? cache_.get(textOf(key), layout_.replicas, compileIt) : compileIt();
  if (!compiled.ok()) return compiled.status();
  if (programs_.size() >= kKept) programs_.clear();
  Program program{&layout_, collective, std::move(compiled->schedule), std::move(compiled->report)};
  return &programs_.emplace(std::move(key), std::move(program)).first->second;
}

pop::Result<CompiledCollective> Programs::compile(const Collective& collective,
                                                  const std::string& method) const {
  POP_ASSIGN_OR_RETURN(TimedSchedule timed, scheduleByName(topology_, layout_, collective, method));
  return CompiledCollective{std::move(timed.schedule),
                            {.method = std::move(timed.name),
                             .time = timed.time.total,
                             .lower_bound = lowerBound(topology_, layout_, collective),
                             .rounds = timed.time.rounds,
                             .bytes_on_busiest_link = timed.time.bytes_on_busiest_link}};
}

// All that a program depends on.
std::string Programs::textOf(const Key& key) const {
  const auto& [kind, size, stride, count, element_bytes, root, method] = key;
  std::string text = "poprun " POP_VERSION "\n" + systemText(layout_.spec);
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(layout_.replicas), static_cast<std::uint64_t>(layout_.ipus_per_replica),
        static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(size),
        static_cast<std::uint64_t>(stride), count, static_cast<std::uint64_t>(element_bytes),
        static_cast<std::uint64_t>(root)})
    text += std::to_string(number) + ' ';
  return text + method;
}

}  // namespace popdist::pod
