// The same as examples/c/chunk_file.c, with the C++ engine.
#include <cstdio>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>

namespace {

class printer final : public cutpoint::chunk_receiver {
 public:
  cutpoint::status begin_stream(std::uint64_t) override { return {}; }
  cutpoint::status end_stream(std::uint64_t, const cutpoint::status& outcome) override { return outcome; }
  cutpoint::status take(const cutpoint::delivered_chunk& c) override {
    const std::string digest = to_hex(c.fingerprint);
    for (std::uint64_t i = 0; i < c.count; ++i) {
      std::printf("%llu %llu %s\n", static_cast<unsigned long long>(c.offset + i * c.length),
                  static_cast<unsigned long long>(c.length), digest.c_str());
    }
    return {};
  }
};

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  auto file = cutpoint::file_source::open(words[1]);
  auto cuts = cutpoint::make_chunker("fastcdc", {});
  auto engine = cutpoint::engine::make();
  if (!file || !cuts || !engine) return 1;
  printer out;
  auto feed = engine->open({.cuts = cuts->chunker}, out);
  if (!feed || !feed_source(*feed, 0, *file).ok() || !feed->finish().ok()) return 1;
  return 0;
}
