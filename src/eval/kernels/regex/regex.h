// Regular expressions of RE2's syntax (https://github.com/google/re2/wiki/Syntax), matched in time
// linear in the text: the pattern becomes a nondeterministic automaton whose states are followed
// all at once (Thompson 1968), so there is no backtracking. regex_search.h finds matches in a text.
//
// Not supported, with an error that says so: Unicode classes by the name of a script (\p{Greek}).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sardonyx::eval {

// Sorted ranges of code points, ends included.
using CharacterSet = std::vector<std::pair<uint32_t, uint32_t>>;

class Regex {
  public:
    static Result<Regex> compile(std::string_view pattern);

    // Whether the whole text is a match.
    bool matches(std::string_view text) const;

    enum class Op : uint8_t {
        kSet,        // consumes one character of sets[a]
        kByte,       // consumes one byte, also one that is a part of a character
        kSplit,      // on to a and b
        kJump,       // on to a
        kTextStart,  // the rest: on to a where the place fits
        kTextEnd,
        kLineStart,
        kLineEnd,
        kWordBoundary,
        kNoWordBoundary,
        kMatch,
    };
    struct Instruction {
        Op op = Op::kMatch;
        uint32_t a = 0;
        uint32_t b = 0;
    };

    const std::vector<CharacterSet>& sets() const { return sets_; }
    const std::vector<Instruction>& program() const { return program_; }

  private:
    std::vector<CharacterSet> sets_;
    std::vector<Instruction> program_;  // kSet and kByte go on to the next instruction
    friend class RegexCompiler;
};

}  // namespace sardonyx::eval
