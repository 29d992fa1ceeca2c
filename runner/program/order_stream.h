// SPDX-License-Identifier: Apache-2.0
// The runner's end of the stream from the agent service: orders come down, records and answers go up.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/ports/job_report.h"
#include "common/sys/taken_stdio.h"
#include "common/wire/message_stream.h"
#include "runner/program/followers.h"

namespace pop::runner {

class OrderStream {
 public:
  struct Events {
    std::function<void(int signal)> stop;
    std::function<void(int signal)> signal;
    std::function<void()> service_stops;  ///< before that stop; may be null
    std::function<void()> retire;
    std::function<void()> heard;  ///< after each order
    std::function<void()> idle;   ///< the last one who followed has all there is
    std::function<void()> gone;   ///< no order will come: the service is gone
  };

  /// `directory`: of the job. Before up() nothing may be handled.
  OrderStream(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory, Events events);
  /// Gives the service a short time to read what was sent.
  ~OrderStream();
  OrderStream(const OrderStream&) = delete;
  OrderStream& operator=(const OrderStream&) = delete;

  /// The first report. `last_sequence`: of the records that are there.
  void up(bool is_feeder, std::uint64_t last_sequence);

  /// The reports of the job's instances have changed. Dropped while the service reads nothing: the next ones
  /// are newer.
  void reported(const std::vector<JobValue>& values);

  void appended();  ///< there are new records
  void noMore();    ///< and no others will follow

  bool isFollowed() const { return !followers_.empty(); }

 private:
  void receive(const std::string& message);
  void handle(const ::popdist::v1::RunnerOrder& order);
  void stop(const ::popdist::v1::Stop& order);
  static void passOn(int signal, const std::function<void(int)>& to);
  void sendSoon();

  os::EpollLoop& loop_;
  const Events events_;
  wire::MessageStream stream_;
  Followers followers_;
  std::int32_t num_stops_ = 0;  ///< that were passed on
  bool sends_soon_ = false;
  bool is_gone_ = false;
};

}  // namespace pop::runner
