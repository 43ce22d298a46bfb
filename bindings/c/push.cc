// The functions of the interface for C that push streams into a store.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <cutpoint/store_push.h>

#include "bindings/c/options.h"
#include "bindings/c/store.h"

using cutpoint::backup_store;
using cutpoint::embed::expect_given;
using cutpoint::embed::guarded;
using cutpoint::embed::outcome;
using cutpoint::embed::use;

namespace cutpoint::embed {

/// A session, which its streams share.
class shared_push {
 public:
  shared_push(cutpoint_store& store, std::shared_ptr<cutpoint::engine> threads)
      : store_(store), threads_(std::move(threads)) {}

  [[nodiscard]] outcome begin(backup_store& backups, const cutpoint_push_options* user_options) {
    cutpoint_push_options raw = {};
    cutpoint::store_push_options options;
    if (outcome done = cutpoint::embed::read(user_options, raw, options); !done.ok()) return done;
    options.cancel = &cancel_;
    if (raw.problem != nullptr) {
      options.problem = [this, problem = raw.problem, context = raw.context](const std::string& path,
                                                                             const cutpoint::status& why) {
        const auto call = [&] {
          return problem(context, path.c_str(), static_cast<int>(why.code()), why.message().c_str());
        };
        if (!callbacks_.call("problem", call).ok()) cancel_.request();
      };
    }
    if (raw.work != nullptr) {
      options.work = [this, work = raw.work, context = raw.context](const cutpoint::store_work& done) {
        static_cast<void>(callbacks_.call("work", [&] { return cutpoint::embed::show(done, work, context); }));
      };
    }
    auto begun = cutpoint::push_session::begin(backups, *threads_, options);
    if (!begun) return begun.error();
    session_.emplace(std::move(*begun));
    return {};
  }

  /// Runs `body`, which returns an outcome. Returns the failure of a callback, if there is one, or else the outcome.
  template <class Body>
  [[nodiscard]] outcome run(Body&& body) {
    if (callbacks_.is_in_callback()) return {CUTPOINT_WRONG_STATE, "a callback of this push session made the call"};
    if (is_unusable_) {
      return {CUTPOINT_WRONG_STATE, "an earlier call on this push session failed for want of memory or by a bug"};
    }
    try {
      outcome done = std::forward<Body>(body)();
      return callbacks_.failure().value_or(std::move(done));
    } catch (...) {
      is_unusable_ = true;
      throw;
    }
  }

  [[nodiscard]] cutpoint_store& store() noexcept { return store_; }
  [[nodiscard]] bool is_in_callback() const noexcept { return callbacks_.is_in_callback(); }
  [[nodiscard]] cutpoint::push_session& session() noexcept { return *session_; }
  void cancel() noexcept { cancel_.request(); }
  /// Abandons the session, unless it has ended.
  void close() noexcept { session_.reset(); }

 private:
  cutpoint_store& store_;
  std::shared_ptr<cutpoint::engine> threads_;
  cutpoint::cancellation cancel_;
  cutpoint::embed::callbacks callbacks_;
  std::atomic<bool> is_unusable_ = false;
  std::optional<cutpoint::push_session> session_;
};

}  // namespace cutpoint::embed

struct cutpoint_push {
  std::shared_ptr<cutpoint::embed::shared_push> shared;
  std::optional<cutpoint::embed::shown_snapshot> snapshot = {};
};

struct cutpoint_push_stream {
  std::shared_ptr<cutpoint::embed::shared_push> shared;
  cutpoint::push_stream stream;
  std::atomic_flag is_busy = ATOMIC_FLAG_INIT;
};

namespace {

/// Runs `body` on a session.
template <class Body>
cutpoint_status with(cutpoint_push* push, cutpoint_error* error, Body&& body) noexcept {
  return guarded(error, [&]() -> outcome {
    if (outcome check = expect_given(push, "push"); !check.ok()) return check;
    return push->shared->run(std::forward<Body>(body));
  });
}

outcome busy() { return {CUTPOINT_BUSY, "another thread is in a call on this stream"}; }

/// Runs `body` on a stream that no other thread uses.
template <class Body>
cutpoint_status with(cutpoint_push_stream* stream, cutpoint_error* error, Body&& body) noexcept {
  return guarded(error, [&]() -> outcome {
    if (outcome check = expect_given(stream, "stream"); !check.ok()) return check;
    if (stream->is_busy.test_and_set(std::memory_order_acquire)) return busy();
    struct leaver {
      std::atomic_flag& flag;
      ~leaver() { flag.clear(std::memory_order_release); }
    } const leave{stream->is_busy};
    return stream->shared->run(std::forward<Body>(body));
  });
}

/// Runs `body` on a stream that no other thread uses, and destroys it.
template <class Body>
cutpoint_status end(cutpoint_push_stream* stream, cutpoint_error* error, Body&& body) noexcept {
  return guarded(error, [&]() -> outcome {
    if (outcome check = expect_given(stream, "stream"); !check.ok()) return check;
    if (stream->is_busy.test_and_set(std::memory_order_acquire)) return busy();
    const std::unique_ptr<cutpoint_push_stream> ended(stream);
    const auto shared = stream->shared;
    return shared->run([&] { return body(ended->stream); });
  });
}

}  // namespace

extern "C" {

cutpoint_status cutpoint_push_begin(cutpoint_store* store, cutpoint_engine* engine,
                                    const cutpoint_push_options* options, cutpoint_push** push, cutpoint_error* error) {
  if (push != nullptr) *push = nullptr;
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(push, "push"); !check.ok()) return check;
    if (outcome check = expect_given(engine, "engine"); !check.ok()) return check;
    auto begun = std::make_unique<cutpoint_push>();
    begun->shared = std::make_shared<cutpoint::embed::shared_push>(*store, engine->implementation);
    if (outcome done = begun->shared->begin(backups, options); !done.ok()) return done;
    store->count_push_sessions(1);
    *push = begun.release();
    return {};
  });
}

cutpoint_status cutpoint_push_begin_stream(cutpoint_push* push, const cutpoint_pushed_file* file,
                                           cutpoint_push_stream** stream, cutpoint_error* error) {
  if (stream != nullptr) *stream = nullptr;
  return with(push, error, [&]() -> outcome {
    if (outcome check = expect_given(stream, "stream"); !check.ok()) return check;
    cutpoint::pushed_file known;
    if (outcome done = cutpoint::embed::read(file, true, known); !done.ok()) return done;
    auto begun = push->shared->session().begin_stream(known);
    if (!begun) return begun.error();
    *stream = new cutpoint_push_stream{.shared = push->shared, .stream = std::move(*begun)};
    return {};
  });
}

cutpoint_status cutpoint_push_write(cutpoint_push_stream* stream, const void* bytes, size_t byte_count,
                                    cutpoint_error* error) {
  return with(stream, error, [&]() -> outcome {
    if (byte_count == 0) return {};
    if (outcome check = expect_given(bytes, "bytes"); !check.ok()) return check;
    return stream->stream.write({static_cast<const std::uint8_t*>(bytes), byte_count});
  });
}

cutpoint_status cutpoint_push_write_hole(cutpoint_push_stream* stream, uint64_t byte_count, cutpoint_error* error) {
  return with(stream, error, [&]() -> outcome { return stream->stream.write_hole(byte_count); });
}

cutpoint_status cutpoint_push_end(cutpoint_push_stream* stream, cutpoint_error* error) {
  return end(stream, error, [](cutpoint::push_stream& ended) -> outcome { return ended.end(); });
}

cutpoint_status cutpoint_push_fail(cutpoint_push_stream* stream, const char* reason) {
  if (stream == nullptr) return CUTPOINT_OK;
  return end(stream, nullptr, [&](cutpoint::push_stream& ended) -> outcome {
    ended.fail({cutpoint::status_code::io_error, reason != nullptr ? reason : "the stream has failed"});
    return {};
  });
}

cutpoint_status cutpoint_push_add(cutpoint_push* push, const cutpoint_pushed_file* file, cutpoint_error* error) {
  return with(push, error, [&]() -> outcome {
    cutpoint::pushed_file known;
    if (outcome done = cutpoint::embed::read(file, false, known); !done.ok()) return done;
    return push->shared->session().add(known);
  });
}

cutpoint_status cutpoint_push_commit(cutpoint_push* push, const cutpoint_store_snapshot** snapshot,
                                     cutpoint_error* error) {
  if (snapshot != nullptr) *snapshot = nullptr;
  if (push == nullptr) return with(push, error, [] { return outcome(); });
  return use(&push->shared->store(), error, [&](backup_store&) {
    return push->shared->run([&]() -> outcome {
      auto committed = push->shared->session().commit();
      if (!committed) return committed.error();
      push->snapshot.emplace(std::move(*committed));
      if (snapshot != nullptr) *snapshot = &push->snapshot->shown();
      return {};
    });
  });
}

cutpoint_status cutpoint_push_cancel(cutpoint_push* push) {
  if (push == nullptr) return CUTPOINT_INVALID_ARGUMENT;
  push->shared->cancel();
  return CUTPOINT_OK;
}

cutpoint_status cutpoint_push_destroy(cutpoint_push* push) {
  if (push == nullptr) return CUTPOINT_OK;
  if (push->shared->is_in_callback()) return CUTPOINT_WRONG_STATE;
  cutpoint_store& store = push->shared->store();
  if (const cutpoint_status entered = store.enter(nullptr); entered != CUTPOINT_OK) return entered;
  push->shared->close();
  delete push;
  store.count_push_sessions(-1);
  store.leave();
  return CUTPOINT_OK;
}

}  // extern "C"
