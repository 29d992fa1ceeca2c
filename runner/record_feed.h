// SPDX-License-Identifier: Apache-2.0
// Source of the records of a job that another process runs, and the way back to its runner. So the one
// who shows them does not care whether they lie on this host's disk or come from a daemon.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/model/job_record.h"

namespace pop::runner {

/// Why no record comes any more.
struct FeedEnd {
  std::string outcome;  ///< the job's, an event of record_codec.h that is not among the records; or empty
  std::string words;    ///< without one: whole lines for people; or empty
  int exit_code = 0;    ///< without one
  bool of_job = true;   ///< else the feed alone has ended: the exit code stands whatever the job does
};

/// All of it on the loop's thread.
class RecordFeed {
 public:
  struct Events {
    std::function<void()> more;      ///< next() may have a record, or ended() an answer
    std::function<void()> answered;  ///< a stop() or signal() has been passed on
  };

  virtual ~RecordFeed() = default;

  /// Begins; `events` are called from the loop, until the feed is destroyed. An error: there are no records.
  /// Once.
  virtual Status open(Events events) = 0;

  /// The next record by its sequence; nothing: none yet, or ended() says why there is none.
  virtual Result<std::optional<Record>> next() = 0;

  /// After next() had nothing.
  virtual std::optional<FeedEnd> ended() = 0;

  /// True if stop() and signal() reach the runner now.
  virtual bool reachesRunner() const = 0;

  /// The first stops the job with grace, the next kills it.
  virtual void stop(int signal) = 0;
  /// For all instances.
  virtual void signal(int signal) = 0;
};

}  // namespace pop::runner
