// SPDX-License-Identifier: Apache-2.0
// A link without an agent: the instances are threads of one process, or there is just one.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/sys/memfd.h"
#include "libpopdist/collectives/context/link.h"

namespace popdist::context {

/// The size of a segment for a job of `instances`, or less where `ulimit -v` is set.
std::size_t mappableSegmentBytes(std::size_t instances);

/// Memory of this process alone. Pages that are never touched cost nothing: unlike anonymous memory, not even
/// where the kernel grants no more than there is (vm.overcommit_memory=2).
pop::Result<pop::sys::Mapping> mapSegment(std::size_t bytes);

/// State that the links of one process share.
class MemoryHub {
 public:
  static pop::Result<std::shared_ptr<MemoryHub>> create(int instances, std::size_t segment_bytes);

  /// Behaves as if `instance` had ended: fences fail, and waiting collectives find the end notice.
  void end(int instance, bool clean, const std::string& text);

 private:
  friend class MemoryLink;
  explicit MemoryHub(int instances) : instances_(instances) {}

  /// Purpose of the instances that are in a fence.
  struct Purpose {
    std::string tag;
    LinkError answer;  ///< OK: so are all
  };

  const int instances_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> staged_;
  std::map<std::string, std::string> released_;
  int inside_ = 0;
  std::shared_ptr<Purpose> purpose_;
  std::uint64_t fences_released_ = 0;
  std::optional<LinkError> first_end_;
  std::uint32_t ended_ = 0;
  pop::sys::Mapping segment_;
  HostNetwork network_;
  int host_cores_ = 1;
};

class MemoryLink final : public Link {
 public:
  explicit MemoryLink(std::shared_ptr<MemoryHub> hub) : hub_(std::move(hub)) {}

  LinkError put(const std::string& key, const std::string& value, std::chrono::milliseconds timeout) override;
  LinkError get(const std::string& key, std::chrono::milliseconds timeout,
                std::optional<std::string>& value) override;
  LinkError getAll(const std::string& prefix, std::chrono::milliseconds timeout, Values& values) override;
  LinkError fence(const std::string& tag, std::chrono::milliseconds timeout,
                  const Meanwhile& meanwhile) override;
  void abort(int, const std::string&) override {}  // the caller's exit ends all there is
  transport::SegmentView segment() const override {
    return {hub_->segment_.data(), hub_->segment_.size(), &lent_};
  }
  HostNetwork network() const override { return hub_->network_; }
  int hostCores() const override { return hub_->host_cores_; }

 private:
  std::shared_ptr<MemoryHub> hub_;
  mutable transport::LentPieces lent_;
};

}  // namespace popdist::context
