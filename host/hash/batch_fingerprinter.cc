#include <cutpoint/batch_fingerprinter.h>

namespace cutpoint {

namespace {

class one_by_one_fingerprinter final : public batch_fingerprinter {
 public:
  explicit one_by_one_fingerprinter(fingerprinter maker) : maker_(std::move(maker)) {}

  void submit(byte_span bytes, digest& destination) override {
    auto value = maker_(bytes);
    if (value) {
      destination = *value;
    } else if (failure_.ok()) {
      failure_ = value.error();
    }
  }
  status flush() override { return std::exchange(failure_, {}); }

 private:
  fingerprinter maker_;
  status failure_;  ///< the first error since the last flush
};

}  // namespace

std::unique_ptr<batch_fingerprinter> make_one_by_one_fingerprinter(fingerprinter maker) {
  return std::make_unique<one_by_one_fingerprinter>(std::move(maker));
}

}  // namespace cutpoint
