// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/doctor_report.h"

#include <array>
#include <cstdlib>
#include <map>

#include "common/base/text.h"

namespace pop {
namespace {

using std::chrono::milliseconds;

// A number of tenths as text: "0.4".
std::string tenths(std::int64_t count) {
  return std::to_string(count / 10) + '.' + std::to_string(count % 10);
}

// "5 h 3 min", "7.5 s"
std::string durationText(milliseconds duration) {
  const std::int64_t seconds = duration.count() / 1000;
  if (seconds < 60) return tenths(duration.count() / 100) + " s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60) return std::to_string(minutes) + " min";
  const std::int64_t hours = minutes / 60;
  if (hours < 48) return std::to_string(hours) + " h " + std::to_string(minutes % 60) + " min";
  return counted(hours / 24, "day");
}

milliseconds magnitude(milliseconds duration) {
  return milliseconds(std::abs(duration.count()));
}

bool isLoopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.") || address.starts_with("::ffff:127.");
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

// The problems of one host, each a text that follows its name.
class Problems {
 public:
  explicit Problems(const HostFindings& host) : host_(host) {}

  void findAgent(const std::string& version) {
    if (host_.agent_version != version)
      add("agent",
          "popdist-agent there is " + host_.agent_version + " (" + host_.agent_path + "), poprun is " +
              version +
              "; install the same version on all hosts, or name one that is the same (--agent-path)");
    if (host_.service && host_.service->version != host_.agent_version)
      add("agent", "the agent service there is still " + host_.service->version +
                       ", the agents that it starts are " + host_.agent_version +
                       "; restart it (systemctl restart popdist-agent)");
    if (!host_.end_problem.empty()) add("agent", host_.end_problem);
  }

  void findClock() {
    if (magnitude(host_.clock_ahead) <= kClockTolerance) return;
    add("clock",
        durationText(magnitude(host_.clock_ahead)) +
            (host_.clock_ahead.count() > 0 ? " ahead of" : " behind") +
            " this host's; jobs run, but time stamps of logs and shared files are wrong, and licences and "
            "certificates may be refused; set the clock there (chronyc makestep, timedatectl set-ntp true)");
  }

  // `first`: an earlier host with the same address; empty: none.
  void findAddress(const std::string& own_name, const std::string& first) {
    if (!host_.address_problem.empty())
      return add("address", host_.address_problem +
                                "; --host-subnet names the "
                                "network between the hosts");
    if (isLoopback(host_.peer_address) && !host_.is_this_host && host_.own_name == own_name) {
      return add("address",
                 "its name resolves to " + host_.peer_address +
                     ", which is this host itself; correct /etc/hosts here, or HostName in the ssh "
                     "configuration (--ssh-config)");
    }
    if (first.empty()) return;
    add("address", host_.address + " is that of " + first +
                       " too; if these are two names of one host, leave one out; if each host has a local "
                       "network with this address, such as a bridge of containers, name the network between "
                       "the hosts with --host-subnet");
  }

  void findSurroundings() {
    if (!host_.directory_problem.empty())
      add("working directory", host_.directory_problem +
                                   "; programs start in it: create or mount it there, copy it "
                                   "(--synchronise), or choose another (--wdir)");
    if (!host_.topology_problem.empty()) add("CPUs and memory", host_.topology_problem);
    if (!host_.ports_problem.empty())
      add("ports", host_.ports_problem + "; --env-for leaves out the frameworks that need them");
    if (host_.open_files < kLeastOpenFiles)
      add("open files", "a process may open at most " + std::to_string(host_.open_files) +
                            ", which is fewer than " + std::to_string(kLeastOpenFiles) +
                            "; raise the hard limit there (`ulimit -Hn`, /etc/security/limits.conf)");
  }

  void findSharedMemory() {
    if (!host_.shared_memory_problem.empty())
      return add("shared memory", host_.shared_memory_problem + "; mount a tmpfs there");
    if (host_.free_shared_memory_bytes >= kLeastSharedMemoryBytes) return;
    add("shared memory", "/dev/shm has " + mebibytes(host_.free_shared_memory_bytes) +
                             " free, which is less than " + mebibytes(kLeastSharedMemoryBytes) +
                             "; remove leftover files, or make it larger (`mount -o remount,size=1g "
                             "/dev/shm`, a container's --shm-size)");
  }

  void add(const std::string& what, const std::string& text) {
    text_ += printable(host_.name + ": " + what + ": " + text) + '\n';
  }

  const std::string& text() const { return text_; }

 private:
  const HostFindings& host_;
  std::string text_;
};

std::string withLimit(int count, int limit, const std::string& noun) {
  return limit == 0 ? counted(count, noun) : std::to_string(count) + " of " + counted(limit, noun);
}

// "1 of 4 jobs with 2 instances"
std::string countText(const JobCount& running, const JobCount& limits) {
  return withLimit(running.jobs, limits.jobs, "job") + " with " +
         withLimit(running.instances, limits.instances, "instance");
}

std::string serviceText(const ServiceFindings& service) {
  return ", by its service as " + service.user + ", where you run " +
         countText(service.own_running, service.own_limits) + ", and all together " +
         countText(service.running, service.limits);
}

std::string fineLine(const HostFindings& host) {
  const bool behind = host.clock_ahead <= milliseconds(-100);  // less is not shown
  const std::string clock = (behind ? "-" : "+") + durationText(magnitude(host.clock_ahead));
  return printable(host.name + ": fine: popdist-agent " + host.agent_version + " (" + host.agent_path +
                   (host.agent_copied ? ", copied just now" : "") + "), address " + host.address +
                   ", round trip " + tenths(host.round_trip.count() / 100) + " ms, clock " + clock + ", " +
                   counted(host.num_cpus, "CPU") + " in " + counted(host.num_memory_nodes, "memory node") +
                   (host.service ? serviceText(*host.service) : "")) +
         '\n';
}

// A bootstrap names the host itself.
std::string withoutName(const std::string& message, const std::string& name) {
  const std::string prefix = "host " + name + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

DoctorReport doctorReport(const std::vector<HostFindings>& hosts, const std::string& own_name,
                          const std::string& version) {
  DoctorReport report;
  std::size_t num_fine = 0;
  std::map<std::string, std::string> names_of_addresses;
  for (const HostFindings& host : hosts) {
    Problems problems(host);
    if (!host.reached.ok()) {
      problems.add("cannot be used", withoutName(host.reached.message(), host.name));
    } else {
      problems.findAgent(version);
      problems.findClock();
      const auto [first, is_new] = names_of_addresses.try_emplace(host.address, host.name);
      problems.findAddress(own_name, is_new || host.address.empty() ? "" : first->second);
      problems.findSurroundings();
      problems.findSharedMemory();
    }
    const bool fine = problems.text().empty();
    report.text += fine ? fineLine(host) : problems.text();
    num_fine += fine ? 1 : 0;
  }
  report.all_fine = num_fine == hosts.size();
  if (!report.all_fine && hosts.size() > 1)
    report.text += std::to_string(num_fine) + " of " +
                   counted(static_cast<std::int64_t>(hosts.size()), "host") +
                   (num_fine == 1 ? " is" : " are") + " fine\n";
  return report;
}

}  // namespace pop
