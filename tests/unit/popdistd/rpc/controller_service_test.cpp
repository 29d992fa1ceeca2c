// SPDX-License-Identifier: Apache-2.0
// Clients of the service Controller: what arrives, what comes back, and what is left of those that go.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/testing/temp_dir.h"
#include "tests/unit/popdistd/rpc/controller_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ControllerTest, CarriesEachMethodWithOneAnswer) {
  const auto stub = controller();
  v1::JobRef job;
  job.set_id(7);
  v1::HostRef host;
  host.set_name("h0");
  v1::JobInfo info;
  v1::HostInfo host_info;
  v1::Nothing nothing;
  const auto ok = [](const grpc::Status& status) { EXPECT_TRUE(status.ok()) << status.error_message(); };
  const auto call = [&](auto method, const auto& request, auto* answer) {
    grpc::ClientContext context;
    ok((stub.get()->*method)(&context, request, answer));
  };
  v1::SubmitRequest submit;
  submit.set_name("train");
  v1::SubmitReply submitted;
  call(&v1::Controller::Stub::Submit, submit, &submitted);
  EXPECT_EQ(submitted.job().name(), "train");
  call(&v1::Controller::Stub::Get, job, &info);
  EXPECT_EQ(info.id(), 7);
  v1::ListJobsReply jobs;
  call(&v1::Controller::Stub::List, v1::ListJobsRequest(), &jobs);
  EXPECT_EQ(jobs.next_page_token(), "more");
  v1::SignalRequest signal;
  signal.set_signal(SIGUSR1);
  call(&v1::Controller::Stub::Signal, signal, &info);
  call(&v1::Controller::Stub::Cancel, v1::CancelRequest(), &info);
  call(&v1::Controller::Stub::Hold, job, &info);
  call(&v1::Controller::Stub::Release, job, &info);
  call(&v1::Controller::Stub::Forget, job, &nothing);
  v1::ListHostsReply hosts;
  call(&v1::Controller::Stub::ListHosts, v1::ListHostsRequest(), &hosts);
  EXPECT_EQ(hosts.hosts_size(), 1);
  call(&v1::Controller::Stub::GetHost, host, &host_info);
  v1::DrainRequest drain;
  *drain.mutable_host() = host;
  call(&v1::Controller::Stub::Drain, drain, &host_info);
  EXPECT_EQ(host_info.name(), "h0");
  call(&v1::Controller::Stub::Resume, host, &host_info);
  call(&v1::Controller::Stub::RemoveHost, host, &nothing);
  v1::AboutReply about;
  call(&v1::Controller::Stub::About, nothing, &about);
  EXPECT_EQ(about.user(), "me");
  v1::CheckStoreReply check;
  call(&v1::Controller::Stub::CheckStore, nothing, &check);
  EXPECT_EQ(check.jobs(), 3);
  EXPECT_THAT(loop.run([this] { return api.calls; }),
              ElementsAre("me submit job train", "me get job 7", "me list ", "me signal job ",
                          "me cancel job ", "me hold job 7", "me release job 7", "me forget job 7",
                          "me listHosts", "me getHost host h0", "me drain host h0", "me resume host h0",
                          "me removeHost host h0", "me about", "me checkStore"));
}

TEST_F(ControllerTest, PassesErrorsOnAsTheyAre) {
  loop.run([this] { api.refusal = Status(Code::kFailedPrecondition, "job 7 does not run"); });
  grpc::ClientContext context;
  v1::JobInfo info;
  const grpc::Status status = controller()->Signal(&context, {}, &info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "job 7 does not run");
}

TEST_F(ControllerTest, RefusesALargeRequest) {
  v1::SubmitRequest request;
  request.mutable_spec()->set_env_families(std::string(5 * 1024 * 1024, 'x'));
  grpc::ClientContext context;
  v1::SubmitReply reply;
  const grpc::Status status = controller()->Submit(&context, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("4 MiB"));
  request.mutable_spec()->set_env_families(std::string(20 * 1024 * 1024, 'x'));
  grpc::ClientContext again;
  EXPECT_EQ(controller()->Submit(&again, request, &reply).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ControllerTest, DropsTheAnswerToAClientThatHasGone) {
  loop.run([this] { api.answers = false; });
  grpc::ClientContext context;
  setDeadline(context, std::chrono::milliseconds(50));
  v1::JobInfo info;
  EXPECT_EQ(controller()->Get(&context, {}, &info).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(loop.until([this] { return !api.unanswered.empty(); }));
  loop.run([this] { api.unanswered.front()(v1::JobInfo()); });
  stop();
}

TEST_F(ControllerTest, WaitsForTheEndOfAJob) {
  v1::JobRef job;
  job.set_name("train");
  std::thread waiter([&] {
    grpc::ClientContext context;
    v1::JobInfo info;
    const grpc::Status status = controller()->Wait(&context, job, &info);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(info.end(), v1::END_FAILED);
  });
  ASSERT_TRUE(loop.until([this] { return !api.watches.empty(); }));
  loop.run([this] {
    EXPECT_EQ(api.watches.front().job(), 7);
    api.changes.push(changeOf(1));
    v1::Change end = changeOf(2);
    end.mutable_job()->set_state(v1::JOB_ENDED);
    end.mutable_job()->set_end(v1::END_FAILED);
    api.changes.push(end);
  });
  waiter.join();
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(ControllerTest, DoesNotWaitForAJobThatHasEnded) {
  loop.run([this] { api.job_runs = false; });
  grpc::ClientContext context;
  v1::JobInfo info;
  EXPECT_TRUE(controller()->Wait(&context, {}, &info).ok());
  EXPECT_TRUE(loop.run([this] { return api.watches.empty(); }));
}

TEST_F(ControllerTest, WaitsNoLongerThanTheClient) {
  grpc::ClientContext context;
  setDeadline(context, std::chrono::milliseconds(100));
  v1::JobInfo info;
  EXPECT_EQ(controller()->Wait(&context, {}, &info).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(ControllerTest, RefusesAStreamWithItsReason) {
  loop.run([this] { api.refusal = Status(Code::kNotFound, "there is no job 9"); });
  const auto stub = controller();
  grpc::ClientContext context;
  v1::Record record;
  const auto reader = stub->Logs(&context, {});
  EXPECT_FALSE(reader->Read(&record));
  EXPECT_EQ(reader->Finish().error_message(), "there is no job 9");
}

TEST_F(ControllerTest, SendsLogsInOrderToTheirEnd) {
  constexpr int kRecords = 5000;
  loop.run([this] {
    for (int i = 0; i < kRecords; ++i) {
      v1::Record record;
      record.set_sequence(static_cast<std::uint64_t>(i) + 1);
      record.mutable_output()->set_text(std::string(300, 'x'));
      api.records.push(record);
    }
    api.records.end({});
  });
  const auto stub = controller();
  grpc::ClientContext context;
  const auto reader = stub->Logs(&context, {});
  v1::Record record;
  std::uint64_t last = 0;
  while (reader->Read(&record)) ASSERT_EQ(record.sequence(), ++last);
  EXPECT_EQ(last, kRecords);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ControllerTest, LimitsTheCallsOfAUser) {
  const auto first = controller();
  const auto second = controller();
  const auto third = controller();
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::Change>>> readers;
  for (int i = 0; i < 512; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back((i % 2 == 0 ? first : second)->Watch(contexts.back().get(), {}));
  }
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 512; }));
  grpc::ClientContext context;
  v1::JobInfo info;
  EXPECT_EQ(third->Get(&context, {}, &info).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  for (const auto& each : contexts) each->TryCancel();
  EXPECT_TRUE(hasNoReaders());
  grpc::ClientContext again;
  EXPECT_TRUE(third->Get(&again, {}, &info).ok());
}

TEST_F(ControllerTest, AttachesWithSignals) {
  const auto stub = controller();
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::AttachRequest request;
  request.mutable_logs()->mutable_job()->set_name("train");
  request.mutable_logs()->set_follow(true);
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(loop.until([this] { return api.records.readers().size() == 1; }));
  loop.run([this] {
    EXPECT_EQ(api.log_requests.front().job().id(), 7) << "a newer job may take the name";
    EXPECT_TRUE(api.log_requests.front().follow());
  });
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) {
    v1::AttachRequest later;
    later.set_signal(signal);
    ASSERT_TRUE(stream->Write(later));
  }
  EXPECT_TRUE(loop.until([this] { return api.calls.size() == 4; }));
  EXPECT_THAT(loop.run([this] { return api.calls; }),
              ElementsAre("me get job train", "me signal job 7", "me cancel job 7", "me cancel job 7"));
  EXPECT_THAT(loop.run([this] { return api.signals; }), ElementsAre(SIGUSR1));
  stream->WritesDone();
  loop.run([this] {
    v1::Record record;
    record.set_sequence(1);
    api.records.push(record);
    api.records.end({});
  });
  v1::Record record;
  EXPECT_TRUE(stream->Read(&record));
  EXPECT_FALSE(stream->Read(&record));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ControllerTest, GoesOnWhereAJobCannotTakeASignal) {
  const auto stub = controller();
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::AttachRequest request;
  request.mutable_logs()->mutable_job()->set_id(7);
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(loop.until([this] { return api.records.readers().size() == 1; }));
  loop.run([this] { api.refusal = Status(Code::kFailedPrecondition, "job 7 does not run"); });
  v1::AttachRequest later;
  later.set_signal(SIGUSR1);
  ASSERT_TRUE(stream->Write(later));
  ASSERT_TRUE(stream->Write(later));
  EXPECT_TRUE(loop.until([this] { return api.signals.size() == 2; }));
  loop.run([this] { api.refusal = Status(Code::kPermissionDenied, "job 7 is bob's"); });
  ASSERT_TRUE(stream->Write(later));
  v1::Record record;
  EXPECT_FALSE(stream->Read(&record));
  EXPECT_EQ(stream->Finish().error_message(), "job 7 is bob's");
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(ControllerTest, AttachesToNothingWithoutAJob) {
  const auto stub = controller();
  for (const bool says_something : {true, false}) {
    grpc::ClientContext context;
    const auto stream = stub->Attach(&context);
    if (says_something) stream->Write(v1::AttachRequest());
    stream->WritesDone();
    v1::Record record;
    EXPECT_FALSE(stream->Read(&record));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(ControllerTest, SendsABackupAndRemovesIt) {
  const testing::TempDir directory;
  const std::string path = directory / "copy";
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += std::to_string(i);
  std::ofstream(path) << content;
  loop.run([&] { api.backup_path = path; });
  const auto stub = controller();
  grpc::ClientContext context;
  const auto reader = stub->Backup(&context, {});
  v1::BackupChunk chunk;
  std::string got;
  while (reader->Read(&chunk)) got += chunk.bytes();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(got == content);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ControllerTest, EndsItsCallsWhenItStops) {
  const auto stub = controller();
  grpc::ClientContext watch_context;
  const auto reader = stub->Watch(&watch_context, {});
  std::thread waiter([&] {
    grpc::ClientContext context;
    v1::JobInfo info;
    const grpc::Status status = controller()->Wait(&context, {}, &info);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  });
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 2; }));
  const auto begin = Clock::now();
  stop();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  v1::Change change;
  EXPECT_FALSE(reader->Read(&change));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "popdistd is being stopped: by the test");
  waiter.join();
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(ControllerTest, StopsThoughAReaderDoesNotRead) {
  const auto stub = controller();
  grpc::ClientContext context;
  const auto reader = stub->Watch(&context, {});
  loop.run([this] {
    for (std::uint64_t i = 0; i < 200; ++i) api.changes.push(changeOf(i, 64 * 1024));
  });
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  const auto begin = Clock::now();
  stop();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(ControllerTest, AMessageThatCannotBeReadIsNamed) {
  grpc::GenericStub stub(channel());
  grpc::Slice garbage(std::string("\xff\xff\xff\xff garbage"));
  for (const std::string method : {"Submit", "Watch"}) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::Status how;
    grpc::ByteBuffer answer;
    const auto call = stub.PrepareUnaryCall(&context, "/popdist.v1.Controller/" + method,
                                            grpc::ByteBuffer(&garbage, 1), &queue);
    call->StartCall();
    call->Finish(&answer, &how, nullptr);
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(how.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method << how.error_message();
    EXPECT_NE(how.error_message().find(method), std::string::npos) << how.error_message();
  }
}

}  // namespace
}  // namespace pop::popdistd
