// Makes the AES-256-CTR key stream with OpenSSL, by encrypting zeros.
#include "host/algorithms/keystream.h"

#include <memory>

#include <openssl/evp.h>

namespace cutpoint {

std::vector<std::uint8_t> aes256_ctr_keystream(const std::array<std::uint8_t, 32>& key, std::size_t length) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                &EVP_CIPHER_CTX_free);
  const std::array<std::uint8_t, 16> counter = {};
  const std::vector<std::uint8_t> zeros(length);
  std::vector<std::uint8_t> stream(length);
  int written = 0;
  const bool is_done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key.data(), counter.data()) == 1 &&
      EVP_EncryptUpdate(context.get(), stream.data(), &written, zeros.data(), static_cast<int>(length)) == 1;
  if (!is_done) stream.clear();
  return stream;
}

}  // namespace cutpoint
