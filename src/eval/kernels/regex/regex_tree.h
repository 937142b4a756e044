// The tree of a regular expression, between its parser and the automaton.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/kernels/regex/regex.h"

namespace sardonyx::eval {

struct RegexNode {
    enum class Kind : uint8_t { kEmpty, kSet, kByte, kAssertion, kSequence, kChoice, kRepeat };
    Kind kind = Kind::kEmpty;
    Regex::Op assertion = Regex::Op::kMatch;
    uint32_t set = 0;                // of RegexTree::sets
    int32_t minimum = 0;             // of a repetition
    int32_t maximum = 0;             // -1: without end
    std::vector<uint32_t> children;  // before their parent in RegexTree::nodes
};

struct RegexTree {
    std::vector<CharacterSet> sets;
    std::vector<RegexNode> nodes;
    uint32_t root = 0;
};

// Groups and repetitions nest at most 200 deep; a repetition counts to 1000 at most.
Result<RegexTree> parse_regex(std::string_view pattern);

bool is_word_character(uint32_t c);

}  // namespace sardonyx::eval
