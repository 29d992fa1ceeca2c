// SPDX-License-Identifier: Apache-2.0
// Partitions, their IPUs and the jobs that are bound to them in the SQLite store.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/base/text.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {
namespace {

std::string partitionText(std::string_view id) {
  return "partition " + inQuotes(id);
}

std::string ipuText(const IpuKey& ipu) {
  return "IPU " + std::to_string(ipu.ipu) + " of IPU-Link domain " + std::to_string(ipu.ild) +
         " of cluster " + inQuotes(ipu.cluster);
}

IpuKey ipuOf(const Row& row, int column) {
  return {row.bytes(column), static_cast<int>(row.integer(column + 1)),
          static_cast<int>(row.integer(column + 2))};
}

bool isBefore(const IpuKey& one, const IpuKey& other) {
  return std::tie(one.cluster, one.ild, one.ipu) < std::tie(other.cluster, other.ild, other.ipu);
}

Result<std::vector<IpuKey>> sorted(std::string_view id, std::span<const IpuKey> ipus) {
  std::vector<IpuKey> result(ipus.begin(), ipus.end());
  std::sort(result.begin(), result.end(), isBefore);
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end())
    return invalidArgument(partitionText(id) + " names " + ipuText(*twice) + " twice");
  return result;
}

Result<std::vector<IpuKey>> ipusOf(Database& database, std::string_view id) {
  std::vector<IpuKey> ipus;
  POP_RETURN_IF_ERROR(database.select("SELECT cluster, ild, ipu FROM partition_ipus WHERE partition = ?",
                                      {id}, [&](const Row& row) {
                                        ipus.push_back(ipuOf(row, 0));
                                        return Status();
                                      }));
  std::sort(ipus.begin(), ipus.end(), isBefore);
  return ipus;
}

Status sayWhoHasIpu(Database& database, const IpuKey& ipu, Status refused) {
  POP_RETURN_IF_ERROR(database.select(
      "SELECT partition FROM partition_ipus WHERE cluster = ? AND ild = ? AND ipu = ?",
      {std::string_view(ipu.cluster), std::int64_t{ipu.ild}, std::int64_t{ipu.ipu}}, [&](const Row& row) {
        refused = {Code::kAlreadyExists, ipuText(ipu) + " belongs to " + partitionText(row.bytes(0))};
        return Status();
      }));
  return refused;
}

Status giveIpu(Database& database, std::string_view id, const IpuKey& ipu) {
  Status status =
      database.run("INSERT INTO partition_ipus(cluster, ild, ipu, partition) VALUES(?, ?, ?, ?)",
                   {std::string_view(ipu.cluster), std::int64_t{ipu.ild}, std::int64_t{ipu.ipu}, id});
  if (status.code() == Code::kAlreadyExists) return sayWhoHasIpu(database, ipu, std::move(status));
  return status;
}

// A state changes often, the IPUs hardly ever.
Status giveIpus(Database& database, std::string_view id, const std::vector<IpuKey>& ipus) {
  POP_ASSIGN_OR_RETURN(const std::vector<IpuKey> before, ipusOf(database, id));
  if (before == ipus) return {};
  POP_RETURN_IF_ERROR(database.run("DELETE FROM partition_ipus WHERE partition = ?", {id}));
  for (const IpuKey& ipu : ipus) POP_RETURN_IF_ERROR(giveIpu(database, id, ipu));
  return {};
}

Result<std::optional<std::int64_t>> jobOf(Database& database, std::string_view partition) {
  std::optional<std::int64_t> job;
  POP_RETURN_IF_ERROR(
      database.select("SELECT job FROM bindings WHERE partition = ?", {partition}, [&](const Row& row) {
        job = row.integer(0);
        return Status();
      }));
  return job;
}

Status sayWhatIsBound(Database& database, std::string_view partition, std::int64_t job, Status refused) {
  POP_ASSIGN_OR_RETURN(const std::optional<std::int64_t> present, jobOf(database, partition));
  if (present == job) return {};
  if (present)
    return {Code::kAlreadyExists, partitionText(partition) + " has job " + std::to_string(*present)};
  POP_RETURN_IF_ERROR(
      database.select("SELECT partition FROM bindings WHERE job = ?", {job}, [&](const Row& row) {
        refused = {Code::kAlreadyExists,
                   "job " + std::to_string(job) + " is bound to " + partitionText(row.bytes(0))};
        return Status();
      }));
  return refused;
}

Status sayWhatIsMissing(Database& database, std::string_view partition, std::int64_t job) {
  bool has_partition = false;
  POP_RETURN_IF_ERROR(database.select("SELECT 1 FROM partitions WHERE id = ?", {partition}, [&](const Row&) {
    has_partition = true;
    return Status();
  }));
  return {Code::kNotFound,
          (has_partition ? "job " + std::to_string(job) : partitionText(partition)) + " is not in the store"};
}

}  // namespace

Result<std::vector<StoredPartition>> SqliteStore::partitions() {
  std::vector<StoredPartition> partitions;
  std::map<std::string, std::size_t> places;
  POP_RETURN_IF_ERROR(
      database_.select("SELECT p.id, p.record, b.job FROM partitions p LEFT JOIN bindings b ON b.partition = "
                       "p.id ORDER BY p.id",
                       {}, [&](const Row& row) {
                         places[row.bytes(0)] = partitions.size();
                         partitions.push_back({row.bytes(0), row.bytes(1), {}, {}});
                         if (!row.isNull(2)) partitions.back().job = row.integer(2);
                         return Status();
                       }));
  POP_RETURN_IF_ERROR(
      database_.select("SELECT partition, cluster, ild, ipu FROM partition_ipus ORDER BY cluster, ild, ipu",
                       {}, [&](const Row& row) {
                         const auto place = places.find(row.bytes(0));
                         if (place != places.end()) partitions[place->second].ipus.push_back(ipuOf(row, 1));
                         return Status();
                       }));
  return partitions;
}

Status SqliteStore::putPartition(std::string_view id, std::string_view bytes, std::span<const IpuKey> ipus) {
  return write([&]() -> Status {
    POP_ASSIGN_OR_RETURN(const std::vector<IpuKey> in_order, sorted(id, ipus));
    return database_.atomically([&] {
      POP_RETURN_IF_ERROR(
          database_.run("INSERT INTO partitions(id, record) VALUES(?, ?) "
                        "ON CONFLICT(id) DO UPDATE SET record = excluded.record",
                        {id, Blob{bytes}}));
      return giveIpus(database_, id, in_order);
    });
  });
}

Status SqliteStore::removePartition(std::string_view id) {
  return write([&]() -> Status {
    Status status = database_.run("DELETE FROM partitions WHERE id = ?", {id});
    if (status.code() != Code::kFailedPrecondition) return status;
    POP_ASSIGN_OR_RETURN(const std::optional<std::int64_t> job, jobOf(database_, id));
    if (!job) return status;
    return failedPrecondition(partitionText(id) + " has job " + std::to_string(*job));
  });
}

Status SqliteStore::bind(std::string_view partition, std::int64_t job) {
  return write([&] {
    Status status = database_.run("INSERT INTO bindings(partition, job) VALUES(?, ?)", {partition, job});
    if (status.code() == Code::kAlreadyExists)
      return sayWhatIsBound(database_, partition, job, std::move(status));
    if (status.code() == Code::kFailedPrecondition) return sayWhatIsMissing(database_, partition, job);
    return status;
  });
}

Status SqliteStore::unbind(std::string_view partition) {
  return write([&] { return database_.run("DELETE FROM bindings WHERE partition = ?", {partition}); });
}

}  // namespace pop::popdistd
