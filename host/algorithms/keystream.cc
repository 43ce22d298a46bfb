// Makes the AES-256-CTR key stream with OpenSSL, by encrypting zeros.
#include "host/algorithms/keystream.h"

#include <algorithm>
#include <array>
#include <memory>

#include <openssl/evp.h>

namespace cutpoint {

bool fill_aes256_ctr_keystream(std::span<const std::uint8_t, 32> key, std::span<std::uint8_t> stream) noexcept {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                &EVP_CIPHER_CTX_free);
  const std::array<std::uint8_t, 16> counter = {};
  std::ranges::fill(stream, std::uint8_t{0});
  int written = 0;
  return context != nullptr &&
         EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key.data(), counter.data()) == 1 &&
         EVP_EncryptUpdate(context.get(), stream.data(), &written, stream.data(), static_cast<int>(stream.size())) == 1;
}

}  // namespace cutpoint
