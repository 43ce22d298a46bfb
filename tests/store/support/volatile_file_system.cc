#include "tests/store/support/volatile_file_system.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "store/format/failure.h"

namespace cutpoint::tests {

namespace {

std::string folder_of_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

status stopped(const std::string& path) { return system_failure(path, "changed", EIO); }

}  // namespace

struct volatile_file_system::inode {
  std::vector<std::uint8_t> bytes;
  std::size_t synced_bytes = 0;
  bool is_folder = false;
};

class volatile_file_system::file final : public store::open_file {
 public:
  file(volatile_file_system& owner, std::shared_ptr<inode> node, std::string path)
      : owner_(owner), node_(std::move(node)), path_(std::move(path)) {}

  status append(byte_span bytes) override {
    const std::lock_guard lock(*owner_.mutex_);
    if (owner_.is_stopped()) return stopped(path_);
    node_->bytes.insert(node_->bytes.end(), bytes.begin(), bytes.end());
    return {};
  }
  status sync_data() override {
    const std::lock_guard lock(*owner_.mutex_);
    if (owner_.is_stopped()) return stopped(path_);
    if (!owner_.ignores_data_syncs) node_->synced_bytes = node_->bytes.size();
    return {};
  }
  result<std::uint64_t> size() override {
    const std::lock_guard lock(*owner_.mutex_);
    return std::uint64_t{node_->bytes.size()};
  }
  status read(std::uint64_t offset, std::span<std::uint8_t> destination) override {
    const std::lock_guard lock(*owner_.mutex_);
    const std::size_t size = node_->bytes.size();
    if (offset > size || destination.size() > size - offset) return store::damage(path_, "it ends too early");
    std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset), destination.size(), destination.begin());
    return {};
  }

 private:
  volatile_file_system& owner_;
  std::shared_ptr<inode> node_;
  std::string path_;
};

volatile_file_system::volatile_file_system() = default;
volatile_file_system::~volatile_file_system() = default;

void volatile_file_system::change(const std::string& path, std::shared_ptr<inode> now) {
  if (now) {
    current_[path] = now;
  } else {
    current_.erase(path);
  }
  unsynced_.push_back({path, std::move(now)});
}

void volatile_file_system::let_others_act(const std::string& path) {
  if (!meanwhile) return;
  const auto others = std::exchange(meanwhile, nullptr);
  others(path);
  meanwhile = others;
}

std::vector<std::uint8_t>* volatile_file_system::bytes_of(const std::string& path) {
  const auto position = current_.find(path);
  return position == current_.end() ? nullptr : &position->second->bytes;
}

std::shared_ptr<volatile_file_system> volatile_file_system::crash(choices& random) const {
  names survivors = durable_;
  for (const name_change& each : unsynced_) {
    if (random.once_in(2)) continue;
    if (each.now) {
      survivors[each.path] = each.now;
    } else {
      survivors.erase(each.path);
    }
  }
  auto after = std::make_shared<volatile_file_system>();
  std::map<const inode*, std::shared_ptr<inode>> copies;  // a file may have two names now
  for (const auto& [path, node] : survivors) {
    const std::string folder = folder_of_path(path);
    if (!folder.empty() && !after->current_.contains(folder)) continue;  // it is lost with its folder
    std::shared_ptr<inode>& copy = copies[node.get()];
    if (!copy) {
      copy = std::make_shared<inode>(*node);
      const auto synced = static_cast<std::ptrdiff_t>(node->synced_bytes);
      if (!random.once_in(3)) copy->bytes.resize(random.between(node->synced_bytes, node->bytes.size()));
      if (random.once_in(3)) {
        const auto end = static_cast<std::ptrdiff_t>(random.between(node->synced_bytes, copy->bytes.size()));
        std::fill(copy->bytes.begin() + synced, copy->bytes.begin() + end, std::uint8_t{0});
      }
      copy->synced_bytes = copy->bytes.size();
    }
    after->current_[path] = copy;
  }
  after->durable_ = after->current_;
  return after;
}

result<std::unique_ptr<store::open_file>> volatile_file_system::create(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(path);
  if (current_.contains(path)) return system_failure(path, "created", EEXIST);
  const std::string folder = folder_of_path(path);
  if (!folder.empty() && !current_.contains(folder)) return system_failure(path, "created", ENOENT);
  auto node = std::make_shared<inode>();
  change(path, node);
  return std::unique_ptr<store::open_file>(std::make_unique<file>(*this, node, path));
}

result<std::unique_ptr<store::open_file>> volatile_file_system::open(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  const auto position = current_.find(path);
  if (position == current_.end()) return system_failure(path, "opened", ENOENT);
  return std::unique_ptr<store::open_file>(std::make_unique<file>(*this, position->second, path));
}

status volatile_file_system::rename(const std::string& old_path, const std::string& new_path) {
  let_others_act(new_path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(new_path);
  const auto position = current_.find(old_path);
  if (position == current_.end()) return system_failure(old_path, "renamed", ENOENT);
  if (current_.contains(new_path)) return system_failure(new_path, "created", EEXIST);
  if (!full_folder.empty() && new_path.starts_with(full_folder)) return system_failure(new_path, "created", ENOSPC);
  const std::string folder = folder_of_path(new_path);
  if (!folder.empty() && !current_.contains(folder)) return system_failure(new_path, "created", ENOENT);
  change(new_path, position->second);
  change(old_path, nullptr);
  return {};
}

status volatile_file_system::remove(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(path);
  if (!current_.contains(path)) return system_failure(path, "removed", ENOENT);
  change(path, nullptr);
  return {};
}

status volatile_file_system::make_folder(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(path);
  if (current_.contains(path)) return {};
  auto node = std::make_shared<inode>();
  node->is_folder = true;
  change(path, std::move(node));
  return {};
}

status volatile_file_system::remove_folder(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(path);
  if (!current_.contains(path)) return system_failure(path, "removed", ENOENT);
  const auto next = current_.lower_bound(path + "/");
  if (next != current_.end() && next->first.starts_with(path + "/")) return system_failure(path, "removed", ENOTEMPTY);
  change(path, nullptr);
  return {};
}

status volatile_file_system::sync_folder(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  if (is_stopped()) return stopped(path);
  if (!path.empty() && !current_.contains(path)) return system_failure(path, "opened", ENOENT);
  if (folder_sync_error != 0) return system_failure(path, "made durable", folder_sync_error);
  if (ignores_folder_syncs) return {};
  std::erase_if(unsynced_, [&](const name_change& each) {
    if (folder_of_path(each.path) != path) return false;
    if (each.now) {
      durable_[each.path] = each.now;
    } else {
      durable_.erase(each.path);
    }
    return true;
  });
  return {};
}

result<std::vector<std::string>> volatile_file_system::list(const std::string& path) {
  let_others_act(path);
  const std::lock_guard lock(*mutex_);
  listed.push_back(path);
  if (!path.empty() && !current_.contains(path)) return system_failure(path, "opened", ENOENT);
  std::vector<std::string> names_below;
  for (const auto& [each, node] : current_) {
    if (folder_of_path(each) == path) names_below.push_back(each.substr(path.empty() ? 0 : path.size() + 1));
  }
  return names_below;
}

}  // namespace cutpoint::tests
