// The search for cuts that AES decides. A source includes this header after it has begun the code for an instruction set
// and declared, in its own namespace, `vectors`: the operations on vectors of blocks.
//
//   using vector = ...;  using flags = ...;
//   static constexpr std::size_t blocks;         blocks in a vector
//   static constexpr std::size_t step_vectors;   vectors that hold the digests of all lanes
//   static constexpr std::size_t group_steps;    steps whose blocks are encrypted together; their vectors cover the latency
//                                                of an AES instruction
//   static constexpr std::size_t tested_vectors; vectors that are tested together
//   static constexpr bool has_few_registers;     not enough for all round keys
//   static vector load(const void*), broadcast(const phte_block&)
//   static vector add, exclusive_or(vector, vector)
//   static vector sign_mask(vector)              ones in each word whose highest bit is set
//   static vector both(vector, vector)           bitwise and
//   static vector shift_left<bits>, shift_right<bits>(vector)
//   static vector carry_less(vector, vector)     the products of the first words of blocks
//   static vector low_words, high_words(vector, vector)
//                                                the first words of their blocks, or the second ones, in turn
//   static vector round, last_round(vector block, vector key)
//   static void keep_order(vector&)              has a vector computed before what follows, in a register
//   static flags may_match(const vector*, vector last_key, vector mask)
//                                                set, in any form, where a block of some vectors has a first word with
//                                                zeros in the mask after the last round; may be set elsewhere, too
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

/// The step of the Rabin hash in blocks, by Barrett's reduction of the highest byte: its quotient by the modulus has 8
/// bits.
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

inline constexpr std::size_t group_steps = vectors::group_steps;
inline constexpr std::size_t group_vectors = vectors::step_vectors * group_steps;
inline constexpr std::size_t lanes = vectors::blocks * vectors::step_vectors;

/// An array of vectors, whose attributes std::array would lose.
template <std::size_t count>
struct vectors_of {
  vectors::vector items[count];
  vectors::vector& operator[](std::size_t i) { return items[i]; }
  const vectors::vector& operator[](std::size_t i) const { return items[i]; }
};

/// Digests are kept in words or in blocks, as the entries of their tables. Words are the first ones of blocks, whose second
/// ones stay those of round key 0.
template <class Entry>
struct entries_as {
  using type = std::uint64_t;
  static vectors::vector spread(const phte_block& block) { return vectors::broadcast({block[0], block[0]}); }
  static vectors::vector spread(std::uint64_t word) { return vectors::broadcast({word, word}); }
  static vectors::vector low_blocks(vectors::vector words, vectors::vector second_words) {
    return vectors::low_words(words, second_words);
  }
};
template <>
struct entries_as<phte_block> {
  using type [[gnu::vector_size(sizeof(phte_block)), gnu::may_alias]] = std::uint64_t;
  static vectors::vector spread(const phte_block& block) { return vectors::broadcast(block); }
  static vectors::vector low_blocks(vectors::vector blocks, vectors::vector) { return blocks; }
};
inline vectors::vector second_words_of(const phte_block& block) { return vectors::broadcast({block[1], block[1]}); }

/// The digests of all lanes, in words or in blocks. What a step adds to them is looked up an entry at a time and stored in
/// a row, which is loaded as vectors.
template <class Step, class Entry, std::uint64_t stride>
class row_digests {
  using vector = vectors::vector;
  static constexpr bool in_words = std::is_same_v<Entry, std::uint64_t>;
  static constexpr std::size_t vector_lanes = sizeof(vector) / sizeof(Entry);
  static constexpr std::size_t count = lanes / vector_lanes;
  struct row {
    alignas(64) std::array<Entry, lanes> entries;
  };

 public:
  /// Rows are stored two groups before they are loaded: a load of a vector waits until the stores of its entries have left
  /// the store queue. They are apart from the digests, which so stay in registers.
  using memory = std::array<std::array<row, group_steps>, 4>;

  HWY_INLINE row_digests(const phte_tables& tables, const std::uint8_t* bytes, memory& rows)
      : entries_(tables.entries_of<Entry>()),
        step_(tables),
        bytes_(bytes),
        rows_(rows),
        second_words_(second_words_of(tables.round_keys[0])) {
    for (std::size_t v = 0; v < count; ++v) values_[v] = entries_as<Entry>::spread(tables.round_keys[0]);
    constexpr std::size_t batch = 8;
    std::array<std::array<row, batch>, 2> turns;
    look_up<false>(bytes - 64, turns[0]);
    for (std::size_t i = 0; i < 64; i += batch) {
      if (i + batch < 64) look_up<false>(bytes - 64 + i + batch, turns[(i / batch + 1) % 2]);
      for (const row& added : turns[i / batch % 2]) step(added);
    }
    look_up<true>(bytes, rows_[0]);
    look_up<true>(bytes + group_steps, rows_[1]);
  }

  /// Advances by a group of steps, and writes the blocks after each of them.
  HWY_INLINE void advance(std::uint64_t group, vectors_of<group_vectors>& blocks) {
    // Beyond the last group, any bytes of the lane do.
    bytes_ahead_ = bytes_ + std::min(group + 2, stride / group_steps - 1) * group_steps;
    rows_ahead_ = &rows_[(group + 2) % 4];
#pragma GCC unroll 16
    for (std::size_t s = 0; s < group_steps; ++s) {
      step(rows_[group % 4][s]);
      for (std::size_t v = 0; v < count; ++v) {
        if constexpr (in_words) {
          blocks[2 * (s * count + v)] = vectors::low_words(values_[v], second_words_);
          blocks[2 * (s * count + v) + 1] = vectors::high_words(values_[v], second_words_);
        } else {
          blocks[s * count + v] = values_[v];
        }
      }
    }
  }
  /// Looks up what a step of the group after the next one adds.
  HWY_INLINE void look_up_ahead(std::size_t step) { look_up<true>(bytes_ahead_ + step, (*rows_ahead_)[step]); }
  static constexpr std::size_t lane_of(std::size_t block) {
    if (!in_words) return block;
    const std::size_t vector = block / vectors::blocks;
    return vector / 2 * vector_lanes + block % vectors::blocks * 2 + vector % 2;
  }

 private:
  template <bool has_leaving>
  HWY_INLINE void look_up(const std::uint8_t* bytes, row& output) const {
    using entry = typename entries_as<Entry>::type;
#pragma GCC unroll 16
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* const newest = bytes + lane * stride;
      entry added = reinterpret_cast<const entry&>(entries_.entering[*newest]);
      if constexpr (has_leaving) added ^= reinterpret_cast<const entry&>(entries_.leaving[*(newest - 64)]);
      reinterpret_cast<entry&>(output.entries[lane]) = added;
    }
  }
  template <bool has_leaving, std::size_t steps>
  HWY_INLINE void look_up(const std::uint8_t* bytes, std::array<row, steps>& output) const {
#pragma GCC unroll 16
    for (std::size_t s = 0; s < steps; ++s) look_up<has_leaving>(bytes + s, output[s]);
  }
  HWY_INLINE void step(const row& added) {
    for (std::size_t v = 0; v < count; ++v) {
      values_[v] = vectors::exclusive_or(step_(values_[v]), vectors::load(&added.entries[v * vector_lanes]));
    }
  }

  const phte_tables::entries<Entry>& entries_;
  Step step_;
  const std::uint8_t* bytes_;
  const std::uint8_t* bytes_ahead_ = nullptr;
  memory& rows_;
  std::array<row, group_steps>* rows_ahead_ = nullptr;
  vector second_words_;
  vectors_of<count> values_;
};

/// The same in blocks where a vector is one, and needs no row.
template <class Step, std::uint64_t stride>
class direct_digests {
 public:
  struct memory {};

  HWY_INLINE direct_digests(const phte_tables& tables, const std::uint8_t* bytes, memory&)
      : entries_(tables.blocks), step_(tables), newest_(bytes - 64) {
    for (std::size_t lane = 0; lane < lanes; ++lane) values_[lane] = vectors::broadcast(tables.round_keys[0]);
    while (newest_ != bytes) step<false>();
  }

  HWY_INLINE void advance(std::uint64_t, vectors_of<group_vectors>& blocks) {
#pragma GCC unroll 16
    for (std::size_t s = 0; s < group_steps; ++s) {
      step<true>();
      for (std::size_t lane = 0; lane < lanes; ++lane) blocks[s * lanes + lane] = values_[lane];
    }
  }
  HWY_INLINE void look_up_ahead(std::size_t) {}
  static constexpr std::size_t lane_of(std::size_t block) { return block; }

 private:
  template <bool has_leaving>
  HWY_INLINE void step() {
#pragma GCC unroll 16
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* const newest = newest_ + lane * stride;
      auto added = vectors::load(&entries_.entering[*newest]);
      if constexpr (has_leaving) {
        added = vectors::exclusive_or(added, vectors::load(&entries_.leaving[*(newest - 64)]));
      }
      values_[lane] = vectors::exclusive_or(step_(values_[lane]), added);
    }
    ++newest_;
  }

  const phte_tables::entries<phte_block>& entries_;
  Step step_;
  const std::uint8_t* newest_;
  vectors_of<lanes> values_;
};

template <class Step, class Entry>
class tile_search {
  using vector = vectors::vector;
  template <std::uint64_t stride>
  using digests = std::conditional_t<vectors::blocks == 1 && std::is_same_v<Entry, phte_block>,
                                     direct_digests<Step, stride>, row_digests<Step, Entry, stride>>;

 public:
  tile_search(const phte_tables& tables, std::uint64_t mask)
      : tables_(tables), mask_(vectors::broadcast({mask, mask})), mask_bits_(mask) {
    for (std::size_t i = 0; i < tables.round_keys.size(); ++i)
      round_keys_[i] = vectors::broadcast(tables.round_keys[i]);
  }

  /// Returns the index of the first byte in a tile that begins at `bytes` that is accepted, or the length of the tile.
  template <std::uint64_t stride>
  std::uint64_t find(const std::uint8_t* bytes) const {
    static_assert(stride % group_steps == 0);
    typename digests<stride>::memory memory;
    digests<stride> values(tables_, bytes, memory);
    std::uint64_t first_match = lanes * stride;
    for (std::uint64_t group = 0; group < stride / group_steps; ++group) {
      vectors_of<group_vectors> state;
      values.advance(group, state);
      // Look-ups between the rounds keep the other units of the processor busy.
      encrypt_but_last(
          state, [&](std::size_t round) __attribute__((always_inline)) {
            if (round <= group_steps) values.look_up_ahead(round - 1);
          });
      if (may_match(state)) [[unlikely]] {
        const auto copy = state;  // which is what needs memory, and not every group
        first_match = std::min(first_match, earliest<stride>(copy, group * group_steps));
        if (first_match < stride) break;  // no lane comes before the first
      }
    }
    return first_match;
  }

  /// Does the same for `count` bytes, one after the other.
  std::uint64_t find_singly(const std::uint8_t* bytes, std::uint64_t count) const {
    using access = entries_as<Entry>;
    const Step step(tables_);
    const auto& entries = tables_.entries_of<Entry>();
    const vector second_words = second_words_of(tables_.round_keys[0]);
    vector value = access::spread(tables_.round_keys[0]);
    const auto add = [&](const Entry& entry) { value = vectors::exclusive_or(value, access::spread(entry)); };
    for (const std::uint8_t* byte = bytes - 64; byte != bytes; ++byte) {
      value = step(value);
      add(entries.entering[*byte]);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      value = step(value);
      add(entries.entering[bytes[i]]);
      add(entries.leaving[*(bytes + i - 64)]);
      vectors_of<1> state = {{access::low_blocks(value, second_words)}};
      encrypt_but_last(state, [](std::size_t) {});
      if (matches(state)[0]) return i;
    }
    return count;
  }

 private:
  /// Encrypts blocks up to the last round, and calls `between` after each round with its number.
  template <std::size_t count, class Between>
  HWY_INLINE void encrypt_but_last(vectors_of<count>& state, Between between) const {
#pragma GCC unroll 9
    for (std::size_t round = 1; round < 10; ++round) {
      vector key = round_keys_[round];
      if constexpr (vectors::has_few_registers) vectors::keep_order(key);  // or each instruction loads it again
#pragma GCC unroll 16
      for (std::size_t i = 0; i < count; ++i) state[i] = vectors::round(state[i], key);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < count; ++i) vectors::keep_order(state[i]);
      between(round);
    }
  }

  /// Tests the blocks of a group before their last round. May be true without a match.
  HWY_INLINE bool may_match(const vectors_of<group_vectors>& state) const {
    auto flags = vectors::may_match(&state[0], round_keys_[10], mask_);
#pragma GCC unroll 16
    for (std::size_t i = vectors::tested_vectors; i < group_vectors; i += vectors::tested_vectors) {
      flags = flags | vectors::may_match(&state[i], round_keys_[10], mask_);
    }
    return vectors::any(flags);
  }

  /// Does the last round, and returns which blocks are accepted.
  template <std::size_t count>
  std::array<bool, count * vectors::blocks> matches(const vectors_of<count>& state) const {
    std::array<phte_block, count * vectors::blocks> blocks;
    for (std::size_t v = 0; v < count; ++v) {
      vectors::store(vectors::last_round(state[v], round_keys_[10]), &blocks[v * vectors::blocks]);
    }
    std::array<bool, count * vectors::blocks> accepted;
    for (std::size_t i = 0; i < blocks.size(); ++i) accepted[i] = (blocks[i][0] & mask_bits_) == 0;
    return accepted;
  }

  /// Returns the first index among the matches of a group whose first step is `i`, or the length of a tile.
  template <std::uint64_t stride>
  std::uint64_t earliest(const vectors_of<group_vectors>& state, std::uint64_t i) const {
    const auto accepted = matches(state);
    std::uint64_t first = lanes * stride;
    for (std::size_t at = 0; at < accepted.size(); ++at) {
      if (accepted[at]) first = std::min(first, digests<stride>::lane_of(at % lanes) * stride + i + at / lanes);
    }
    return first;
  }

  const phte_tables& tables_;
  vector mask_;
  std::uint64_t mask_bits_;
  vectors_of<11> round_keys_;
};

/// Longer lanes need fewer warm-ups, but waste more of a tile when a byte is accepted. The losses are about equal if a
/// lane is as long as the root of 4 times the mean distance between accepted bytes.
template <class Step, class Entry>
std::uint64_t search(const phte_tables& tables, const std::uint8_t* chunk, std::uint64_t first, std::uint64_t last,
                     std::uint64_t mask) {
  const tile_search<Step, Entry> tile(tables, mask);
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

template <class RabinStep, class RabinEntry>
constexpr phte_searches searches = {.toeplitz = search<toeplitz_step, std::uint64_t>,
                                    .toeplitz128 = search<toeplitz_step, phte_block>,
                                    .rabin = search<RabinStep, RabinEntry>};
