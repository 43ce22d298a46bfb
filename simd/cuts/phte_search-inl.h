// The search for cuts that AES decides. A source includes this header after it has begun the code for an instruction set
// and declared, in its own namespace, `vectors`: the operations on vectors of blocks.
//
//   using vector = ...;  using flags = ...;
//   static constexpr std::size_t blocks;         blocks in a vector
//   static constexpr std::size_t step_vectors;   vectors that hold the digests of all lanes
//   static constexpr std::size_t group_steps;    steps whose blocks are encrypted together; their vectors cover the latency
//                                                of an AES instruction
//   static vector load(const void*), broadcast(const phte_block&)
//   static vector add, exclusive_or(vector, vector)
//   static vector sign_mask(vector)              ones in each word whose highest bit is set
//   static vector both(vector, vector)           bitwise and
//   static vector shift_left<bits>, shift_right<bits>(vector)
//   static vector carry_less(vector, vector)     the products of the first words of blocks
//   static vector round, last_round(vector block, vector key)
//   static flags zero_words(vector, vector, vector mask)
//                                                which first words of two vectors are zero in the mask, in any form
//   static bool any(flags); flags operator|
//   static void store(vector, phte_block*)
//
// A tile is `lanes` neighbouring ranges of `stride` bytes, one for each lane. All lanes advance in step:
//
//     lane 0     lane 1            lane 7
//     |..........|..........|......|..........|   each begins with a warm-up over the 64 bytes before it
//      ^          ^                 ^             a step: look up the newest and the oldest byte of each window

struct toeplitz_step {
  using vector = vectors::vector;
  explicit toeplitz_step(const phte_tables&) : low_terms(vectors::broadcast({0x1b, 0x1b})) {}
  vector operator()(vector value) const {
    return vectors::exclusive_or(vectors::add(value, value), vectors::both(vectors::sign_mask(value), low_terms));
  }
  vector low_terms;
};

/// Barrett's reduction of the highest byte: its quotient by the modulus has 8 bits.
struct rabin_step {
  using vector = vectors::vector;
  explicit rabin_step(const phte_tables& tables)
      : modulus(vectors::broadcast({tables.modulus, 0})),
        quotient(vectors::broadcast({tables.quotient, 0})),
        first_words(vectors::broadcast({~std::uint64_t{0}, 0})) {}
  vector operator()(vector value) const {
    const vector high = vectors::carry_less(vectors::shift_right<56>(value), quotient);
    const vector reduction = vectors::carry_less(vectors::shift_right<8>(high), modulus);
    return vectors::exclusive_or(vectors::shift_left<8>(value), vectors::both(reduction, first_words));
  }
  vector modulus;
  vector quotient;
  vector first_words;
};

template <class Step>
class tile_search {
  using vector = vectors::vector;
  static constexpr std::size_t blocks = vectors::blocks;
  static constexpr std::size_t step_vectors = vectors::step_vectors;
  static constexpr std::size_t group_steps = vectors::group_steps;

  /// An array of vectors, whose attributes std::array would lose.
  template <std::size_t count>
  struct vectors_of {
    vector items[count];
    vector& operator[](std::size_t i) { return items[i]; }
    const vector& operator[](std::size_t i) const { return items[i]; }
  };

 public:
  static constexpr std::size_t lanes = blocks * step_vectors;

  tile_search(const phte_tables& tables, std::uint64_t mask)
      : tables_(tables), step_(tables), mask_(vectors::broadcast({mask, mask})), mask_bits_(mask) {
    for (std::size_t i = 0; i < tables.round_keys.size(); ++i)
      round_keys_[i] = vectors::broadcast(tables.round_keys[i]);
  }

  /// Returns the index of the first byte in a tile that begins at `bytes` that is accepted, or the length of the tile.
  template <std::uint64_t stride>
  std::uint64_t find(const std::uint8_t* bytes) const {
    static_assert(stride % group_steps == 0);
    digests values = warm_up<stride>(bytes);
    // Rows are stored two groups before they are loaded: a load of a vector waits until the stores of its blocks have
    // left the store queue.
    alignas(64) std::array<std::array<row, group_steps>, 4> ring;
    if constexpr (blocks > 1) {
      look_up_group<stride>(bytes, ring[0]);
      if (stride > group_steps) look_up_group<stride>(bytes + group_steps, ring[1]);
    }
    std::uint64_t first_match = lanes * stride;
    for (std::uint64_t i = 0, turn = 0; i < stride; i += group_steps, ++turn) {
      vectors_of<group_steps * step_vectors> state;
      for (std::size_t s = 0; s < group_steps; ++s) {
        if constexpr (blocks > 1) {
          advance(values, ring[turn % 4][s]);
        } else {
          advance_directly<stride, true>(values, bytes + i + s);
        }
        for (std::size_t v = 0; v < step_vectors; ++v) state[s * step_vectors + v] = values[v];
      }
      if constexpr (blocks > 1) {
        if (i + 2 * group_steps < stride) look_up_group<stride>(bytes + i + 2 * group_steps, ring[(turn + 2) % 4]);
      }
      encrypt(state);
      if (has_match(state)) [[unlikely]] {
        first_match = std::min(first_match, earliest<stride>(state, i));
        if (first_match < stride) break;  // no lane comes before the first
      }
    }
    return first_match;
  }

  /// Does the same for `count` bytes, one after the other.
  std::uint64_t find_singly(const std::uint8_t* bytes, std::uint64_t count) const {
    vector value = round_keys_[0];
    const auto add = [&](const phte_block& block) { value = vectors::exclusive_or(value, vectors::broadcast(block)); };
    for (const std::uint8_t* byte = bytes - 64; byte != bytes; ++byte) {
      value = step_(value);
      add(tables_.entering[*byte]);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      value = step_(value);
      add(tables_.entering[bytes[i]]);
      add(tables_.leaving[*(bytes + i - 64)]);
      vectors_of<1> state = {{value}};
      encrypt(state);
      if (vectors::any(vectors::zero_words(state[0], state[0], mask_))) return i;
    }
    return count;
  }

 private:
  using digests = vectors_of<step_vectors>;
  using block_vector [[gnu::vector_size(sizeof(phte_block)), gnu::may_alias]] = std::uint64_t;
  struct row {
    alignas(64) std::array<phte_block, lanes> blocks;
  };

  /// Looks up what a step adds to the digests, in the lanes from `bytes` on.
  template <std::uint64_t stride, bool has_leaving>
  HWY_INLINE void look_up(const std::uint8_t* bytes, row& output) const {
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* const newest = bytes + lane * stride;
      block_vector block = *reinterpret_cast<const block_vector*>(&tables_.entering[*newest]);
      if constexpr (has_leaving) {
        block ^= *reinterpret_cast<const block_vector*>(&tables_.leaving[*(newest - 64)]);
      }
      *reinterpret_cast<block_vector*>(&output.blocks[lane]) = block;
    }
  }
  template <std::uint64_t stride, bool has_leaving = true, std::size_t count>
  HWY_INLINE void look_up_group(const std::uint8_t* bytes, std::array<row, count>& output) const {
#pragma GCC unroll 8
    for (std::size_t s = 0; s < count; ++s) look_up<stride, has_leaving>(bytes + s, output[s]);
  }

  /// Advances by the bytes of a step. A vector that is one block needs no row.
  template <std::uint64_t stride, bool has_leaving>
  HWY_INLINE void advance_directly(digests& values, const std::uint8_t* bytes) const {
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* const newest = bytes + lane * stride;
      vector added = vectors::load(&tables_.entering[*newest]);
      if constexpr (has_leaving) added = vectors::exclusive_or(added, vectors::load(&tables_.leaving[*(newest - 64)]));
      values[lane] = vectors::exclusive_or(step_(values[lane]), added);
    }
  }

  HWY_INLINE void advance(digests& values, const row& added) const {
    for (std::size_t v = 0; v < step_vectors; ++v) {
      values[v] = vectors::exclusive_or(step_(values[v]), vectors::load(&added.blocks[v * blocks]));
    }
  }

  /// Returns the digests of the windows that end before each lane.
  template <std::uint64_t stride>
  HWY_INLINE digests warm_up(const std::uint8_t* bytes) const {
    constexpr std::size_t batch = 8;
    alignas(64) std::array<std::array<row, batch>, 2> ring;
    digests values;
    for (std::size_t v = 0; v < step_vectors; ++v) values[v] = round_keys_[0];
    if constexpr (blocks == 1) {
      for (std::size_t i = 0; i < 64; ++i) advance_directly<stride, false>(values, bytes - 64 + i);
      return values;
    }
    look_up_group<stride, false>(bytes - 64, ring[0]);
    for (std::size_t i = 0; i < 64; i += batch) {
      if (i + batch < 64) look_up_group<stride, false>(bytes - 64 + i + batch, ring[(i / batch + 1) % 2]);
      for (const row& added : ring[i / batch % 2]) advance(values, added);
    }
    return values;
  }

  template <std::size_t count>
  HWY_INLINE void encrypt(vectors_of<count>& state) const {
#pragma GCC unroll 9
    for (std::size_t round = 1; round < 10; ++round) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < count; ++i) state[i] = vectors::round(state[i], round_keys_[round]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) state[i] = vectors::last_round(state[i], round_keys_[10]);
  }

  template <std::size_t count>
  HWY_INLINE bool has_match(const vectors_of<count>& state) const {
    auto zeros = vectors::zero_words(state[0], state[1], mask_);
#pragma GCC unroll 8
    for (std::size_t i = 2; i < count; i += 2) zeros = zeros | vectors::zero_words(state[i], state[i + 1], mask_);
    return vectors::any(zeros);
  }

  /// Returns the first index among the matches of a group whose first step is `i`, or the length of a tile.
  template <std::uint64_t stride, std::size_t count>
  std::uint64_t earliest(const vectors_of<count>& state, std::uint64_t i) const {
    std::array<phte_block, lanes * group_steps> words;
    for (std::size_t v = 0; v < count; ++v) vectors::store(state[v], &words[v * blocks]);
    std::uint64_t first = lanes * stride;
    for (std::size_t at = 0; at < words.size(); ++at) {
      if ((words[at][0] & mask_bits_) == 0) first = std::min(first, at % lanes * stride + i + at / lanes);
    }
    return first;
  }

  const phte_tables& tables_;
  Step step_;
  vector mask_;
  std::uint64_t mask_bits_;
  vectors_of<11> round_keys_;
};

/// Longer lanes need fewer warm-ups, but waste more of a tile when a byte is accepted. The losses are about equal if a
/// lane is as long as the root of 4 times the mean distance between accepted bytes.
template <class Step>
std::uint64_t search(const phte_tables& tables, const std::uint8_t* chunk, std::uint64_t first, std::uint64_t last,
                     std::uint64_t mask) {
  constexpr std::uint64_t lanes = tile_search<Step>::lanes;
  const tile_search<Step> tile(tables, mask);
  const int mask_bits = std::popcount(mask);
  for (std::uint64_t length = 0; first < last; first += length) {
    const std::uint64_t rest = last - first;
    std::uint64_t match = 0;
    if (mask_bits >= 17 && rest >= 1024 * lanes) {
      length = 1024 * lanes;
      match = tile.template find<1024>(chunk + first);
    } else if (mask_bits >= 12 && rest >= 256 * lanes) {
      length = 256 * lanes;
      match = tile.template find<256>(chunk + first);
    } else if (rest >= 32 * lanes) {
      length = 32 * lanes;
      match = tile.template find<32>(chunk + first);
    } else {
      length = rest;
      match = tile.find_singly(chunk + first, rest);
    }
    if (match != length) return first + match;
  }
  return unlimited;
}
