// Tests that the catalog has every name of the specification, with a description of its parameters.
#include <gmock/gmock.h>

#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

/// The canonical string for each name. A change of any line changes the cuts of existing users.
const std::map<std::string_view, std::string_view> pinned = {
    {"gear", "gear(min_bytes=2048,avg_bytes=8192,max_bytes=65536,table=fastcdc2020)"},
    {"rabin", "rabin(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,poly=0x3da3358b4dc173,test=pattern)"},
    {"rabin-inck", "rabin-inck(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"adler", "adler(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"crc32", "crc32(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48)"},
    {"buzhash", "buzhash(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,table=casync,test=ones)"},
    {"tttd", "tttd(min_bytes=2048,avg_bytes=8192,max_bytes=65536,window=48,poly=0x3da3358b4dc173)"},
    {"fastcdc", "fastcdc(min_bytes=2048,avg_bytes=8192,max_bytes=65536,normalization=2,seed=0x0)"},
    {"maxp", "maxp(min_bytes=885,avg_bytes=8192,max_bytes=65536,half_window=885)"},
    {"ae-max", "ae(avg_bytes=8192,max_bytes=65536,window=7936,value_bytes=1,lest=0,extreme=max)"},
    {"ae-min", "ae(avg_bytes=8192,max_bytes=65536,window=7936,value_bytes=1,lest=0,extreme=min)"},
    {"ram", "ram(avg_bytes=8192,max_bytes=16384,window=7936)"},
    {"seqcdc-inc",
     "seqcdc(min_bytes=4096,avg_bytes=8192,max_bytes=16384,seq_length=5,skip_trigger=45,skip_size=320,order="
     "increasing)"},
    {"seqcdc-dec",
     "seqcdc(min_bytes=4096,avg_bytes=8192,max_bytes=16384,seq_length=5,skip_trigger=45,skip_size=320,order="
     "decreasing)"},
    {"mincdc4", "mincdc(min_bytes=4096,avg_bytes=8192,max_bytes=12288,multiplier=0x1,addend=0x0)"},
    {"mincdchash4", "mincdc(min_bytes=4096,avg_bytes=8192,max_bytes=12288,multiplier=0x915f77f5,addend=0x34636463)"},
    {"fixed", "fixed(avg_bytes=8192)"},
    {"toeplitz-aes",
     "toeplitz-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"rabin-aes", "rabin-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"toeplitz128-aes",
     "toeplitz128-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"borg2-toeplitz-aes",
     "toeplitz-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"borg2-rabin-aes",
     "rabin-aes(min_exp=19,max_exp=23,mask_bits=21,normalization=2,normal_size=0,key=09408fecf594e2b1)"},
    {"xet", "gear(min_bytes=8192,avg_bytes=65536,max_bytes=131072,table=xet)"},
    {"restic",
     "rabin(min_bytes=524288,avg_bytes=1048576,max_bytes=8388608,window=64,poly=0x3da3358b4dc173,test=zeros)"},
    {"kopia-buzhash",
     "buzhash(min_bytes=2097152,avg_bytes=4194304,max_bytes=8388608,window=64,table=kopia,test=zeros)"},
    {"casync", "buzhash(min_bytes=16384,avg_bytes=65536,max_bytes=262144,window=48,table=casync,test=casync)"},
    {"desync-legacy",
     "buzhash(min_bytes=16384,avg_bytes=65536,max_bytes=262144,window=48,table=casync,test=desync-legacy)"},
    {"pbs", "buzhash(min_bytes=1048576,avg_bytes=4194304,max_bytes=16777216,window=64,table=casync,test=pbs)"},
    {"ipfs-buzhash", "buzhash(min_bytes=131072,avg_bytes=131072,max_bytes=524288,window=32,table=ipfs,test=zeros)"},
    {"fastcdc2020", "fastcdc(min_bytes=4096,avg_bytes=16384,max_bytes=65536,normalization=1,seed=0x0)"},
    {"borg2-fastcdc",
     "borg2-fastcdc(min_exp=19,max_exp=23,mask_bits=21,normalization=2,key="
     "0000000000000000000000000000000000000000000000000000000000000000)"},
    {"ronomon", "ronomon(min_bytes=2048,avg_bytes=8192,max_bytes=65536)"},
    {"borg1", "borg1(min_exp=19,max_exp=23,mask_bits=21,window=4095,seed=0x0)"},
    {"repmaxcdc", "repmaxcdc(min_bytes=262144,horizon=2097152)"},
};

TEST(catalog, has_algorithms_first) {
  EXPECT_TRUE(std::is_partitioned(catalog().begin(), catalog().end(),
                                  [](const catalog_entry& entry) { return entry.kind == entry_kind::algorithm; }));
}

TEST(catalog, finds_every_entry_by_its_name) {
  for (const catalog_entry& entry : catalog()) {
    const auto same_entry = find_entry(entry.name);
    ASSERT_TRUE(same_entry.ok());
    EXPECT_EQ(*same_entry, &entry);
    EXPECT_EQ(chunker_of(entry.name).canonical(), entry.defaults.canonical());
    EXPECT_TRUE(entry.defaults.canonical().starts_with(std::string(entry.algorithm) + "(")) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
  }
}

TEST(catalog, says_what_decides_a_cut_point) {
  const std::set<std::string_view> restarted = {"fastcdc", "fastcdc2020", "borg2-fastcdc"};
  const std::set<std::string_view> walking = {"ae-max",  "ae-min",      "ram",     "seqcdc-inc", "seqcdc-dec",
                                              "mincdc4", "mincdchash4", "ronomon", "repmaxcdc",  "fixed"};
  for (const catalog_entry& entry : catalog()) {
    const candidate_kind kind = entry.defaults.candidates();
    EXPECT_EQ(kind == candidate_kind::walking, walking.contains(entry.name)) << entry.name;
    EXPECT_EQ(kind == candidate_kind::restarted, restarted.contains(entry.name)) << entry.name;
  }
}

/// Returns the names min_bytes, avg_bytes, ... in `algorithm(min_bytes=...,avg_bytes=...)`.
std::vector<std::string> canonical_parameters(const std::string& canonical) {
  const std::size_t open = canonical.find('(');
  std::vector<std::string> names;
  for (const parameter_setting& setting : settings_of(canonical.substr(open + 1, canonical.size() - open - 2))) {
    names.push_back(setting.name);
  }
  return names;
}

TEST(catalog, lists_every_parameter_in_canonical_order) {
  for (const catalog_entry& entry : catalog()) {
    std::vector<std::string> listed;
    for (const listed_parameter& p : entry.parameters) listed.emplace_back(p.info.name);
    EXPECT_EQ(listed, canonical_parameters(entry.defaults.canonical())) << entry.name;
  }
}

TEST(catalog, lists_meanings_bounds_and_choices) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      EXPECT_FALSE(p.info.meaning.empty()) << entry.name << " " << p.info.name;
      EXPECT_FALSE(p.default_value.empty()) << entry.name << " " << p.info.name;
      EXPECT_EQ(p.choices.size() >= 2, p.info.kind == value_kind::choice) << entry.name << " " << p.info.name;
      if (p.info.kind >= value_kind::choice) continue;
      EXPECT_LT(p.info.lowest, p.info.highest) << entry.name << " " << p.info.name;
    }
  }
}

TEST(catalog, lists_as_fixed_just_what_cannot_be_given) {
  for (const catalog_entry& entry : catalog()) {
    for (const listed_parameter& p : entry.parameters) {
      for (const std::string_view choice : p.choices) {
        const std::vector<parameter_setting> settings = {{std::string(p.info.name), std::string(choice)}};
        const auto result = make_chunker(entry.name, settings);
        EXPECT_EQ(result.ok(), !p.is_fixed || choice == p.default_value) << entry.name << " " << choice;
        if (result.ok()) continue;
        EXPECT_THAT(result.error().message(), HasSubstr("cannot be given"));
      }
    }
  }
  EXPECT_FALSE(make_chunker("restic", settings_of("window=48")).ok());
  EXPECT_FALSE(make_chunker("fastcdc", settings_of("normalization=1")).ok());
}

TEST(catalog, unknown_names_get_the_nearest) {
  for (const status& error : {find_entry("geer").error(), make_chunker("geer", {}).error()}) {
    EXPECT_EQ(error.code(), status_code::unknown_name);
    EXPECT_THAT(error.message(), HasSubstr("no algorithm or profile 'geer', did you mean 'gear'?"));
  }
  for (const std::string& name : catalog_names()) {
    EXPECT_THAT(find_entry("x").error().message(), HasSubstr(name));
  }
}

TEST(make_chunker, unknown_parameters_get_the_nearest_or_the_choice) {
  const auto result = make_chunker("gear", settings_of("avg_byte=8K"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), status_code::unknown_name);
  EXPECT_THAT(result.error().message(), HasSubstr("gear: no parameter 'avg_byte', did you mean 'avg_bytes'?"));
  EXPECT_THAT(make_chunker("gear", settings_of("colour=8K")).error().message(),
              HasSubstr("gear: no parameter 'colour'; there are min_bytes, avg_bytes, max_bytes, table"));
}

TEST(make_chunker, changes_nothing_by_defaults_and_takes_each_once) {
  for (const catalog_entry& entry : catalog()) {
    std::string all;
    for (const listed_parameter& p : entry.parameters) {
      const std::string setting = std::string(p.info.name) + "=" + p.default_value;
      EXPECT_EQ(chunker_of(entry.name, setting).canonical(), entry.defaults.canonical()) << setting;
      all += (all.empty() ? "" : ",") + setting;
      const auto twice = make_chunker(entry.name, settings_of(setting + "," + setting));
      ASSERT_FALSE(twice.ok()) << entry.name << " " << setting;
      EXPECT_EQ(twice.error().code(), status_code::invalid_argument);
      EXPECT_THAT(twice.error().message(), HasSubstr(std::string(p.info.name) + " is given twice"));
    }
    EXPECT_EQ(chunker_of(entry.name, all).canonical(), entry.defaults.canonical()) << entry.name;
  }
  EXPECT_FALSE(make_chunker("ae-max", settings_of("min_bytes=0,min_bytes=0")).ok());
}

TEST(make_chunker, warns_of_what_it_ignores) {
  for (const auto& [name, setting] : {std::pair{"ae-max", "min_bytes=2K"},
                                      {"ae-min", "min_bytes=1"},
                                      {"ram", "min_bytes=2K"},
                                      {"fixed", "min_bytes=2K"},
                                      {"fixed", "max_bytes=64K"}}) {
    const auto result = make_chunker(name, settings_of(setting));
    ASSERT_TRUE(result.ok()) << name;
    const std::string parameter = settings_of(setting).front().name;
    EXPECT_THAT(result->warnings, ElementsAre(HasSubstr(std::string(name) + " takes no " + parameter)));
    EXPECT_EQ(result->chunker.canonical(), chunker_of(name).canonical());
    EXPECT_TRUE(make_chunker(name, settings_of(parameter + "=0"))->warnings.empty());
    EXPECT_FALSE(make_chunker(name, settings_of(parameter + "=some")).ok());
  }
  EXPECT_TRUE(make_chunker("gear", settings_of("min_bytes=2K"))->warnings.empty());
}

// Canonical strings name the cuts, never change, and can be parsed.

/// Returns the secret key among the parameters, without which their canonical string is not read.
std::optional<secret_key> key_of(const algorithm_parameters& parameters) {
  return std::visit(
      [](const auto& values) -> std::optional<secret_key> {
        if constexpr (requires { values.key.fingerprint(); }) return values.key;
        return std::nullopt;
      },
      parameters);
}

TEST(canonical, strings_never_change_and_are_read_back) {
  for (const catalog_entry& entry : catalog()) {
    ASSERT_TRUE(pinned.contains(entry.name)) << entry.name << " is not pinned";
    EXPECT_EQ(entry.defaults.canonical(), pinned.at(entry.name));
    const auto parsed = parse_canonical(entry.defaults.canonical());
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(parsed->parameters(), entry.defaults.parameters());
  }
  EXPECT_EQ(pinned.size(), catalog().size());
}

class algorithm_canonical : public testing::TestWithParam<algorithm_case> {};

/// So other parameters have other canonical strings.
TEST_P(algorithm_canonical, has_canonical_strings_that_are_read_back) {
  seeded_choices random(GetParam().which);
  for (int round = 0; round < GetParam().rounds; ++round) {
    const chunker original = tiny_chunker(GetParam().which, random);
    const auto parsed = parse_canonical(original.canonical(), key_of(original.parameters()));
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_EQ(parsed->canonical(), original.canonical());
    EXPECT_EQ(parsed->parameters(), original.parameters());
  }
}

INSTANTIATE_TEST_SUITE_P(random_parameters, algorithm_canonical, testing::ValuesIn(algorithm_cases(200)), case_name);

TEST(parse_canonical, takes_parameters_in_any_order_and_left_out) {
  EXPECT_EQ(parse_canonical("gear(max_bytes=64K,avg_bytes=8K)")->canonical(), pinned.at("gear"));
  EXPECT_EQ(parse_canonical("gear()")->canonical(), pinned.at("gear"));
  EXPECT_EQ(parse_canonical("ae(extreme=min)")->canonical(), pinned.at("ae-min"));
  EXPECT_EQ(parse_canonical("fixed(avg_bytes=8192,min_bytes=0)")->canonical(), pinned.at("fixed"));
}

TEST(parse_canonical, refuses_every_other_form) {
  for (const auto text :
       {"", "(", ")", "gear", "gear(", "gear)", "gear()x", "gear(avg_bytes)", "gear(,)", "gear(,avg_bytes=8K)",
        "gear(avg_bytes=8K,)", "gear(avg_bytes=8K,,max_bytes=64K)", "gear(avg_bytes=8K) "}) {
    const auto parsed = parse_canonical(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), status_code::invalid_argument) << text;
  }
}

TEST(parse_canonical, refuses_what_no_canonical_string_says) {
  for (const auto& [text, code, sentence] : {
           std::tuple{"geer()", status_code::unknown_name, "geer"},
           {" gear()", status_code::unknown_name, " gear"},
           {"Gear()", status_code::unknown_name, "Gear"},
           {"fastcdc2020()", status_code::unknown_name, "fastcdc2020"},
           {"gear(window=64)", status_code::unknown_name, "no parameter 'window'"},
           {"gear(avg_bytes=8K,avg_bytes=8K)", status_code::invalid_argument, "avg_bytes is given twice"},
           {"gear(avg_bytes=3K)", status_code::invalid_argument, "avg_bytes = 3072 must be a power of two"},
           {"gear(avg_bytes=)", status_code::invalid_argument, "avg_bytes: '' is not a size"},
           {"gear(avg_bytes=8K))", status_code::invalid_argument, "'8K)' is not a size"},
           {"ae(min_bytes=5)", status_code::invalid_argument, "min_bytes"},
       }) {
    const auto parsed = parse_canonical(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code(), code) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(sentence)) << text;
  }
}

}  // namespace
}  // namespace cutpoint::tests
