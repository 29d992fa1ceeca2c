// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/fence.h"

#include <vector>

#include "common/contract/segment.h"
#include "libpopdist/collectives/group/long_wait.h"
#include "libpopdist/collectives/messages/exec/short_wait.h"

namespace popdist::group {
namespace {

// Only shows that this thread is in a fence: a thread that waits for an instance in vain and finds out enters
// the fence for another call, which ends it for all.
class FenceWait {
 public:
  FenceWait(const context::ContextState& context, const std::string& tag)
      : context_(context), tag_(tag), wait_(context, kFence) {
    const exec::Header call{.sequence = context.fences - 1};
    note_ = exec::Header::noteOf(kFence, call);
    tag.copy(note_.tensor.data(), note_.tensor.size());
  }
  ~FenceWait() { wait_.over(); }
  FenceWait(const FenceWait&) = delete;
  FenceWait& operator=(const FenceWait&) = delete;

  void look() {
    if (context_.timeout() < exec::kShortWait || !wait_.isLong()) return;
    wait_.show([this] { return callOfFence(tag_); });
    const auto instances = static_cast<int>(context_.link->segment().header()->instances);
    std::vector<int> here;
    for (int instance = 0; instance < instances; ++instance) {
      if (instance == context_.instance_index) continue;
      if (context_.isLocal(instance))
        here.push_back(instance);
      else
        wait_.tell(instance, note_, instances);
    }
    wait_.findCircle(here);
  }

 private:
  const context::ContextState& context_;
  const std::string tag_;
  LongWait wait_;
  exec::Header note_;
};

}  // namespace

context::LinkError enterFence(const context::ContextState& context, const std::string& tag) {
  context.fence_caller.enter();
  ++context.fences;
  FenceWait wait(context, tag);
  return context.link->fence(tag, context.timeout(), [&wait] { wait.look(); });
}

}  // namespace popdist::group
