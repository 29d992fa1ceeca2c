// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/popdistd/store/etcd_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/base/text.h"
#include "popdistd/store/state_directory.h"
#include "tests/testing/etcd_server.h"
#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::testing {
namespace {

using popdistd::Database;
using popdistd::Row;

Clock::time_point soon() {
  return Clock::now() + std::chrono::seconds(10);
}

std::map<std::string, std::unique_ptr<Leader>>& leaders() {
  static std::map<std::string, std::unique_ptr<Leader>> all;
  return all;
}

}  // namespace

void Leader::depose() {
  const popdistd::EtcdPairs key = etcd->read({popdistd::leaderKey(prefix), {}}, 1, soon()).value();
  ASSERT_TRUE(etcd->revokeLease(key.pairs.at(0).lease, soon()).ok());
}

std::unique_ptr<Leader> lead(const std::string& prefix, const std::string& directory,
                             std::int64_t snapshot_bytes) {
  auto leader = std::make_unique<Leader>();
  leader->prefix = prefix;
  leader->etcd = std::make_unique<popdistd::EtcdClient>(
      popdistd::EtcdServers{.addresses = {sharedEtcd().address()}, .tls = {}});
  leader->leadership = popdistd::Leadership::tryToTake(*leader->etcd, prefix, {}, nullptr).value();
  EXPECT_NE(leader->leadership, nullptr);
  popdistd::Fence fence = leader->leadership->fence();
  fence.lost = [raw = leader.get()](const Status& why) { raw->losses.push_back(why); };
  Result<sys::Fd> lock = popdistd::takeStateDirectory(directory);
  EXPECT_TRUE(lock.ok()) << lock.status().message();
  auto store =
      popdistd::openEtcdStore({*leader->etcd, prefix, fence, snapshot_bytes}, std::move(*lock), directory);
  EXPECT_TRUE(store.ok()) << store.status().message();
  if (store.ok()) leader->store = std::move(*store);
  return leader;
}

std::vector<std::string> rowsOf(const std::string& path) {
  Database database = Database::open(path, Database::Access::kRead).value();
  std::vector<std::string> tables;
  EXPECT_TRUE(database
                  .select("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", {},
                          [&](const Row& row) {
                            tables.push_back(row.bytes(0));
                            return Status();
                          })
                  .ok());
  std::vector<std::string> rows;
  for (const std::string& table : tables) {
    const std::int64_t columns =
        database.number("SELECT count(*) FROM pragma_table_info('" + table + "')").value();
    std::vector<std::string> of_table;
    EXPECT_TRUE(database
                    .select("SELECT * FROM " + table, {},
                            [&](const Row& row) {
                              std::string text = table;
                              for (int i = 0; i < columns; ++i)
                                text += '|' + (row.isNull(i) ? "NULL" : printable(row.bytes(i)));
                              of_table.push_back(text);
                              return Status();
                            })
                    .ok());
    std::sort(of_table.begin(), of_table.end());
    rows.insert(rows.end(), of_table.begin(), of_table.end());
  }
  return rows;
}

std::vector<std::string> keysIn(popdistd::EtcdClient& etcd, const std::string& prefix) {
  const popdistd::EtcdPairs found = etcd.read(popdistd::keysBelow(prefix), 0, soon()).value();
  std::vector<std::string> keys;
  for (const popdistd::EtcdPair& pair : found.pairs) keys.push_back(pair.key);
  return keys;
}

// The fixture has the store; its leader is ours.
std::unique_ptr<popdistd::SqliteStore> openStoreInEtcd(const std::string& directory) {
  std::unique_ptr<Leader> leader = lead(ownPrefix(), directory);
  std::unique_ptr<popdistd::SqliteStore> store = std::move(leader->store);
  leaders()[directory] = std::move(leader);
  return store;
}

void expectSameInEtcd(const std::string& directory, const std::string& other) {
  const auto leader = leaders().extract(directory);
  EXPECT_THAT(leader.mapped()->losses, ::testing::IsEmpty());
  leader.mapped()->leadership.reset();
  const auto next = lead(leader.mapped()->prefix, other);
  ASSERT_NE(next->store, nullptr);
  EXPECT_EQ(rowsOf(other + "/replica.db"), rowsOf(directory + "/replica.db"));
  EXPECT_EQ(next->store->check().value().jobs, static_cast<std::int64_t>(next->store->jobs().value().size()));
}

}  // namespace pop::testing
