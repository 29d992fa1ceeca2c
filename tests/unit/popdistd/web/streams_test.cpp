// SPDX-License-Identifier: Apache-2.0
// Output and changes that come as they happen.
#include <gmock/gmock.h>

#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StreamsTest : public WebTest {
 protected:
  static v1::Record output(const std::string& text) {
    v1::Record record;
    record.mutable_output()->set_text(text);
    return record;
  }
  static v1::Change changeOf(std::uint64_t revision, const std::string& reason = {}) {
    v1::Change change;
    change.set_revision(revision);
    change.mutable_job()->set_reason(reason);
    return change;
  }
};

TEST_F(StreamsTest, OfOutputEndWithTheJob) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/jobs/12/log?follow=1&from=0"));
  ASSERT_TRUE(loop.until([this] { return api.records.readers().size() == 1; }));
  loop.run([this] {
    EXPECT_EQ(api.log_requests.front().job().id(), 12);
    EXPECT_TRUE(api.log_requests.front().follow());
    v1::Record event;
    event.mutable_event()->mutable_said()->set_line("not output");
    api.records.push(event);
    api.records.push(output("one\n"));
  });
  EXPECT_THAT(client.hear("one\n"),
              AllOf(HasSubstr("Transfer-Encoding: chunked"),
                    HasSubstr("Content-Type: text/plain; charset=utf-8"), Not(HasSubstr("not output"))));
  loop.run([this] {
    v1::Record gap;
    gap.set_dropped_bytes(5'000'000);
    api.records.push(gap);
    api.records.push(output("two\n"));
    api.records.end({});
  });
  EXPECT_THAT(client.hear("\r\n0\r\n\r\n"), AllOf(HasSubstr("5.0 MB"), HasSubstr("two\n")));
  client.say(request("GET", "/healthz"));
  EXPECT_THAT(client.hear("ok\n"), StartsWith("HTTP/1.1 200")) << "on the same connection";
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(StreamsTest, ThatBreakAreSeenToBreak) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/jobs/12/log"));
  ASSERT_TRUE(loop.until([this] { return api.records.readers().size() == 1; }));
  loop.run([this] {
    api.records.push(output("one\n"));
    api.records.end(unavailable("its host is gone"));
  });
  const std::string heard = client.hear();
  EXPECT_THAT(heard, AllOf(HasSubstr("one\n"), Not(HasSubstr("\r\n0\r\n"))));
  EXPECT_TRUE(client.ended());
}

TEST_F(StreamsTest, OfRecordsAreEventsThatCanBeResumed) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/jobs/12/records?follow=1"));
  ASSERT_TRUE(loop.until([this] { return api.records.readers().size() == 1; }));
  loop.run([this] {
    EXPECT_TRUE(api.log_requests.front().follow());
    EXPECT_FALSE(api.log_requests.front().events_only());
    v1::Record event;
    event.set_sequence(8);
    event.mutable_event()->mutable_log()->set_text("started");
    api.records.push(event);
    v1::Record written = output("one\n");
    written.set_sequence(9);
    written.mutable_output()->set_instance(2);
    api.records.push(written);
    api.records.end({});
  });
  EXPECT_THAT(client.hear("\r\n0\r\n\r\n"),
              AllOf(HasSubstr("Content-Type: text/event-stream"), HasSubstr("id: 8\ndata: {"),
                    HasSubstr("started"), HasSubstr("id: 9\ndata: {"), HasSubstr("\"instance\":2"),
                    HasSubstr("\"text\":\"b25lCg==\""), HasSubstr("event: end\ndata: {\"code\":0")));
  ask("GET", "/v1/jobs/12/records?from=5", "", "Last-Event-ID: 7\r\n");
  ask("GET", "/v1/jobs/12/records?from=5&events_only=1");
  loop.run([this] {
    EXPECT_EQ(api.log_requests.at(1).from_sequence(), 8U);
    EXPECT_EQ(api.log_requests.at(2).from_sequence(), 5U);
    EXPECT_TRUE(api.log_requests.at(2).events_only());
  });
  for (const char* const bad : {"Last-Event-ID: x\r\n", "Last-Event-ID: -1\r\n"})
    EXPECT_THAT(ask("GET", "/v1/jobs/12/records", "", bad), StartsWith("HTTP/1.1 400")) << bad;
  EXPECT_THAT(ask("GET", "/v1/jobs/12/records?events_only=perhaps"), StartsWith("HTTP/1.1 400"));
}

TEST_F(StreamsTest, OfOldClientsEndWithTheConnection) {
  serve();
  loop.run([this] {
    api.records.push(output("one\n"));
    api.records.end({});
  });
  RawClient client(port);
  client.say("GET /v1/jobs/12/log HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.hear(), AllOf(Not(HasSubstr("chunked")), EndsWith("\r\n\r\none\n")));
}

TEST_F(StreamsTest, OfChangesAreEventsWithTheirRevisions) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/watch?since=5&job=3"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  loop.run([this] {
    EXPECT_EQ(api.watches.front().since_revision(), 5U);
    EXPECT_EQ(api.watches.front().job(), 3);
    v1::Change begins;
    begins.set_revision(9);
    begins.mutable_snapshot_begins();
    api.changes.push(begins);
    api.changes.push(changeOf(4, "old"));
    v1::Change ends;
    ends.set_revision(9);
    ends.mutable_snapshot_ends();
    api.changes.push(ends);
    api.changes.push(changeOf(10, "new"));
  });
  const std::string heard = client.hear("new");
  EXPECT_THAT(heard, AllOf(HasSubstr("Content-Type: text/event-stream"), HasSubstr("id: 9\ndata: {"),
                           HasSubstr("id: 10\ndata: {"), Not(HasSubstr("id: 4"))));
  EXPECT_EQ(heard.find("id: 9"), heard.rfind("id: 9")) << "only the end of a snapshot can be resumed from";
  client.close();
  EXPECT_TRUE(hasNoReaders());
}

TEST_F(StreamsTest, OfChangesResumeFromTheLastEvent) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/watch?since=5", "", "Last-Event-ID: 42\r\n"));
  ASSERT_TRUE(loop.until([this] { return !api.watches.empty(); }));
  EXPECT_EQ(loop.run([this] { return api.watches.front().since_revision(); }), 42U);
  EXPECT_THAT(ask("GET", "/v1/watch", "", "Last-Event-ID: -1\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(StreamsTest, OfChangesSayHowTheyEnd) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/v1/watch"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  loop.run([this] { api.changes.end(unavailable("the store is closed")); });
  EXPECT_THAT(client.hear(),
              HasSubstr("event: end\ndata: {\"code\":14,\"message\":\"the store is closed\"}\n\n"));
}

TEST_F(StreamsTest, AreKeptAlive) {
  serve({.keep_alive = std::chrono::milliseconds(20)});
  RawClient client(port);
  client.say(request("GET", "/v1/watch"));
  EXPECT_THAT(client.hear(": alive\n\n"), StartsWith("HTTP/1.1 200"));
  for (std::uint64_t revision = 1; revision < 50; ++revision) {
    loop.run([&] { api.changes.push(changeOf(revision)); });
    EXPECT_THAT(client.hear("id: " + std::to_string(revision) + '\n'), Not(HasSubstr("nothing more")));
  }
}

// 200 clients; one does not read, which delays no other and ends in time.
TEST_F(StreamsTest, ThatAreNotReadEnd) {
  serve({.write_timeout = std::chrono::milliseconds(1500), .most_streams_of_one = 200});
  RawClient idle(port, 4096);
  idle.say(request("GET", "/v1/watch"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  const auto* const stopped = loop.run([this] { return *api.changes.readers().begin(); });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 1; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->say(request("GET", "/v1/watch"));
  }
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 200; }));
  const std::string large(300'000, 'x');
  for (std::uint64_t revision = 1; revision <= 20; ++revision) {
    loop.run([&] { api.changes.push(changeOf(revision, revision % 2 == 0 ? large : "")); });
    for (const auto& client : clients)
      ASSERT_THAT(client->hear("id: " + std::to_string(revision) + '\n').size(), ::testing::Gt(0U));
  }
  EXPECT_TRUE(loop.until([&] {
    return !api.changes.readers().contains(const_cast<testing::Feed<ShownChange>::Reader*>(stopped));
  }));
  EXPECT_GE(loop.run([this] { return api.changes.readers().size(); }), 190U);
}

}  // namespace
}  // namespace pop::popdistd
