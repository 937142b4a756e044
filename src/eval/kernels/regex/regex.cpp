#include "eval/kernels/regex/regex.h"

#include <algorithm>

#include <fmt/format.h>

#include "eval/kernels/regex/characters.h"
#include "eval/kernels/regex/regex_tree.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {
namespace {

// A text of n characters costs at most n times this many steps.
constexpr size_t kMaxProgram = 20'000;

bool contains(const CharacterSet& set, uint32_t c) {
    auto after = std::upper_bound(set.begin(), set.end(), c,
                                  [](uint32_t value, const std::pair<uint32_t, uint32_t>& range) {
                                      return value < range.first;
                                  });
    return after != set.begin() && c <= (after - 1)->second;
}

}  // namespace

// Turns the tree into the program; repetitions with counts are copied out.
class RegexCompiler {
  public:
    explicit RegexCompiler(RegexTree tree) : tree_(std::move(tree)) {}

    Result<Regex> compile() {
        SDX_TRY(emit(tree_.root));
        add({Regex::Op::kMatch});
        regex_.sets_ = std::move(tree_.sets);
        return std::move(regex_);
    }

  private:
    using Op = Regex::Op;

    uint32_t here() const { return static_cast<uint32_t>(regex_.program_.size()); }
    uint32_t add(Regex::Instruction instruction) {
        regex_.program_.push_back(instruction);
        return here() - 1;
    }

    // As deep as the tree, which the parser limits.
    Status emit(uint32_t index) {
        const RegexNode& node = tree_.nodes[index];
        // Each copy of a node counts, also of an empty one, which adds no instruction.
        if (++steps_ > kMaxProgram) {
            return Error{fmt::format("the pattern needs more than {} states", kMaxProgram)};
        }
        switch (node.kind) {
            case RegexNode::Kind::kEmpty:
                return {};
            case RegexNode::Kind::kSet:
                add({Op::kSet, node.set});
                return {};
            case RegexNode::Kind::kByte:
                add({Op::kByte});
                return {};
            case RegexNode::Kind::kAssertion:
                add({node.assertion, here() + 1});
                return {};
            case RegexNode::Kind::kSequence:
                for (uint32_t child : node.children) {
                    SDX_TRY(emit(child));
                }
                return {};
            case RegexNode::Kind::kChoice:
                return emit_choice(node);
            case RegexNode::Kind::kRepeat:
                return emit_repeat(node);
        }
        return {};
    }

    Status emit_choice(const RegexNode& node) {
        std::vector<uint32_t> jumps;
        for (size_t i = 0; i + 1 < node.children.size(); ++i) {
            uint32_t split = add({Op::kSplit, here() + 1});
            SDX_TRY(emit(node.children[i]));
            jumps.push_back(add({Op::kJump}));
            regex_.program_[split].b = here();
        }
        SDX_TRY(emit(node.children.back()));
        for (uint32_t jump : jumps) {
            regex_.program_[jump].a = here();
        }
        return {};
    }

    Status emit_repeat(const RegexNode& node) {
        uint32_t child = node.children[0];
        for (int32_t i = 0; i < node.minimum; ++i) {
            SDX_TRY(emit(child));
        }
        if (node.maximum < 0) {
            uint32_t split = add({Op::kSplit, here() + 1});
            SDX_TRY(emit(child));
            add({Op::kJump, split});
            regex_.program_[split].b = here();
            return {};
        }
        std::vector<uint32_t> splits;
        for (int32_t i = node.minimum; i < node.maximum; ++i) {
            splits.push_back(add({Op::kSplit, here() + 1}));
            SDX_TRY(emit(child));
        }
        for (uint32_t split : splits) {
            regex_.program_[split].b = here();
        }
        return {};
    }

    RegexTree tree_;
    Regex regex_;
    size_t steps_ = 0;
};

namespace {

// The states of the automaton between two characters.
class States {
  public:
    explicit States(size_t size) : marks_(size, 0) {}

    void clear() {
        ++round_;
        items_.clear();
    }
    // False: it was there already.
    bool add(uint32_t state) {
        if (marks_[state] == round_) {
            return false;
        }
        marks_[state] = round_;
        items_.push_back(state);
        return true;
    }
    const std::vector<uint32_t>& items() const { return items_; }

  private:
    std::vector<uint64_t> marks_;
    std::vector<uint32_t> items_;
    uint64_t round_ = 1;
};

// A byte of a text.
struct CharacterAt {
    uint32_t begins_here = kNoCharacter;
    uint32_t ends_here = kNoCharacter;
    size_t bytes = 1;  // of the character that begins here
};

std::vector<CharacterAt> characters_at(std::string_view text) {
    std::vector<CharacterAt> result(text.size());
    size_t at = 0;
    for (uint32_t c : code_points(text)) {
        size_t bytes = c < 0x80 || c == kNoCharacter ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        result[at].begins_here = c;
        result[at].bytes = bytes;
        result[at + bytes - 1].ends_here = c;
        at += bytes;
    }
    return result;
}

// What an assertion asks about: the characters around a place; the text's ends are kNoCharacter.
struct Place {
    uint32_t before = kNoCharacter;
    uint32_t after = kNoCharacter;
    bool is_start = false;
    bool is_end = false;

    bool admits(Regex::Op op) const {
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
};

// Adds a state and all that it reaches without a character.
void follow(const std::vector<Regex::Instruction>& program, uint32_t start, const Place& place,
            States* states, std::vector<uint32_t>* stack) {
    stack->push_back(start);
    while (!stack->empty()) {
        uint32_t state = stack->back();
        stack->pop_back();
        if (!states->add(state)) {
            continue;
        }
        const Regex::Instruction& instruction = program[state];
        if (instruction.op == Regex::Op::kSet || instruction.op == Regex::Op::kByte ||
            instruction.op == Regex::Op::kMatch || !place.admits(instruction.op)) {
            continue;
        }
        stack->push_back(instruction.a);
        if (instruction.op == Regex::Op::kSplit) {
            stack->push_back(instruction.b);
        }
    }
}

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
    SDX_ASSIGN(RegexTree tree, parse_regex(pattern));
    return RegexCompiler(std::move(tree)).compile();
}

// The states at each byte are reached from up to four bytes before: a character goes on behind its
// last byte, and `\C` to the next one, in whose place no character begins.
bool Regex::matches(std::string_view text) const {
    constexpr size_t kLongest = 4;  // bytes of a character
    std::vector<CharacterAt> characters = characters_at(text);
    size_t n = text.size();
    auto place_at = [&](size_t i) {
        return Place{i > 0 ? characters[i - 1].ends_here : kNoCharacter,
                     i < n ? characters[i].begins_here : kNoCharacter, i == 0, i == n};
    };
    // Of place i in states[i % size].
    std::vector<States> states(kLongest + 1, States(program_.size()));
    std::vector<uint32_t> stack;
    follow(program_, 0, place_at(0), states.data(), &stack);
    size_t last_reached = 0;
    for (size_t i = 0; i < n && i <= last_reached; ++i) {
        auto go_on = [&](uint32_t state, size_t bytes) {
            last_reached = std::max(last_reached, i + bytes);
            follow(program_, state + 1, place_at(i + bytes), &states[(i + bytes) % states.size()],
                   &stack);
        };
        States& now = states[i % states.size()];
        for (uint32_t state : now.items()) {
            const Instruction& instruction = program_[state];
            const CharacterAt& character = characters[i];
            if (instruction.op == Op::kByte) {
                go_on(state, 1);
            } else if (instruction.op == Op::kSet &&
                       contains(sets_[instruction.a], character.begins_here)) {
                go_on(state, character.bytes);
            }
        }
        now.clear();
    }
    const std::vector<uint32_t>& reached = states[n % states.size()].items();
    auto is_match = [&](uint32_t state) { return program_[state].op == Op::kMatch; };
    return std::any_of(reached.begin(), reached.end(), is_match);
}

}  // namespace sardonyx::eval
