// The functions of the interface for C that return names: of the release, of failures, of algorithms and of cuts.
#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/version.h>

#include "bindings/c/options.h"

namespace cutpoint::embed {

namespace {

constexpr bool is_same(status_code there, cutpoint_status here) { return static_cast<int>(there) == here; }
static_assert(is_same(status_code::ok, CUTPOINT_OK));
static_assert(is_same(status_code::invalid_argument, CUTPOINT_INVALID_ARGUMENT));
static_assert(is_same(status_code::unknown_name, CUTPOINT_UNKNOWN_NAME));
static_assert(is_same(status_code::io_error, CUTPOINT_IO_ERROR));
static_assert(is_same(status_code::memory_limit, CUTPOINT_MEMORY_LIMIT));
static_assert(is_same(status_code::unavailable, CUTPOINT_UNAVAILABLE));
static_assert(is_same(status_code::cancelled, CUTPOINT_CANCELLED));
static_assert(is_same(status_code::backend_failure, CUTPOINT_BACKEND_FAILURE));

void add(std::string& lines, std::string_view name) { lines.append(name).append("\n"); }

void add_catalog(std::string& lines, entry_kind kind) {
  for (const catalog_entry& entry : catalog()) {
    if (entry.kind == kind) add(lines, entry.name);
  }
}

outcome list(int kind, std::string& lines) {
  switch (kind) {
    case CUTPOINT_ALGORITHMS:
      add_catalog(lines, entry_kind::algorithm);
      return {};
    case CUTPOINT_PROFILES:
      add_catalog(lines, entry_kind::profile);
      return {};
    case CUTPOINT_FINGERPRINTS:
      for (const fingerprint_info& each : fingerprints()) add(lines, each.name);
      return {};
    case CUTPOINT_BACK_ENDS:
      for (const backend_info& each : backends()) {
        if (each.runs_here) add(lines, each.name);
      }
      return {};
    default:
      return {CUTPOINT_INVALID_ARGUMENT, "no kind of names has the number " + std::to_string(kind)};
  }
}

}  // namespace

}  // namespace cutpoint::embed

extern "C" {

const char* cutpoint_version(void) { return cutpoint::version().data(); }

const char* cutpoint_status_name(cutpoint_status code) {
  switch (code) {
    case CUTPOINT_OUT_OF_MEMORY:
      return "out_of_memory";
    case CUTPOINT_BUFFER_TOO_SMALL:
      return "buffer_too_small";
    case CUTPOINT_WRONG_STATE:
      return "wrong_state";
    case CUTPOINT_BUSY:
      return "busy";
    case CUTPOINT_CALLBACK_FAILED:
      return "callback_failed";
    case CUTPOINT_CHUNKS_WAITING:
      return "chunks_waiting";
    case CUTPOINT_INTERNAL_ERROR:
      return "internal_error";
    default:
      return cutpoint::to_string(static_cast<cutpoint::status_code>(code)).data();
  }
}

cutpoint_status cutpoint_list_names(int kind, char* text, size_t capacity, size_t* length) {
  return cutpoint::embed::guarded(nullptr, [&]() -> cutpoint::embed::outcome {
    std::string lines;
    if (auto listed = cutpoint::embed::list(kind, lines); !listed.ok()) return listed;
    return cutpoint::embed::write_text(lines, text, capacity, length);
  });
}

cutpoint_status cutpoint_describe_cuts(const char* cuts, char* text, size_t capacity, size_t* length,
                                       cutpoint_error* error) {
  return cutpoint::embed::guarded(error, [&]() -> cutpoint::embed::outcome {
    if (cuts == nullptr) return {CUTPOINT_INVALID_ARGUMENT, "cuts is null"};
    const auto parsed = cutpoint::embed::parse_cuts(cuts);
    if (!parsed) return parsed.error();
    return cutpoint::embed::write_text(parsed->canonical(), text, capacity, length);
  });
}

}  // extern "C"
