#include "eval/kernels/regex/regex.h"

#include <fmt/format.h>

#include "eval/kernels/regex/regex_search.h"
#include "eval/kernels/regex/regex_tree.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {
namespace {

// A text of n characters costs at most n times this many steps.
constexpr size_t kMaxProgram = 20'000;

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

Result<Regex> Regex::compile(std::string_view pattern) {
    SDX_ASSIGN(RegexTree tree, parse_regex(pattern));
    return RegexCompiler(std::move(tree)).compile();
}

bool Regex::matches(std::string_view text) const {
    RegexSearch search(*this);
    search.read(text);
    return search.longest_at(0) == text.size();
}

}  // namespace sardonyx::eval
