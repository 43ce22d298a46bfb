// Peers that are C and C++ libraries.
#include <string>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "bench/peers/peers.h"

#ifdef CUTPOINT_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

namespace cutpoint::bench {

namespace {

constexpr char sha1_name[] = "SHA1";
constexpr char sha256_name[] = "SHA2-256";

/// Hashes one message after the other. The algorithm is fetched once.
template <const char* Name>
void hash_by_openssl(const message* messages, std::size_t count) {
  static EVP_MD* const kind = EVP_MD_fetch(nullptr, Name, nullptr);
  static EVP_MD_CTX* const context = EVP_MD_CTX_new();
  for (std::size_t i = 0; i < count; ++i) {
    EVP_DigestInit_ex2(context, kind, nullptr);
    EVP_DigestUpdate(context, messages[i].bytes, messages[i].size);
    EVP_DigestFinal_ex(context, messages[i].digest, nullptr);
  }
}

#ifdef CUTPOINT_IPSEC_MB
IMB_MGR* make_manager() {
  IMB_MGR* const manager = alloc_mb_mgr(0);
  init_mb_mgr_auto(manager, nullptr);
  return manager;
}

/// Submits all messages as jobs without their checks, which is the fastest interface for plain hashes.
template <IMB_HASH_ALG Kind, std::size_t DigestBytes>
void hash_by_ipsec_mb(const message* messages, std::size_t count) {
  static IMB_MGR* const manager = make_manager();
  for (std::size_t i = 0; i < count; ++i) {
    IMB_JOB* const job = IMB_GET_NEXT_JOB(manager);
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = Kind;
    job->src = messages[i].bytes;
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_hash_in_bytes = messages[i].size;
    job->auth_tag_output = messages[i].digest;
    job->auth_tag_output_len_in_bytes = DigestBytes;
    IMB_SUBMIT_JOB_NOCHECK(manager);
  }
  while (IMB_FLUSH_JOB(manager) != nullptr) {
  }
}
#endif

peer hasher(const std::string& name, const char* work, void (*hash)(const message*, std::size_t)) {
  return {.name = name.c_str(), .work = work, .size = "", .has_same_definition = true, .cut = nullptr, .hash = hash};
}

}  // namespace

std::vector<peer> library_peers() {
  static const std::string openssl = std::string("openssl ") + OpenSSL_version(OPENSSL_VERSION_STRING);
  std::vector<peer> peers = {hasher(openssl, "sha1", hash_by_openssl<sha1_name>),
                             hasher(openssl, "sha256", hash_by_openssl<sha256_name>)};
#ifdef CUTPOINT_IPSEC_MB
  static const std::string ipsec_mb = std::string("ipsec-mb ") + imb_get_version_str();
  peers.push_back(hasher(ipsec_mb, "sha1", hash_by_ipsec_mb<IMB_AUTH_SHA_1, 20>));
  peers.push_back(hasher(ipsec_mb, "sha256", hash_by_ipsec_mb<IMB_AUTH_SHA_256, 32>));
#endif
  return peers;
}

}  // namespace cutpoint::bench
