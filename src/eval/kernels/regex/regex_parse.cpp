// The parser of regular expressions, by recursive descent:
//   choice    <- sequence ("|" sequence)*
//   sequence  <- repeated*
//   repeated  <- atom ("*" | "+" | "?" | "{n,m}")* with "?" behind each, which changes nothing here
//   atom      <- character | class | assertion | group
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "eval/kernels/regex/characters.h"
#include "eval/kernels/regex/regex_tree.h"
#include "eval/kernels/regex/unicode.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {
namespace {

constexpr int kMaxGroupDepth = 200;
constexpr int32_t kMaxRepeat = 1000;
constexpr int kMaxUnicodeClasses = 1000;  // of hundreds of ranges each
constexpr uint32_t kLastCharacter = 0x10ffff;

struct NamedSet {
    std::string_view name;
    CharacterSet set;
};

// https://github.com/google/re2/wiki/Syntax, "ASCII character classes" and "Perl character classes"
const NamedSet kNamedSets[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", {{0, 0x7f}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}}},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
    {"digit", {{'0', '9'}}},
    {"graph", {{'!', '~'}}},
    {"lower", {{'a', 'z'}}},
    {"print", {{' ', '~'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}}},
    {"upper", {{'A', 'Z'}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
    {"d", {{'0', '9'}}},
    {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
    {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
};

const CharacterSet* find_set(std::string_view name) {
    const auto* found = std::find_if(std::begin(kNamedSets), std::end(kNamedSets),
                                     [&](const NamedSet& named) { return named.name == name; });
    return found == std::end(kNamedSets) ? nullptr : &found->set;
}

CharacterSet sorted(CharacterSet set) {
    std::sort(set.begin(), set.end());
    CharacterSet merged;
    for (auto [first, last] : set) {
        if (!merged.empty() && first <= merged.back().second + 1) {
            merged.back().second = std::max(merged.back().second, last);
        } else {
            merged.emplace_back(first, last);
        }
    }
    return merged;
}

CharacterSet complement(const CharacterSet& set) {
    CharacterSet result;
    uint32_t next = 0;
    for (auto [first, last] : sorted(set)) {
        if (first > next) {
            result.emplace_back(next, first - 1);
        }
        next = last + 1;
    }
    if (next <= kLastCharacter) {
        result.emplace_back(next, kLastCharacter);
    }
    return result;
}

// Every letter with those that differ from it in case alone, by code point: what Unicode's
// CaseFolding.txt folds to one code point, as `s`, `S` and the long `\u017f`.
const std::vector<std::pair<uint32_t, uint32_t>>& case_pairs() {
    static const auto pairs = [] {
        constexpr uint32_t kLastCased = 0x1e943;  // the end of the Adlam block
        // The two letters i of Turkish have `I` and `i` as their other case, but do not fold.
        constexpr uint32_t kDottedI = 0x130, kDotlessI = 0x131;
        std::map<uint32_t, std::set<uint32_t>> equals;
        for (uint32_t c = 0; c <= kLastCased; ++c) {
            bool folds = c != kDottedI && c != kDotlessI;
            uint32_t folded = folds ? lower_case(upper_case(c)) : c;
            if (folded != c) {
                equals[folded].insert({c, folded});
            }
        }
        std::vector<std::pair<uint32_t, uint32_t>> result;
        for (const auto& [folded, letters] : equals) {
            for (uint32_t c : letters) {
                for (uint32_t other : letters) {
                    if (other != c) {
                        result.emplace_back(c, other);
                    }
                }
            }
        }
        std::sort(result.begin(), result.end());
        return result;
    }();
    return pairs;
}

// With the other case of each letter.
CharacterSet folded(const CharacterSet& set) {
    CharacterSet result = set;
    const auto& pairs = case_pairs();
    for (auto [first, last] : set) {
        auto at = std::lower_bound(pairs.begin(), pairs.end(), std::pair(first, uint32_t{0}));
        for (; at != pairs.end() && at->first <= last; ++at) {
            result.emplace_back(at->second, at->second);
        }
    }
    return sorted(std::move(result));
}

// A general category, such as "Lu", a group of them, such as "L", or a script, such as "Greek";
// empty: there is none of the name. "Any" is every character.
CharacterSet unicode_class(std::string_view name) {
    if (name == "Any") {
        return {{0, kLastCharacter}};
    }
    CharacterSet result;
    if (!name.empty()) {
        for (const UnicodeRun& run : category_runs()) {
            if (run.name.substr(0, name.size()) == name) {
                result.emplace_back(run.first, run.last);
            }
        }
        for (const UnicodeRun& run : script_runs()) {
            if (run.name == name) {
                result.emplace_back(run.first, run.last);
            }
        }
    }
    return sorted(std::move(result));
}

struct Flags {
    bool folds_case = false;         // i
    bool has_lines = false;          // m: ^ and $ at lines
    bool dot_takes_newline = false;  // s
};

class Parser {
  public:
    explicit Parser(std::string_view pattern) : text_(code_points(pattern)) {}

    Result<RegexTree> parse() {
        if (std::find(text_.begin(), text_.end(), kNoCharacter) != text_.end()) {
            return Error{"the pattern is not UTF-8"};
        }
        for (size_t i = 1; i + 1 < text_.size(); ++i) {
            if (text_[i] == ':' && text_[i + 1] == ']') {
                last_name_end_ = i;
            }
        }
        SDX_ASSIGN(tree_.root, parse_choice(0));
        if (!at_end()) {
            return fail("an unmatched `)`");
        }
        return std::move(tree_);
    }

  private:
    using Node = RegexNode;

    bool at_end() const { return at_ == text_.size(); }
    bool sees(char c, size_t ahead = 0) const {
        return at_ + ahead < text_.size() && text_[at_ + ahead] == static_cast<uint32_t>(c);
    }
    bool take(char c) {
        bool is_there = sees(c);
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    bool take(std::string_view word) {
        for (size_t i = 0; i < word.size(); ++i) {
            if (!sees(word[i], i)) {
                return false;
            }
        }
        at_ += word.size();
        return true;
    }
    Error fail(std::string_view what) const {
        return Error{fmt::format("the pattern has {} at character {}", what, at_)};
    }
    uint32_t add(Node node) {
        tree_.nodes.push_back(std::move(node));
        return static_cast<uint32_t>(tree_.nodes.size() - 1);
    }
    uint32_t add_set(CharacterSet set) {
        tree_.sets.push_back(flags_.folds_case ? folded(sorted(std::move(set)))
                                               : sorted(std::move(set)));
        Node node{Node::Kind::kSet};
        node.set = static_cast<uint32_t>(tree_.sets.size() - 1);
        return add(std::move(node));
    }
    uint32_t add_assertion(Regex::Op op) { return add(Node{Node::Kind::kAssertion, op}); }

    Result<uint32_t> parse_choice(int depth) {
        Node choice{Node::Kind::kChoice};
        do {
            SDX_ASSIGN(uint32_t item, parse_sequence(depth));
            choice.children.push_back(item);
        } while (take('|'));
        return choice.children.size() == 1 ? choice.children[0] : add(std::move(choice));
    }

    Result<uint32_t> parse_sequence(int depth) {
        Node sequence{Node::Kind::kSequence};
        while (!at_end() && !sees('|') && !sees(')')) {
            if (take("\\Q")) {
                if (take_quoted(&sequence)) {
                    SDX_ASSIGN(sequence.children.back(), parse_repeats(sequence.children.back()));
                }
                continue;
            }
            SDX_ASSIGN(uint32_t item, parse_atom(depth));
            SDX_ASSIGN(item, parse_repeats(item));
            sequence.children.push_back(item);
        }
        return add(std::move(sequence));
    }

    // Up to \E, every character stands for itself; a repetition behind it is of the last one.
    // False: there is none.
    bool take_quoted(Node* sequence) {
        size_t before = sequence->children.size();
        while (!at_end() && !take("\\E")) {
            sequence->children.push_back(add_set({{text_[at_], text_[at_]}}));
            ++at_;
        }
        return sequence->children.size() > before;
    }

    Result<uint32_t> parse_repeats(uint32_t item) {
        for (int count = 0; !at_end(); ++count) {
            Node repeat{Node::Kind::kRepeat};
            size_t before = at_;
            if (take('*')) {
                repeat.maximum = -1;
            } else if (take('+')) {
                repeat.minimum = 1;
                repeat.maximum = -1;
            } else if (take('?')) {
                repeat.maximum = 1;
            } else if (!parse_counts(&repeat)) {
                return item;
            }
            if (repeat.minimum > kMaxRepeat || repeat.maximum > kMaxRepeat ||
                (repeat.maximum >= 0 && repeat.maximum < repeat.minimum) || count > 0) {
                at_ = before;
                return fail("a repetition that is not possible");
            }
            take('?');
            repeat.children.push_back(item);
            item = add(std::move(repeat));
        }
        return item;
    }

    // {n}, {n,} or {n,m}; anything else behind a brace is text.
    bool parse_counts(Node* repeat) {
        size_t before = at_;
        bool is_good = take('{') && parse_number(&repeat->minimum);
        repeat->maximum = repeat->minimum;
        if (is_good && take(',')) {
            repeat->maximum = -1;
            is_good = sees('}') || parse_number(&repeat->maximum);
        }
        if (!is_good || !take('}')) {
            at_ = before;
            return false;
        }
        return true;
    }

    bool parse_number(int32_t* number) {
        size_t before = at_;
        *number = 0;
        while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') {
            *number = std::min<int32_t>(kMaxRepeat + 1,
                                        *number * 10 + static_cast<int32_t>(text_[at_] - '0'));
            ++at_;
        }
        return at_ > before;
    }

    Result<uint32_t> parse_atom(int depth) {
        using Op = Regex::Op;
        if (take('(')) {
            return parse_group(depth + 1);
        }
        if (take('[')) {
            return parse_class();
        }
        if (take('.')) {
            CharacterSet newline{{'\n', '\n'}};
            return add_set(complement(flags_.dot_takes_newline ? CharacterSet() : newline));
        }
        if (take('^')) {
            return add_assertion(flags_.has_lines ? Op::kLineStart : Op::kTextStart);
        }
        if (take('$')) {
            return add_assertion(flags_.has_lines ? Op::kLineEnd : Op::kTextEnd);
        }
        if (sees('*') || sees('+') || sees('?')) {
            return fail("a repetition of nothing");
        }
        if (!sees('\\')) {
            uint32_t c = text_[at_++];
            return add_set({{c, c}});
        }
        if (take("\\C")) {
            return add(Node{Node::Kind::kByte});
        }
        for (auto [escape, op] : {std::pair{"\\A", Op::kTextStart},
                                  {"\\z", Op::kTextEnd},
                                  {"\\b", Op::kWordBoundary},
                                  {"\\B", Op::kNoWordBoundary}}) {
            if (take(std::string_view(escape))) {
                return add_assertion(op);
            }
        }
        SDX_ASSIGN(CharacterSet set, parse_escape());
        return add_set(std::move(set));
    }

    // Behind the parenthesis: (...), (?:...), (?P<name>...), (?<name>...), (?flags), (?flags:...).
    Result<uint32_t> parse_group(int depth) {
        if (depth > kMaxGroupDepth) {
            return fail("groups that are nested too deeply");
        }
        Flags outer = flags_;
        if (take('?')) {
            if (take("P<") || take('<')) {
                SDX_TRY(take_name());
            } else {
                SDX_TRY(take_flags());
                if (take(')')) {
                    return add(Node{});  // the flags hold on, to the end of the group around
                }
                if (!take(':')) {
                    return fail("a group of an unknown kind");
                }
            }
        }
        SDX_ASSIGN(uint32_t inside, parse_choice(depth));
        if (!take(')')) {
            return fail("a group without its `)`");
        }
        flags_ = outer;
        return inside;
    }

    Status take_name() {
        size_t before = at_;
        while (!at_end() && is_word_character(text_[at_])) {
            ++at_;
        }
        if (at_ == before || !take('>')) {
            return fail("an invalid group name");
        }
        return {};
    }

    Status take_flags() {
        bool value = true;
        while (!at_end() && !sees(':') && !sees(')')) {
            if (take('-')) {
                value = false;
            } else if (take('i')) {
                flags_.folds_case = value;
            } else if (take('m')) {
                flags_.has_lines = value;
            } else if (take('s')) {
                flags_.dot_takes_newline = value;
            } else if (!take('U')) {  // which of several matches is found does not matter here
                return fail("an unknown flag");
            }
        }
        return {};
    }

    Result<uint32_t> parse_class() {
        bool is_negated = take('^');
        CharacterSet set;
        for (bool is_first = true; is_first || !sees(']'); is_first = false) {
            if (at_end()) {
                return fail("a class without its `]`");
            }
            SDX_TRY(parse_class_item(&set));
        }
        take(']');
        if (flags_.folds_case) {
            set = folded(sorted(std::move(set)));
        }
        return add_set(is_negated ? complement(set) : std::move(set));
    }

    Status parse_class_item(CharacterSet* set) {
        // Without `:]` behind it, `[:` is two characters.
        if (at_ + 2 <= last_name_end_ && take("[:")) {
            return parse_named_class(set);
        }
        SDX_ASSIGN(CharacterSet first, parse_class_character());
        bool is_range = first.size() == 1 && first[0].first == first[0].second && sees('-') &&
                        !sees(']', 1) && at_ + 1 < text_.size();
        if (!is_range) {
            set->insert(set->end(), first.begin(), first.end());
            return {};
        }
        take('-');
        SDX_ASSIGN(CharacterSet last, parse_class_character());
        if (last.size() != 1 || last[0].first != last[0].second || last[0].first < first[0].first) {
            return fail("an invalid range");
        }
        set->emplace_back(first[0].first, last[0].first);
        return {};
    }

    Result<CharacterSet> parse_class_character() {
        if (sees('\\')) {
            return parse_escape();
        }
        uint32_t c = text_[at_++];
        return CharacterSet{{c, c}};
    }

    // Letters of the other case belong to both sets or to none.
    CharacterSet signed_set(CharacterSet set, bool is_negated) const {
        if (flags_.folds_case) {
            set = folded(sorted(std::move(set)));
        }
        return is_negated ? complement(set) : set;
    }

    // [:name:] or [:^name:]
    Status parse_named_class(CharacterSet* set) {
        bool is_negated = take('^');
        std::string name;
        while (!at_end() && text_[at_] < 0x80 && !sees(':')) {
            name.push_back(static_cast<char>(text_[at_++]));
        }
        const CharacterSet* found = name.size() > 1 ? find_set(name) : nullptr;
        if (found == nullptr || !take(":]")) {
            return fail("an unknown class name");
        }
        CharacterSet chosen = signed_set(*found, is_negated);
        set->insert(set->end(), chosen.begin(), chosen.end());
        return {};
    }

    // An escape that stands for characters.
    Result<CharacterSet> parse_escape() {
        take('\\');
        if (at_end()) {
            return fail("a `\\` with nothing after it");
        }
        uint32_t c = text_[at_++];
        std::string lower(1, c < 0x80 ? static_cast<char>(lower_case(c)) : '\0');
        if (c < 0x80 &&
            std::string_view("dDsSwW").find(static_cast<char>(c)) != std::string_view::npos) {
            const CharacterSet& set = *find_set(lower);
            return signed_set(set, c != static_cast<uint32_t>(lower[0]));
        }
        if (c == 'p' || c == 'P') {
            return parse_unicode_class(c == 'P');
        }
        constexpr std::string_view kLetters = "afnrtv";
        constexpr std::string_view kMeanings = "\a\f\n\r\t\v";
        size_t at = c < 0x80 ? kLetters.find(static_cast<char>(c)) : std::string_view::npos;
        if (at != std::string_view::npos) {
            c = static_cast<uint32_t>(kMeanings[at]);
        } else if (c == 'x') {
            SDX_ASSIGN(c, parse_hexadecimal());
        } else if (c >= '0' && c <= '7') {
            SDX_ASSIGN(c, parse_octal(c));
        } else if (is_word_character(c) && c != '_') {
            --at_;
            return fail("an escape that is not supported");
        }
        return CharacterSet{{c, c}};
    }

    // \pL, \p{Greek} or \p{^Greek}, behind the `p`.
    Result<CharacterSet> parse_unicode_class(bool is_negated) {
        std::string name;
        if (take('{')) {
            if (take('^')) {
                is_negated = !is_negated;
            }
            while (!at_end() && is_word_character(text_[at_])) {
                name.push_back(static_cast<char>(text_[at_++]));
            }
            if (!take('}')) {
                return fail("a Unicode class without its `}`");
            }
        } else if (!at_end() && is_word_character(text_[at_])) {
            name.push_back(static_cast<char>(text_[at_++]));
        }
        if (++unicode_classes_ > kMaxUnicodeClasses) {
            return fail(fmt::format("more than {} Unicode classes", kMaxUnicodeClasses));
        }
        CharacterSet found = unicode_class(name);
        if (found.empty()) {
            return fail(fmt::format(
                "the unknown Unicode class `{}` (known are `Any`, the general "
                "categories, such as `L`, `Lu`, `Nd`, and the scripts, such as `Greek`)",
                name));
        }
        return signed_set(std::move(found), is_negated);
    }

    // \123, or \0 alone; \1 alone would be a reference to a group.
    Result<uint32_t> parse_octal(uint32_t first) {
        uint32_t c = first - '0';
        int digits = 1;
        while (digits < 3 && !at_end() && text_[at_] >= '0' && text_[at_] <= '7') {
            c = c * 8 + (text_[at_++] - '0');
            ++digits;
        }
        if (first != '0' && digits == 1) {
            return fail("a reference to a group, which has no automaton,");
        }
        return c;
    }

    // \x7F or \x{10FFFF}
    Result<uint32_t> parse_hexadecimal() {
        bool is_braced = take('{');
        uint32_t c = 0;
        int digits = 0;
        for (; !at_end() && digits < (is_braced ? 8 : 2); ++digits) {
            uint32_t digit = lower_case(text_[at_]);
            bool is_letter = digit >= 'a' && digit <= 'f';
            if (!is_letter && (digit < '0' || digit > '9')) {
                break;
            }
            c = c * 16 + (is_letter ? digit - 'a' + 10 : digit - '0');
            ++at_;
        }
        if (digits == 0 || (is_braced ? !take('}') : digits != 2) || c > kLastCharacter) {
            return fail("an invalid hexadecimal escape");
        }
        return c;
    }

    std::vector<uint32_t> text_;
    size_t at_ = 0;
    size_t last_name_end_ = 0;  // where the last `:]` is; 0: there is none
    int unicode_classes_ = 0;
    Flags flags_;
    RegexTree tree_;
};

}  // namespace

bool is_word_character(uint32_t c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

Result<RegexTree> parse_regex(std::string_view pattern) {
    return Parser(pattern).parse();
}

}  // namespace sardonyx::eval
