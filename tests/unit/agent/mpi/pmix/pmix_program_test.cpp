// SPDX-License-Identifier: Apache-2.0
// The agent's end of popdist-pmix. The test is the keeper that starts it, and the program itself.
#include "agent/mpi/pmix/pmix_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "agent/keeper/keeper_wire.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/run_until.h"
#include "tests/unit/agent/mpi/pmix_program/loopback.h"
#include "tests/unit/agent/mpi/pmix_program/other_user.h"

namespace pop::agent {
namespace {

using contract::Frame;
using testing::connectToLoopback;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::runIdle;
using testing::runUntil;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// One end of a stream of frames; `loop` runs while a frame is awaited.
class FrameEnd {
 public:
  FrameEnd(os::EpollLoop& loop, sys::Fd socket) : loop_(loop), socket_(std::move(socket)) {}

  void send(PmixMessage type, std::vector<std::string> fields) const {
    const Frame frame{static_cast<std::uint8_t>(type), std::move(fields)};
    EXPECT_TRUE(sys::sendAll(socket_.get(), contract::encode(frame).value()).ok());
  }

  /// Takes what there is; false: nothing.
  bool take() {
    Result<sys::Received> received = sys::receiveSome(socket_.get());
    if (!received.ok() || received->would_block) return false;
    closed_ = received->bytes.empty();
    reader_.append(received->bytes);
    for (sys::Fd& fd : received->fds) fds.push_back(std::move(fd));
    while (auto frame = reader_.next().value()) frames_.push_back(std::move(*frame));
    return !closed_;
  }

  /// The next frame, or nothing at the stream's end.
  std::optional<Frame> next() {
    runUntil(loop_, [this] { return !frames_.empty() || (!take() && closed_) || !frames_.empty(); });
    if (frames_.empty()) return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.erase(frames_.begin());
    return frame;
  }

  bool isSilent() {
    runIdle(loop_);
    while (take()) {
    }
    return frames_.empty() && !closed_;
  }

  void hangUp() { socket_.reset(); }

  std::vector<sys::Fd> fds;

 private:
  os::EpollLoop& loop_;
  sys::Fd socket_;
  contract::FrameReader reader_;
  std::vector<Frame> frames_;
  bool closed_ = false;
};

// Instances 2 and 3 of 4, on the second of two hosts.
class PmixProgramTest : public ::testing::Test {
 protected:
  PmixProgramTest() { place = program->open(slice()).value(); }

  static JobSlice slice(int num_instances = 4) {
    JobSlice slice{.job_id = "4f2a", .num_instances = num_instances};
    slice.hosts = std::make_shared<const std::vector<HostInstances>>(
        std::vector<HostInstances>{{"h0", 0, 2}, {"h1", 2, 2}});
    slice.instances = {{.env = {.instance_index = 2}}, {.env = {.instance_index = 3}, .program = 1}};
    return slice;
  }

  sys::Fd connect() const { return connectToLoopback(std::stoi(place.port)); }

  /// The next start that the keeper is asked for.
  keeper::Message nextStart() {
    while (true) {
      keeper::Message message = keeper::decode(keeper.next().value());
      if (message.kind == keeper::Kind::kSpawn) return message;
    }
  }

  /// Connects an instance, and becomes the program that is started. It has read about its job.
  FrameEnd started() {
    client = connect();
    nextStart();
    FrameEnd control(loop, std::move(keeper.fds.at(0)));
    EXPECT_EQ(control.next().value().type, static_cast<std::uint8_t>(PmixMessage::kJob));
    return control;
  }

  std::unique_ptr<PmixProgram> make(const std::string& path) {
    return std::make_unique<PmixProgram>(
        loop, link,
        PmixProgram::Events{
            .fence_reached = [this](PutValues values) { fences.push_back(std::move(values)); },
            .aborted = [this](
                           int instance, int exit_code,
                           const std::string& message) { aborts.emplace_back(instance, exit_code, message); },
            .failed = [this](const std::string& why) { failures.push_back(why); }},
        path);
  }

  os::EpollLoop loop;
  std::pair<sys::Fd, sys::Fd> ends = sys::socketPair().value();
  KeeperLink link{loop, ends.first.get(), {}};
  FrameEnd keeper{loop, std::move(ends.second)};
  std::vector<PutValues> fences;
  std::vector<std::tuple<int, int, std::string>> aborts;
  std::vector<std::string> failures;
  std::unique_ptr<PmixProgram> program = make("/bin/true");
  PmixProgram::Place place;
  sys::Fd client;
};

TEST_F(PmixProgramTest, IsNotStartedWithoutAConnection) {
  EXPECT_TRUE(keeper.isSilent());
}

TEST_F(PmixProgramTest, IsStartedAtTheFirstConnectionWithTheSocketAndTheJob) {
  const sys::Fd first = connect();
  const sys::Fd second = connect();
  const keeper::Message start = nextStart();
  EXPECT_EQ(start.numbers.instance, kPmixProgram);
  EXPECT_EQ(start.texts.at(3), "/bin/true");
  ASSERT_THAT(keeper.fds, SizeIs(4));
  for (int connection = 0; connection < 2; ++connection)
    EXPECT_TRUE(sys::Fd(::accept(keeper.fds[3].get(), nullptr, nullptr)).valid());
  FrameEnd control(loop, std::move(keeper.fds[0]));
  EXPECT_EQ(readJob(control.next().value()).value(), (PmixJob{.name = "poprun-4f2a",
                                                              .server_name = "poprun-server-4f2a",
                                                              .directory = place.directory,
                                                              .num_instances = 4,
                                                              .this_host = 1,
                                                              .programs = {0, 1},
                                                              .hosts = {{"h0", 0, 2}, {"h1", 2, 2}}}));
  EXPECT_TRUE(keeper.isSilent()) << "started twice";
}

TEST_F(PmixProgramTest, PutsItsDirectoryInMemoryAndLeavesItToTheKeeper) {
  EXPECT_THAT(place.directory, StartsWith("/dev/shm/poprun-"));
  EXPECT_FALSE(std::filesystem::exists(place.directory));
  client = connect();
  const keeper::Message remove = keeper::decode(keeper.next().value());
  EXPECT_EQ(remove.kind, keeper::Kind::kRemoveAtEnd);
  EXPECT_THAT(remove.texts, ElementsAre(place.directory));
}

TEST_F(PmixProgramTest, JoinsWhatTheHostsContributeToAFence) {
  FrameEnd control = started();
  control.send(PmixMessage::kFence, {std::string("this\0host", 9)});
  runUntil(loop, [this] { return !fences.empty(); });
  PutValues values = fences.at(0);
  EXPECT_THAT(values, SizeIs(1));
  values["0"] = "the other;";
  program->release(values);
  const Frame release = control.next().value();
  EXPECT_EQ(release.type, static_cast<std::uint8_t>(PmixMessage::kRelease));
  EXPECT_THAT(release.fields, ElementsAre(std::string("the other;this\0host", 19)));
}

TEST_F(PmixProgramTest, DoesNotWaitForAProgramThatDoesNotRead) {
  FrameEnd control = started();
  const std::string blob(16 << 20, 'x');
  program->release({{"0", blob}});
  runIdle(loop);
  EXPECT_EQ(control.next().value().fields.at(0), blob);
}

// ---- what ends the job

TEST_F(PmixProgramTest, SaysWhichInstanceHasAborted) {
  FrameEnd control = started();
  control.send(PmixMessage::kAbort, {"3", "7", "N/A"});
  control.send(PmixMessage::kAbort, {"3", "8", "N/A"});
  control.send(PmixMessage::kAbort, {"2", "0", "N/A"});
  runUntil(loop, [this] { return aborts.size() == 2; });
  EXPECT_EQ(aborts.at(0), std::tuple(3, 7, "called MPI_Abort(7)"));
  EXPECT_EQ(aborts.at(1), std::tuple(2, 1, "called MPI_Abort(0)")) << "it is no success";
}

TEST_F(PmixProgramTest, AbortsWithTheCodeThatTheProcessExitsWith) {
  FrameEnd control = started();
  control.send(PmixMessage::kAbort, {"2", "-1", "N/A"});
  control.send(PmixMessage::kAbort, {"3", "300", "N/A"});
  runUntil(loop, [this] { return aborts.size() == 2; });
  EXPECT_EQ(aborts.at(0), std::tuple(2, 255, "called MPI_Abort(-1)"));
  EXPECT_EQ(aborts.at(1), std::tuple(3, 44, "called MPI_Abort(300)"));
}

TEST_F(PmixProgramTest, SaysSoBeforeTheEndOfTheInstanceIsHandled) {
  FrameEnd control = started();
  control.send(PmixMessage::kAbort, {"3", "7", "N/A"});
  program->receive();
  EXPECT_THAT(aborts, SizeIs(1));
}

TEST_F(PmixProgramTest, SpeaksForInstancesOfThisHostOnly) {
  FrameEnd control = started();
  control.send(PmixMessage::kAbort, {"1", "7", "N/A"});
  runUntil(loop, [this] { return !failures.empty(); });
  EXPECT_THAT(aborts, IsEmpty());
}

TEST_F(PmixProgramTest, EndsAJobOfSeveralWhenOneWantsToStartMore) {
  FrameEnd control = started();
  control.send(PmixMessage::kSpawn, {"2", "/bin/worker"});
  runUntil(loop, [this] { return !aborts.empty(); });
  EXPECT_EQ(
      aborts.at(0),
      std::tuple(2, 1,
                 "called MPI_Comm_spawn('/bin/worker'), which poprun does not support: start all processes "
                 "with poprun -n"));
}

TEST_F(PmixProgramTest, EndsTheJobOfAnInstanceThatStartsAgainWithoutAnEnd) {
  FrameEnd control = started();
  control.send(PmixMessage::kUnfinished, {"3"});
  runUntil(loop, [this] { return !aborts.empty(); });
  EXPECT_EQ(aborts.at(0), std::tuple(3, 1,
                                     "starts an MPI program, and one that it has started before has not "
                                     "called MPI_Finalize"));
}

TEST_F(PmixProgramTest, LetsASingleInstanceGoOnWithoutMore) {
  JobSlice alone = slice(1);
  alone.hosts = std::make_shared<const std::vector<HostInstances>>(std::vector<HostInstances>{{"h0", 0, 1}});
  alone.instances = {{.env = {.instance_index = 0}}};
  place = program->open(alone).value();
  FrameEnd control = started();
  control.send(PmixMessage::kSpawn, {"0", "/bin/worker"});
  runIdle(loop);
  EXPECT_THAT(aborts, IsEmpty());
}

TEST_F(PmixProgramTest, FailsOnceWithTheProgramsOwnReason) {
  FrameEnd control = started();
  control.send(PmixMessage::kFailed, {"no memory"});
  control.hangUp();
  program->onReaped({.code = 1});
  runIdle(loop);
  EXPECT_THAT(failures, ElementsAre("popdist-pmix: no memory"));
}

TEST_F(PmixProgramTest, FailsWhenTheProgramIsKilled) {
  FrameEnd control = started();
  control.hangUp();
  runIdle(loop);
  EXPECT_THAT(failures, IsEmpty()) << "the keeper will say how";
  program->onReaped({.signal = SIGKILL});
  EXPECT_THAT(failures,
              ElementsAre("popdist-pmix, which serves instances that speak PMIx, was killed by SIGKILL"));
}

TEST_F(PmixProgramTest, FailsWhenTheProgramSendsNonsense) {
  FrameEnd control = started();
  control.send(PmixMessage::kJob, {});
  runUntil(loop, [this] { return !failures.empty(); });
  EXPECT_THAT(failures, ElementsAre("popdist-pmix sent an unknown message"));
  EXPECT_EQ(control.next(), std::nullopt) << "it must end";
}

// Each would be a world of its own otherwise.
TEST_F(PmixProgramTest, FailsWhereTheProgramIsNotInstalled) {
  program = make("/nowhere/popdist-pmix");
  place = program->open(slice()).value();
  runIdle(loop);
  EXPECT_THAT(failures, IsEmpty());
  client = connect();
  runUntil(loop, [this] { return !failures.empty(); });
  EXPECT_THAT(failures, ElementsAre(HasSubstr("needs popdist-pmix")));
}

TEST_F(PmixProgramTest, IsNotMissedByOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  program = make("/nowhere/popdist-pmix");
  place = program->open(slice()).value();
  EXPECT_TRUE(testing::asNobody([&] { return connect().valid(); }));
  runIdle(loop);
  EXPECT_THAT(failures, IsEmpty());
  client = connect();
  runUntil(loop, [this] { return !failures.empty(); });
}

// ---- instances that others wait for, and that have ended

TEST_F(PmixProgramTest, TellsTheProgramWhichInstancesOfThisHostHaveEnded) {
  program->announce({.instance = 2, .clean = true});
  FrameEnd control = started();
  program->announce({.instance = 0, .clean = true});
  program->announce({.instance = 3, .clean = false});
  program->announce({.instance = 3, .clean = true});
  for (const char* instance : {"2", "3"}) {
    const Frame ended = control.next().value();
    EXPECT_EQ(ended.type, static_cast<std::uint8_t>(PmixMessage::kEnded));
    EXPECT_THAT(ended.fields, ElementsAre(instance));
  }
  control.send(PmixMessage::kStuck, {"3", "2"});
  runUntil(loop, [this] { return !aborts.empty(); });
  EXPECT_EQ(aborts.at(0),
            std::tuple(3, 1, "waits in MPI_Init or MPI_Finalize for instance 2, which has ended"));
}

TEST_F(PmixProgramTest, EndsTheJobWhoseFenceWaitsForAnInstanceThatHasEnded) {
  FrameEnd control = started();
  control.send(PmixMessage::kFence, {""});
  runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_THAT(aborts, IsEmpty());
  program->announce({.instance = 1, .clean = true});
  ASSERT_THAT(aborts, SizeIs(1));
  EXPECT_EQ(aborts.at(0),
            std::tuple(2, 1, "waits in MPI_Init or MPI_Finalize for instance 1, which has ended"));
}

TEST_F(PmixProgramTest, ForgetsAFenceThatIsReleased) {
  FrameEnd control = started();
  control.send(PmixMessage::kFence, {""});
  runUntil(loop, [this] { return !fences.empty(); });
  program->release({});
  program->announce({.instance = 1, .clean = true});
  EXPECT_THAT(aborts, IsEmpty());
  control.send(PmixMessage::kFence, {""});
  runUntil(loop, [this] { return !aborts.empty(); });
}

// ---- runs

TEST_F(PmixProgramTest, HangsUpWhenTheRunIsOver) {
  FrameEnd control = started();
  program->reset();
  EXPECT_EQ(control.next(), std::nullopt);
  program->onReaped({.signal = SIGKILL});
  EXPECT_THAT(failures, IsEmpty());
}

TEST_F(PmixProgramTest, ServesTheNextRunElsewhere) {
  const FrameEnd before = started();
  const PmixProgram::Place old = place;
  keeper.fds.clear();
  place = program->open(slice()).value();
  EXPECT_NE(place.directory, old.directory);
  EXPECT_FALSE(connectToLoopback(std::stoi(old.port)).valid());
  FrameEnd control = started();
  control.send(PmixMessage::kFence, {"blob"});
  runUntil(loop, [this] { return !fences.empty(); });
}

}  // namespace
}  // namespace pop::agent
