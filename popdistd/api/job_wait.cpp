// SPDX-License-Identifier: Apache-2.0
#include "popdistd/api/job_wait.h"

#include <optional>
#include <string>
#include <utility>

namespace pop::popdistd {
namespace {

class JobWait : public std::enable_shared_from_this<JobWait> {
 public:
  JobWait(Api& api, Caller caller, Reply<v1::JobInfo> reply)
      : api_(api), caller_(std::move(caller)), reply_(std::move(reply)) {}

  void start(const v1::JobRef& job) {
    api_.get(caller_, job, [weak = weak_from_this()](Result<v1::JobInfo> info) {
      if (const auto self = weak.lock()) self->found(std::move(info));
    });
  }

 private:
  // By its id from now on: a newer job may take the name.
  void found(Result<v1::JobInfo> info) {
    if (!info.ok() || info->state() == v1::JOB_ENDED) return finish(std::move(info));
    v1::WatchRequest request;
    request.set_job(info->id());
    auto changes = api_.watch(caller_, request, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read();
    });
    if (!changes.ok()) return finish(changes.status());
    changes_ = std::move(*changes);
    read();
  }

  void read() {
    while (changes_) {
      const std::optional<ShownChange> shown = changes_->next();
      if (!shown) break;
      const v1::Change& change = **shown;
      if (change.has_job() && change.job().state() == v1::JOB_ENDED) return finish(change.job());
      if (change.body_case() == v1::Change::kJobForgotten)
        return finish(Status(Code::kNotFound, "job " + std::to_string(change.job_forgotten()) +
                                                  " was forgotten while it was waited for"));
    }
    if (!changes_) return;
    if (const std::optional<Status> end = changes_->ended())
      finish(end->ok() ? unavailable("the job is not watched any more") : *end);
  }

  // The reply may destroy this.
  void finish(Result<v1::JobInfo> result) {
    const auto self = shared_from_this();
    changes_.reset();
    if (const auto reply = std::exchange(reply_, nullptr)) reply(std::move(result));
  }

  Api& api_;
  const Caller caller_;
  Reply<v1::JobInfo> reply_;
  std::unique_ptr<Source<ShownChange>> changes_;
};

}  // namespace

std::shared_ptr<void> waitForJob(Api& api, const Caller& caller, const v1::JobRef& job,
                                 Reply<v1::JobInfo> reply) {
  const auto wait = std::make_shared<JobWait>(api, caller, std::move(reply));
  wait->start(job);
  return wait;
}

}  // namespace pop::popdistd
