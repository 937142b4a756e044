#include "torch/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

// The modules around a line, outermost first: their paths and classes; null: it stays where it is.
using Modules = std::vector<std::pair<std::string, std::string>>;

// As for models (models/outline.cpp).
constexpr size_t kLeastSaved = 6;  // lines that a function must save
constexpr size_t kLeastBlock = 3;  // lines of a block
constexpr size_t kIndent = 4;

// Python has letters beyond ASCII in names.
bool is_of_name(char c) {
    auto byte = static_cast<unsigned char>(c);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           byte >= 0x80;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A part of a line: a name that stands alone, a weight, or what is the same wherever it stands.
struct CodeToken {
    enum class Kind : uint8_t { kText, kName, kWeight };
    Kind kind = Kind::kText;
    std::string_view text;
};

size_t end_of_string(std::string_view text, size_t at) {
    char quote = text[at++];
    while (at < text.size() && text[at] != quote) {
        at += text[at] == '\\' ? 2 : 1;
    }
    return std::min(at + 1, text.size());
}

std::vector<CodeToken> tokens_of(std::string_view text) {
    std::vector<CodeToken> tokens;
    size_t at = 0;
    auto take = [&](size_t end, CodeToken::Kind kind) {
        tokens.push_back({kind, text.substr(at, end - at)});
        at = end;
    };
    while (at < text.size()) {
        char c = text[at];
        size_t end = at + 1;
        if (c == '"' || c == '\'') {
            take(end_of_string(text, at), CodeToken::Kind::kText);
            continue;
        }
        if (!is_of_name(c)) {
            take(end, CodeToken::Kind::kText);
            continue;
        }
        bool is_number = is_digit(c);
        while (end < text.size() &&
               (is_of_name(text[end]) ||
                (is_number && (text[end] == '.' || (text[end] == '-' && text[end - 1] == 'e'))))) {
            ++end;
        }
        auto after = [&](std::string_view what) { return text.substr(end, what.size()) == what; };
        bool is_member = at > 0 && text[at - 1] == '.';
        bool is_keyword = after("=") && !after("==");
        if (is_number || is_member || is_keyword) {
            take(end, CodeToken::Kind::kText);
        } else if (text.substr(at, end - at) == "w" && (after("[\"") || after("['"))) {
            take(std::min(end_of_string(text, end + 1) + 1, text.size()), CodeToken::Kind::kWeight);
        } else {
            take(end, CodeToken::Kind::kName);
        }
    }
    return tokens;
}

// A line of the form `name: type = expression`, or without a type.
struct Statement {
    std::string_view target;
    std::string_view type;  // with `: ` before it; empty: none
    std::vector<CodeToken> tokens;
};

// Modules of one class that stand for lines that follow each other.
struct Block {
    std::string_view path, of_class;
    size_t first = 0, end = 0;
    bool is_whole = true;  // the path stands nowhere else

    size_t size() const { return end - first; }
};

// What a block does, in names that do not depend on where it stands.
struct Meaning {
    std::string key;
    std::vector<CodeToken> given;           // what it reads from outside
    std::vector<std::string_view> results;  // what others read of it
};

class Outliner {
  public:
    Outliner(std::string_view text, const std::vector<const Modules*>& modules) {
        while (!text.empty()) {
            size_t end = std::min(text.find('\n'), text.size());
            lines_.push_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        modules_ = modules;
        modules_.resize(lines_.size());
        statements_.resize(lines_.size());
    }

    std::string outlined() {
        read();
        choose();
        return written();
    }

  private:
    size_t depth_of(size_t line) const {
        return std::min(lines_[line].find_first_not_of(' '), lines_[line].size()) / kIndent;
    }

    // The body of the script, which is the last function; functions in it are no values.
    void read() {
        while (script_ < lines_.size() && lines_[script_].substr(0, 8) != "@script(") {
            take_names(lines_[script_++]);
        }
        imported_ = taken_;
        for (size_t i = script_ + 1; i < lines_.size(); ++i) {
            std::string_view line = lines_[i];
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            bool is_inner = depth_of(i) == 1 && line.substr(0, 4) == "def ";
            take_names(is_inner ? line.substr(0, line.find('(')) : line);
            if (is_inner) {
                std::string_view name = line.substr(4, line.find('(') - 4);
                inner_.insert(name);
                while (i + 1 < lines_.size() && (lines_[i + 1].empty() || depth_of(i + 1) > 1)) {
                    ++i;
                }
                continue;
            }
            std::vector<CodeToken> tokens = tokens_of(line);
            bool has_form = depth_of(i) == 1 && tokens.size() > 2 &&
                            tokens[0].kind == CodeToken::Kind::kName && set_statement(i, line);
            for (size_t k = has_form ? 1 : 0; k < tokens.size(); ++k) {
                if (tokens[k].kind == CodeToken::Kind::kName) {
                    uses_[tokens[k].text].push_back(i);
                }
            }
        }
        read_parameters();
    }

    void take_names(std::string_view line) {
        for (const CodeToken& token : tokens_of(line)) {
            if (token.kind == CodeToken::Kind::kName) {
                taken_.insert(std::string(token.text));
            }
        }
    }

    bool set_statement(size_t i, std::string_view line) {
        size_t name = line.find_first_of(": "), equals = line.find(" = ");
        if (equals == std::string_view::npos || name > equals) {
            return false;
        }
        std::string_view type = line.substr(name, equals - name);
        if (!type.empty() && type[0] != ':') {
            return false;
        }
        statements_[i] = Statement{line.substr(0, name), type, tokens_of(line.substr(equals + 3))};
        values_.emplace(statements_[i]->target, i);
        return true;
    }

    void read_parameters() {
        if (script_ + 1 >= lines_.size()) {
            return;
        }
        int depth = 0;
        std::string_view before;  // spaces left out
        for (const CodeToken& token : tokens_of(lines_[script_ + 1])) {
            depth += token.text == "(" || token.text == "[" ? 1 : 0;
            depth -= token.text == ")" || token.text == "]" ? 1 : 0;
            bool is_first = before == "(" || before == ",";
            if (depth == 1 && is_first && token.kind == CodeToken::Kind::kName) {
                values_.emplace(token.text, script_ + 1);
            }
            before = token.text == " " ? before : token.text;
        }
    }

    // Where each module stands.
    std::vector<Block> blocks() const {
        std::map<std::string_view, Block> found;
        for (size_t i = 0; i < lines_.size(); ++i) {
            if (modules_[i] == nullptr || !statements_[i]) {
                continue;
            }
            for (const auto& [path, of_class] : *modules_[i]) {
                auto [entry, is_new] = found.insert({path, {path, of_class, i, i + 1}});
                Block& block = entry->second;
                if (!is_new) {
                    block.is_whole = block.is_whole && block.of_class == of_class && i <= block.end;
                    block.end = i + 1;
                }
            }
        }
        std::vector<Block> all;
        for (const auto& [path, block] : found) {
            if (!path.empty() && block.is_whole && block.size() >= kLeastBlock) {
                all.push_back(block);
            }
        }
        return all;
    }

    // Nothing: it uses what cannot be given to a function.
    std::optional<Meaning> meaning_of(const Block& block) const {
        Meaning meaning;
        std::unordered_map<std::string_view, std::string> names;
        size_t locals = 0;
        for (size_t i = block.first; i < block.end; ++i) {
            const Statement& statement = *statements_[i];
            for (const CodeToken& token : statement.tokens) {
                bool is_value =
                    token.kind == CodeToken::Kind::kName && values_.count(token.text) != 0;
                if (token.kind == CodeToken::Kind::kName && inner_.count(token.text) != 0) {
                    return std::nullopt;
                }
                std::string_view part = token.text;
                if (is_value || token.kind == CodeToken::Kind::kWeight) {
                    std::string& name = names[token.text];
                    if (name.empty()) {
                        name = fmt::format("\x02{}", meaning.given.size());
                        meaning.given.push_back(token);
                    }
                    part = name;
                }
                meaning.key += part;
                meaning.key += '\x01';
            }
            names[statement.target] = fmt::format("\x03{}", locals++);
            meaning.key += statement.type;
            bool is_read_outside = false;
            auto uses = uses_.find(statement.target);
            for (size_t use : uses != uses_.end() ? uses->second : std::vector<size_t>()) {
                is_read_outside = is_read_outside || use < block.first || use >= block.end;
            }
            if (is_read_outside) {
                meaning.results.push_back(statement.target);
            }
            meaning.key += is_read_outside ? "\nresult\n" : "\n";
        }
        meaning.key += block.of_class;
        return meaning.results.empty() ? std::nullopt : std::optional<Meaning>(std::move(meaning));
    }

    // The largest blocks first: those inside of them are in the function then.
    void choose() {
        struct Group {
            std::vector<std::pair<Block, Meaning>> members;
            size_t first = 0, size = 0, depth = 0;
        };
        std::map<std::string, Group> by_key;
        for (const Block& block : blocks()) {
            if (std::optional<Meaning> meaning = meaning_of(block)) {
                Group& group = by_key[meaning->key];
                group.members.emplace_back(block, std::move(*meaning));
            }
        }
        std::vector<Group> groups;
        for (auto& [key, group] : by_key) {
            std::sort(group.members.begin(), group.members.end(),
                      [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
            const Block& first = group.members[0].first;
            group.first = first.first;
            group.size = first.size();
            group.depth = first.path.size();
            groups.push_back(std::move(group));
        }
        std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
            return std::tuple(b.size, a.first, a.depth) < std::tuple(a.size, b.first, b.depth);
        });
        std::vector<bool> is_taken(lines_.size());
        for (Group& group : groups) {
            std::erase_if(group.members, [&](const auto& member) {
                return is_taken[member.first.first] || is_taken[member.first.end - 1];
            });
            if (group.members.size() < 2 || (group.members.size() - 1) * group.size < kLeastSaved) {
                continue;
            }
            for (const auto& [block, meaning] : group.members) {
                std::fill(is_taken.begin() + static_cast<std::ptrdiff_t>(block.first),
                          is_taken.begin() + static_cast<std::ptrdiff_t>(block.end), true);
            }
            add_function(group.members);
        }
    }

    static std::string plain(std::string_view text) {
        std::string name;
        for (char c : text) {
            name += is_of_name(c) && static_cast<unsigned char>(c) < 0x80 ? c : '_';
        }
        return name.empty() || is_digit(name[0]) ? "_" + name : name;
    }

    static std::string free_name(std::string name, std::unordered_set<std::string>& taken) {
        while (!is_free_name(name) || !taken.insert(name).second) {
            name += '_';
        }
        return name;
    }

    void add_function(const std::vector<std::pair<Block, Meaning>>& members) {
        const auto& [model, meaning] = members[0];
        std::string of_class(model.of_class.substr(model.of_class.rfind('.') + 1));
        std::string name = plain(of_class), base = name;
        for (int i = 2; taken_.count(name) != 0; ++i) {
            name = fmt::format("{}_{}", base, i);
        }
        name = free_name(name, taken_);

        std::unordered_set<std::string> used = imported_;
        used.insert(name);
        for (size_t i = model.first; i < model.end; ++i) {
            used.emplace(statements_[i]->target);
        }
        std::unordered_map<std::string_view, std::string> parameters;
        std::vector<std::string> order;
        for (const CodeToken& one : meaning.given) {
            std::string_view text = one.text;
            if (one.kind == CodeToken::Kind::kWeight) {
                text = text.substr(3, text.size() - 5);  // w["..."]
                std::string prefix = fmt::format("{}.", model.path);
                text.remove_prefix(text.substr(0, prefix.size()) == prefix ? prefix.size() : 0);
            }
            order.push_back(free_name(plain(text), used));
            parameters[one.text] = order.back();
        }
        std::string text = fmt::format("def {}({}):\n", name, fmt::join(order, ", "));
        for (size_t i = model.first; i < model.end; ++i) {
            const Statement& statement = *statements_[i];
            text += fmt::format("    {}{} = ", statement.target, statement.type);
            for (const CodeToken& token : statement.tokens) {
                auto parameter = parameters.find(token.text);
                bool is_given =
                    token.kind != CodeToken::Kind::kText && parameter != parameters.end();
                text += is_given ? std::string_view(parameter->second) : token.text;
            }
            text += '\n';
        }
        functions_[model.first] =
            text + fmt::format("    return {}\n", fmt::join(meaning.results, ", "));

        for (const auto& [block, of_block] : members) {
            std::vector<std::string_view> given;
            for (const CodeToken& one : of_block.given) {
                given.push_back(one.text);
            }
            std::string_view type;
            if (of_block.results.size() == 1) {
                type = statements_[values_.at(of_block.results[0])]->type;
            }
            calls_[block.first] = {
                fmt::format("    {}{} = {}({})", fmt::join(of_block.results, ", "), type, name,
                            fmt::join(given, ", ")),
                block.end};
        }
    }

    std::string written() const {
        std::string text;
        for (size_t i = 0; i < lines_.size();) {
            if (i == script_) {
                for (const auto& [first, function] : functions_) {
                    text += function + "\n\n";
                }
            }
            auto call = calls_.find(i);
            text += call != calls_.end() ? call->second.first : std::string(lines_[i]);
            text += '\n';
            i = call != calls_.end() ? call->second.second : i + 1;
        }
        return text;
    }

    std::vector<std::string_view> lines_;
    std::vector<const Modules*> modules_;
    std::vector<std::optional<Statement>> statements_;
    size_t script_ = 0;                                    // the line of its decorator
    std::unordered_map<std::string_view, size_t> values_;  // and the lines that make them
    std::unordered_map<std::string_view, std::vector<size_t>> uses_;
    std::unordered_set<std::string_view> inner_;
    std::unordered_set<std::string> taken_;     // names of the text
    std::unordered_set<std::string> imported_;  // those at its top level
    std::map<size_t, std::string> functions_;
    std::map<size_t, std::pair<std::string, size_t>> calls_;  // in place of lines up to another one
};

}  // namespace

std::string outline(const Script& script) {
    std::vector<const Modules*> modules;
    for (const Node* node : script.lines) {
        bool is_plain =
            node != nullptr && node->place != nullptr && space_of(node->target) != "hop";
        modules.push_back(is_plain ? &node->place->modules : nullptr);
    }
    return Outliner(script.text, modules).outlined();
}

}  // namespace sardonyx::torch
