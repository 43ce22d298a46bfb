// Fuzz target for hostile stores. Bytes choose a store whose tags are right and whose fields lie. It is opened, listed,
// read, restored, checked and repaired: nothing may crash, no file outside the target of a restore may change, no
// allocation may be larger than the bounds of the format, and a repaired store must be clean.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>

#include <sys/resource.h>

#include "store/restore/restore.h"
#include "store/session/open_store.h"
#include "store/session/store_reading.h"
#include "store/upkeep/upkeep.h"
#include "tests/fuzz/crafted_store.h"
#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/io/temporary_folder.h"

namespace {

std::atomic<std::size_t> largest_allocation{0};

void* counted(std::size_t size, std::size_t alignment) {
  std::size_t largest = largest_allocation.load();
  while (size > largest && !largest_allocation.compare_exchange_weak(largest, size)) {
  }
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// GCC warns where it inlines one of a pair and not the other.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted(size == 0 ? 1 : size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return operator new(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace cutpoint::tests {
namespace {

/// A repair stores the longest record again in a buffer that grows by doubling.
constexpr std::size_t largest_allowed_allocation = 2 * store::largest_raw_bytes + MiB;
/// Restored files may say to be as long as they like; none may fill the disk.
constexpr rlim_t longest_file = MiB;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder to restore into, beside files that no restore may change.
class watched_folder {
 public:
  watched_folder() {
    scratch_.make_file("victim", "old");
    scratch_.make_file("outside/file", "old");
    scratch_.make_folder("t");
  }
  [[nodiscard]] std::string target() const { return scratch_ / "t"; }
  void require_unchanged() const {
    require(names_in(scratch_.path()) == 3 && names_in(scratch_ / "outside") == 1, "a restore made a file outside");
    require(text_of(scratch_ / "victim") == "old" && text_of(scratch_ / "outside/file") == "old",
            "a restore changed a file outside");
    require(!std::filesystem::is_symlink(target()), "a restore replaced its target");
  }

 private:
  static std::ptrdiff_t names_in(const std::string& folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  }
  temporary_folder scratch_;
};

class use_of_store {
 public:
  use_of_store(store::open_store& target, choices& random)
      : target_(target),
        random_(random),
        reading_{target.objects(), target.key(), target.shards(),
                 [] { return store::record_fingerprinter::make(fingerprint_kind::sha256); }},
        records_(target.objects(), target.key(), target.shards(), *reading_.make_fingerprinter()) {}

  void read_everything() {
    const auto snapshots = target_.snapshots(named());
    require(snapshots.ok(), "snapshots cannot be listed");
    for (const auto& each : *snapshots) {
      list(each.facts.root);
      restore(each.facts.root);
    }
  }
  /// Returns what a check finds first, or an empty string.
  [[nodiscard]] std::string check(bool reads_data) {
    std::string problem;
    const auto note = [&problem](const std::string& path, const status& why) {
      named()(path, why);
      if (problem.empty()) problem = path + ": " + why.message();
    };
    const auto note_file = [&](const std::string&, const std::string& path, const status& why) { note(path, why); };
    const auto checked = store::check_store(
        reading_, {.reads_data = reads_data, .threads = 1, .object_problem = note, .file_problem = note_file});
    if (!checked) require_refusal(checked.error());
    return checked ? problem : checked.error().message();
  }
  [[nodiscard]] bool repair() {
    const auto repaired = store::repair_store(target_, {.threads = 1});
    if (!repaired) require_refusal(repaired.error());
    return repaired.ok();
  }
  void merge() {
    if (const auto merged = target_.shards().merge(); !merged) require_refusal(merged.error());
  }

  static void require_refusal(const status& why) { require(!why.message().empty(), "a failure without a message"); }

 private:
  static store::problem_function named() {
    return [](const std::string& path, const status& why) {
      require(!path.empty() && !why.ok() && !why.message().empty(), "a problem without a path or a message");
    };
  }
  void list(const store::record_reference& root) {
    const auto top = store::find_path(root, "/", records_);
    if (!top) return require_refusal(top.error());
    std::map<std::string, std::string> last_names;  // by folder
    const status listed = store::visit_tree(*top, "/", records_, [&](const std::string& path, const auto& entry) {
      if (path == "/") return status();
      const std::size_t slash = path.rfind('/');
      require(store::is_entry_name(path.substr(slash + 1)), "a name that leads elsewhere");
      const auto [last, is_first] = last_names.emplace(path.substr(0, slash), entry.name);
      require(is_first || last->second < entry.name, "names that do not increase");
      last->second = entry.name;
      read(entry);
      return status();
    });
    if (!listed.ok()) require_refusal(listed);
  }
  void read(const store::folder_entry& entry) {
    const std::uint64_t begin = random_.once_in(2) ? 0 : entry.size - std::min<std::uint64_t>(entry.size, 100);
    std::uint64_t count = 0;
    const status dumped = store::dump_file(entry, begin, begin + 5000, records_, [&](byte_span bytes) {
      count += bytes.size();
      return status();
    });
    require(!dumped.ok() || count == std::min<std::uint64_t>(5000, entry.size - begin), "a file of another length");
  }
  void restore(const store::record_reference& root) {
    const watched_folder folder;
    for (const bool replaces : {random_.once_in(4), true}) {  // the second time through what the first has made
      const auto done = store::restore_files(
          reading_, {.root = root},
          {.target = folder.target(), .replaces_files = replaces, .threads = 1, .problem = named()});
      if (!done) require_refusal(done.error());
      folder.require_unchanged();
    }
  }

  store::open_store& target_;
  choices& random_;
  store::store_reading reading_;
  store::record_reader records_;
};

std::unique_ptr<store::open_store> open(const crafted_store& crafted) {
  auto target = store::open_store::open(
      [files = crafted.files()](const std::string& writer_id, std::size_t) {
        return store::open_directory_storage(files, {.writer_id = writer_id, .pending_objects = 0});
      },
      std::nullopt);
  if (!target) use_of_store::require_refusal(target.error());
  return target ? std::move(*target) : nullptr;
}

void check_store_of(byte_span choices) {
  fuzzed_choices random(choices);
  const crafted_store crafted(random);
  largest_allocation = 0;
  const auto target = open(crafted);
  if (!target) return;
  use_of_store use(*target, random);
  use.read_everything();
  static_cast<void>(use.check(random.once_in(2)));
  if (random.once_in(2)) use.merge();
  const bool is_repaired = use.repair();
  if (const auto again = is_repaired ? open(crafted) : nullptr) {
    use_of_store repaired(*again, random);
    for (const bool reads_data : {false, true}) require_no_fault(repaired.check(reads_data));
    repaired.read_everything();
  }
  require(largest_allocation <= largest_allowed_allocation, "an allocation beyond the bounds of the format");
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool is_limited = [] {
    const rlimit limit = {cutpoint::tests::longest_file, cutpoint::tests::longest_file};
    std::signal(SIGXFSZ, SIG_IGN);
    return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
  }();
  cutpoint::tests::require(is_limited, "the length of files cannot be limited");
  cutpoint::tests::check_store_of({data, size});
  return 0;
}
