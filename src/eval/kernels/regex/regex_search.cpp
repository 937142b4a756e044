#include "eval/kernels/regex/regex_search.h"

#include <algorithm>

#include "eval/kernels/regex/regex_tree.h"

namespace sardonyx::eval {
namespace {

constexpr size_t kMostBytes = 4;  // bytes of a character

bool contains(const CharacterSet& set, uint32_t c) {
    auto after = std::upper_bound(set.begin(), set.end(), c,
                                  [](uint32_t value, const std::pair<uint32_t, uint32_t>& range) {
                                      return value < range.first;
                                  });
    return after != set.begin() && c <= (after - 1)->second;
}

}  // namespace

RegexSearch::RegexSearch(const Regex& regex)
    : regex_(&regex), states_(kMostBytes + 1, States(regex.program().size())) {}

void RegexSearch::read(std::string_view text) {
    characters_.assign(text.size(), {});
    size_t at = 0;
    for (uint32_t c : code_points(text)) {
        size_t bytes = c < 0x80 || c == kNoCharacter ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        characters_[at].begins_here = c;
        characters_[at].bytes = bytes;
        characters_[at + bytes - 1].ends_here = c;
        at += bytes;
    }
}

// What an assertion asks about: the characters around a place; the text's ends are kNoCharacter.
bool RegexSearch::admits(Regex::Op op, size_t at) const {
    bool is_start = at == 0;
    bool is_end = at == characters_.size();
    uint32_t before = is_start ? kNoCharacter : characters_[at - 1].ends_here;
    uint32_t after = is_end ? kNoCharacter : characters_[at].begins_here;
    bool is_boundary = is_word_character(before) != is_word_character(after);
    switch (op) {
        case Regex::Op::kTextStart:
            return is_start;
        case Regex::Op::kTextEnd:
            return is_end;
        case Regex::Op::kLineStart:
            return is_start || before == '\n';
        case Regex::Op::kLineEnd:
            return is_end || after == '\n';
        case Regex::Op::kWordBoundary:
            return is_boundary;
        case Regex::Op::kNoWordBoundary:
            return !is_boundary;
        default:
            return true;
    }
}

// Adds a state and all that it reaches without a character.
void RegexSearch::follow(uint32_t start, size_t at, States* states) {
    using Op = Regex::Op;
    stack_.push_back(start);
    while (!stack_.empty()) {
        uint32_t state = stack_.back();
        stack_.pop_back();
        if (!states->add(state)) {
            continue;
        }
        const Regex::Instruction& instruction = regex_->program()[state];
        if (instruction.op == Op::kSet || instruction.op == Op::kByte ||
            instruction.op == Op::kMatch || !admits(instruction.op, at)) {
            continue;
        }
        stack_.push_back(instruction.a);
        if (instruction.op == Op::kSplit) {
            stack_.push_back(instruction.b);
        }
    }
}

// The states at each byte are reached from up to four bytes before: a character goes on behind its
// last byte, and `\C` to the next one, in whose place no character begins.
std::optional<size_t> RegexSearch::longest_at(size_t begin) {
    using Op = Regex::Op;
    for (States& states : states_) {
        states.clear();
    }
    follow(0, begin, &states_[begin % states_.size()]);
    std::optional<size_t> end;
    size_t last_reached = begin;
    for (size_t i = begin; i <= last_reached; ++i) {
        auto go_on = [&](uint32_t state, size_t bytes) {
            last_reached = std::max(last_reached, i + bytes);
            follow(state + 1, i + bytes, &states_[(i + bytes) % states_.size()]);
        };
        States& now = states_[i % states_.size()];
        for (uint32_t state : now.items()) {
            const Regex::Instruction& instruction = regex_->program()[state];
            if (instruction.op == Op::kMatch) {
                end = i;
            } else if (i == characters_.size()) {
                continue;
            } else if (instruction.op == Op::kByte) {
                go_on(state, 1);
            } else if (instruction.op == Op::kSet &&
                       contains(regex_->sets()[instruction.a], characters_[i].begins_here)) {
                go_on(state, characters_[i].bytes);
            }
        }
        now.clear();
    }
    return end;
}

}  // namespace sardonyx::eval
