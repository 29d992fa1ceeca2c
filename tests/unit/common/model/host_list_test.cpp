// SPDX-License-Identifier: Apache-2.0
#include "common/model/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/golden.h"

namespace pop::model {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

using Hosts = std::vector<Host>;

std::string messageFor(const std::string& hosts) {
  return parseHostList(hosts).status().message() + '\n';
}

std::string messageForFile(const std::string& text) {
  return parseHostfile(text, "hosts").status().message() + '\n';
}

TEST(HostList, KeepsTheUsersOrder) {
  EXPECT_EQ(parseHostList("node2,node1").value(), (Hosts{{"node2"}, {"node1"}}));
  EXPECT_EQ(parseHostList("localhost").value(), (Hosts{{"localhost"}}));
}

TEST(HostList, ExpandsRanges) {
  EXPECT_EQ(parseHostList("host[0-2,4]").value(), (Hosts{{"host0"}, {"host1"}, {"host2"}, {"host4"}}));
  EXPECT_EQ(parseHostList("node[08-11]").value(), (Hosts{{"node08"}, {"node09"}, {"node10"}, {"node11"}}));
  EXPECT_EQ(parseHostList("node[8-11].x").value(),
            (Hosts{{"node8.x"}, {"node9.x"}, {"node10.x"}, {"node11.x"}}));
  EXPECT_EQ(parseHostList("r[0-1]n[0-1],b").value(), (Hosts{{"r0n0"}, {"r0n1"}, {"r1n0"}, {"r1n1"}, {"b"}}));
  EXPECT_EQ(parseHostList("a[3]").value(), (Hosts{{"a3"}}));
  EXPECT_EQ(parseHostList("tux[2,1-2]").value(), (Hosts{{"tux2", 2}, {"tux1"}}));
  EXPECT_EQ(parseHostList("n[01-02]-int, m").value(), (Hosts{{"n01-int"}, {"n02-int"}, {"m"}}));
}

TEST(HostList, RangesMayHaveManyDigits) {
  EXPECT_EQ(parseHostList("ip-[2023101501-2023101504]").value(),
            (Hosts{{"ip-2023101501"}, {"ip-2023101502"}, {"ip-2023101503"}, {"ip-2023101504"}}));
  EXPECT_EQ(parseHostList("n[0000000000000000000000098-0000000000000000000000101]").value(),
            (Hosts{{"n0000000000000000000000098"},
                   {"n0000000000000000000000099"},
                   {"n0000000000000000000000100"},
                   {"n0000000000000000000000101"}}));
  EXPECT_EQ(parseHostList("i-[999999999999999999]").value(), (Hosts{{"i-999999999999999999"}}));
}

TEST(HostList, TakesSlots) {
  EXPECT_EQ(parseHostList("localhost:2,b").value(), (Hosts{{"localhost", 2}, {"b", 0}}));
  EXPECT_EQ(parseHostList("n[0-1]:4").value(), (Hosts{{"n0", 4}, {"n1", 4}}));
}

TEST(HostList, TakesAddresses) {
  EXPECT_EQ(parseHostList("10.0.0.1:2,::1,[fe80::1]:3,[::2],fe80::1%eth0").value(),
            (Hosts{{"10.0.0.1", 2}, {"::1", 0}, {"fe80::1", 3}, {"::2", 0}, {"fe80::1%eth0", 0}}));
}

TEST(HostList, RefusesEmptyNames) {
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    const Result<Hosts> hosts = parseHostList(text);
    ASSERT_FALSE(hosts.ok()) << text;
    EXPECT_EQ(hosts.status(), invalidArgument('\'' + std::string(text) + "' has an empty host name"));
  }
}

TEST(HostList, SaysWhereUsersAndPortsBelong) {
  EXPECT_THAT(parseHostList("localhost:22:2").status().message(),
              AllOf(HasSubstr("'localhost:22:2'"), HasSubstr("`Port` in ~/.ssh/config")));
  EXPECT_THAT(parseHostList("me@h7:2").status().message(),
              AllOf(HasSubstr("'me@h7'"), HasSubstr("`User` in ~/.ssh/config")));
}

TEST(HostList, MistakesReadAsIntended) {
  std::string messages;
  for (const char* text :
       {"a,,b", "localhost:22:2", "me@h7:2", "-a", "a[x]", "a[0-99999999]", "a:0", "a:x,b[,c"})
    messages += messageFor(text);
  for (const char* text : {"a slots=x\nb slots=2 slots=3\nc d\n", "a slots=70000\n", "a username=me\n",
                           "a slots=4 max_slots=2\n", "a slots=0\n", "\n#\n"})
    messages += messageForFile(text);
  EXPECT_EQ(messages, testing::golden("errors/host_list.txt"));
}

// The same as with mpirun.
TEST(HostList, RepeatedNamesHaveMoreSlots) {
  EXPECT_EQ(parseHostList("localhost:2,localhost:1").value(), (Hosts{{"localhost", 3}}));
  EXPECT_EQ(parseHostList("a,b,a").value(), (Hosts{{"a", 2}, {"b", 0}}));
  EXPECT_EQ(parseHostList("a[0-2],a1:2").value(), (Hosts{{"a0"}, {"a1", 3}, {"a2"}}));
  EXPECT_EQ(parseHostList("a:65536,a").status().message(), "a has more than 65536 slots");
}

TEST(HostList, HostsOfNoSlotAreLeftOut) {
  EXPECT_EQ(parseHostList("a:0,b:2").value(), (Hosts{{"b", 2}}));
  EXPECT_EQ(parseHostList("a:0,a:2").value(), (Hosts{{"a", 2}}));
  EXPECT_EQ(parseHostList("a:0,a").value(), (Hosts{{"a", 1}}));
  EXPECT_EQ(parseHostList("a,a:0").value(), (Hosts{{"a", 1}}));
  EXPECT_EQ(parseHostList("a:0").status().message(), "'a:0' has no host with a slot");
}

TEST(HostList, RefusesWhatNamesNoHost) {
  for (const char* text : {"a[",
                           "a[]",
                           "a[1-]",
                           "a[2-1]",
                           "a[x]",
                           "a[1-9999999999999999999]",
                           "a]",
                           "a:0",
                           "a:x",
                           "a:",
                           ":2",
                           "a b",
                           "-a",
                           "a=1",
                           "a[0-99999999]",
                           "a[0-999][0-999]",
                           "a:70000",
                           "[::1",
                           "a[1-2",
                           "a[1-2]]",
                           "::zz",
                           "[a:b]",
                           "a%b",
                           "::1%",
                           "::1%x@y",
                           "::1%a/b",
                           "::1%a b"}) {
    const Result<Hosts> hosts = parseHostList(text);
    ASSERT_FALSE(hosts.ok()) << text;
    EXPECT_EQ(hosts.code(), Code::kInvalidArgument) << text;
  }
}

TEST(Hostfile, HasAHostPerLine) {
  EXPECT_EQ(parseHostfile("# all\nnode1 slots=4\n\n  node2:2 # two\r\nn[3-4]\tslots=8 max_slots=9\nlast", "f")
                .value(),
            (Hosts{{"node1", 4}, {"node2", 2}, {"n3", 8}, {"n4", 8}, {"last", 0}}));
}

TEST(Hostfile, AllMistakesAreNamedUpToAHandful) {
  EXPECT_THAT(messageForFile("a slots=x\nb\n[\nc d\n"),
              AllOf(HasSubstr("hosts:1: 'slots=x'"), HasSubstr("hosts:3: '['"), HasSubstr("hosts:4: 'd'")));
  EXPECT_THAT(messageFor("a:x,b[,c"), AllOf(HasSubstr("'a:x'"), HasSubstr("'b[,c'")));
  std::string rubbish;
  for (int line = 0; line < 1000; ++line) rubbish += "a b\n";
  EXPECT_THAT(messageForFile(rubbish), AllOf(HasSubstr("hosts:8: 'b'"), Not(HasSubstr("hosts:9")),
                                             EndsWith("; the rest was not read\n")));
}

TEST(Hostfile, MistakesNameFileAndLine) {
  EXPECT_THAT(messageForFile("a\nb c\n"), AllOf(HasSubstr("hosts:2: 'c'"), HasSubstr("slots=N")));
  EXPECT_EQ(parseHostfile("\n#\n", "hosts").status().message(), "hosts: names no host");
}

TEST(Hostfile, CountsHowOftenAHostIsNamed) {
  const auto hosts = [](std::string_view text) { return parseHostfile(text, "f"); };
  EXPECT_EQ(hosts("b\na\na\nc\na slots=4\n").value(), (Hosts{{"b", 0}, {"a", 6}, {"c", 0}}));
  EXPECT_EQ(hosts("a slots=65536\na\n").status().message(), "f:2: a has more than 65536 slots");
}

// Each line was tried with Open MPI's own mpirun (--display-allocation).
TEST(Hostfile, IsReadAsOpenMpiReadsIt) {
  struct {
    const char* text;
    Hosts hosts;
  } const cases[] = {{"a slots = 2\n", {{"a", 2}}},
                     {"a slots= 2\nb slots =3", {{"a", 2}, {"b", 3}}},
                     {"a\tslots=2\tmax_slots = 4\n", {{"a", 2}}},
                     {"a cpu=2\n", {{"a", 2}}},
                     {"a count=2\n", {{"a", 2}}},
                     {"a max_slots=3\n", {{"a", 3}}},
                     {"a max-slots=3 slots=2", {{"a", 2}}},
                     {"a slots_max=3 slots=2", {{"a", 2}}},
                     {"a slots=0\nb slots=2\n", {{"b", 2}}},
                     {"a\na\nb slots=2\nb\n", {{"a", 2}, {"b", 3}}},
                     {"// all\na slots=2 // two\n/* not\n b */ c\n# d", {{"a", 2}, {"c", 0}}},
                     {"a slots=2 /* two */ max_slots=3", {{"a", 2}}},
                     {"a /* without an end\nb\n", {{"a", 0}}}};
  for (const auto& [text, expected] : cases) {
    Result<Hosts> hosts = parseHostfile(text, "f");
    ASSERT_TRUE(hosts.ok()) << text << hosts.status().message();
    EXPECT_EQ(*hosts, expected) << text;
  }
  for (const char* const text :
       {"a slots=4 max_slots=2", "a slots=2 slots=3", "a slots=", "a slots", "a slots=-1", "a cpus=2",
        "a SLOTS=2", "a:2 slots=3", "a slots=0", "a slots==2", "a =2", "/*"})
    EXPECT_EQ(parseHostfile(text, "f").code(), Code::kInvalidArgument) << text;
  EXPECT_THAT(messageForFile("/* a\n */ b slots=x\n"), HasSubstr("hosts:2:"));
}

TEST(IsThisHost, KnowsItsOwnNames) {
  for (const char* own : {"localhost", "127.0.0.1", "::1", "node7", "NODE7", "LocalHost"})
    EXPECT_TRUE(isThisHost(own, "Node7")) << own;
  for (const char* other : {"node8", "node70", "", "127.0.0.2"}) EXPECT_FALSE(isThisHost(other, "node7"));
}

}  // namespace
}  // namespace pop::model
