#include <cutpoint/fingerprint_batch.h>

namespace cutpoint {

namespace {

class one_by_one_batch final : public fingerprint_batch {
 public:
  explicit one_by_one_batch(fingerprinter maker) : maker_(std::move(maker)) {}

  void submit(byte_span bytes, digest& into) override {
    auto made = maker_(bytes);
    if (made) {
      into = *made;
    } else if (failure_.ok()) {
      failure_ = made.error();
    }
  }
  status flush() override { return std::exchange(failure_, {}); }

 private:
  fingerprinter maker_;
  status failure_;  ///< the first since the last flush
};

}  // namespace

std::unique_ptr<fingerprint_batch> one_by_one(fingerprinter maker) {
  return std::make_unique<one_by_one_batch>(std::move(maker));
}

}  // namespace cutpoint
