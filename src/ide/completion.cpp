#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include "elaborate/objects/type_text.h"
#include "ide/answers.h"
#include "ide/cursor.h"
#include "ide/meaning.h"
#include "ide/scripts.h"
#include "ops/signature.h"
#include "ops/substitute_table.h"
#include "ops/substitutes.h"
#include "syntax/visit.h"

namespace sardonyx::ide {
namespace {

// Of a tensor in a script.
constexpr std::string_view kTensorNames[] = {"shape", "dtype", "rank", "ndim",
                                             "size",  "T",     "mT",   "astype"};

// How often the file names each member: what it has used before is used again.
std::map<std::string_view, int> uses_of_operators(const Analysis& analysis) {
    std::map<std::string_view, int> used;
    const syntax::Tree& tree = analysis.module()->tree();
    auto visit = [&](const syntax::Expr* node) {
        const auto* member = syntax::maybe_as<syntax::AttributeExpr>(node);
        if (member != nullptr && member->name.valid()) {
            int& count = used[tree.names.text(member->name)];
            count = std::min(count + 1, 9999);
        }
    };
    syntax::each_expression(tree.body, visit);
    return used;
}

// The first operator of the opset that a text such as "write `op.Clip(x, low)`" names.
std::string_view operator_in(std::string_view text, const Analysis& analysis,
                             const elaborate::OpsetObject& opset) {
    constexpr std::string_view kBefore = "op.";
    for (size_t at = text.find(kBefore); at != std::string_view::npos;
         at = text.find(kBefore, at + 1)) {
        size_t begin = at + kBefore.size();
        size_t end = begin;
        while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) {
            ++end;
        }
        std::string_view name = text.substr(begin, end - begin);
        if (ops::find_schema(analysis.schemas(), opset.domain, name, opset.version) != nullptr) {
            return name;
        }
    }
    return {};
}

// Names of other libraries lead to the operators that do the same: those that begin with what is
// written, `masked_f` or `silu`, because there are as many as operators.
void add_substitutes(const Analysis& analysis, const elaborate::OpsetObject& opset,
                     std::string_view word, std::vector<Item>& items) {
    std::string plain;
    for (char c : word) {
        if (c != '_') {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    if (!opset.domain.empty() || plain.empty()) {
        return;
    }
    auto add = [&](std::string_view name, std::string_view leads_to, std::string_view text) {
        items.push_back({std::string(name), ItemKind::kOperator, std::string(text),
                         std::string(leads_to), fmt::format("3{}", name), std::string(word)});
    };
    for (const ops::Substitute& one : ops::substitutes()) {
        std::string_view leads_to = one.name.substr(0, plain.size()) == plain
                                        ? operator_in(one.text, analysis, opset)
                                        : std::string_view();
        if (!leads_to.empty()) {
            add(one.name, leads_to, one.text);
        }
    }
    std::string_view like =
        word.find('_') == std::string_view::npos ? std::string_view() : ops::operator_like(word);
    bool is_here = !like.empty() && ops::find_schema(analysis.schemas(), opset.domain, like,
                                                     opset.version) != nullptr;
    if (is_here) {
        add(word, like, fmt::format("`op.{}`", like));
    }
}

// All operators of an opset: those that the file uses first, those that are deprecated last.
void add_operators(const Analysis& analysis, const elaborate::OpsetObject& opset,
                   std::vector<Item>& items) {
    std::map<std::string_view, int> used = uses_of_operators(analysis);
    auto add = [&](const ops::Schema& schema) {
        Item item{std::string(schema.name),
                  ItemKind::kOperator,
                  ops::shown_signature(schema),
                  std::string(schema.name),
                  {},
                  {},
                  schema.is_deprecated,
                  opset.domain,
                  opset.version};
        auto uses = used.find(schema.name);
        item.order = schema.is_deprecated ? fmt::format("2{}", schema.name)
                     : uses != used.end()
                         ? fmt::format("0{:04}{}", 9999 - uses->second, schema.name)
                         : fmt::format("1{}", schema.name);
        items.push_back(std::move(item));
    };
    for (const ops::Schema* schema : ops::operators_in_force(opset.domain, opset.version)) {
        add(*schema);
    }
    for (const auto& entry : analysis.schemas()->entries()) {
        if (entry->schema.domain == opset.domain && entry->schema.since_version <= opset.version) {
            add(entry->schema);
        }
    }
}

// What a class or an instance has; names that begin with `_` where one is begun.
void add_members_of(const Analysis& analysis, const Cursor& cursor, const Meaning& of,
                    std::vector<Item>& items) {
    for (const KnownMember& one : members_of(analysis, of)) {
        std::string name(one.member.binding.name);
        bool is_hidden = name[0] == '_' && cursor.word.substr(0, 1) != "_";
        std::optional<Meaning> found = is_hidden ? std::nullopt : member_of(analysis, of, name);
        if (!found) {
            continue;
        }
        std::optional<ShownScript> call =
            found->kind == MeaningKind::kFunction ? shown_call(analysis, *found) : std::nullopt;
        std::string detail = found->object ? elaborate::type_text(*found->object) : "";
        if (call) {
            for (const ops::ShownParameter& parameter : call->parameters) {
                detail += (detail.empty() ? "" : ", ") + parameter.text;
            }
            detail = fmt::format("({}){}", detail, call->result);
        }
        items.push_back({name, call ? ItemKind::kFunction : ItemKind::kMember, std::move(detail),
                         name, fmt::format("{}{}", name[0] == '_' ? 2 : 1, name)});
    }
}

// What another file of scripts has.
void add_names_of_file(elaborate::Environment& file, std::vector<Item>& items) {
    for (const std::string& name : file.names()) {
        std::optional<elaborate::Object> object = file.known(name);
        bool is_function = object && (object->is(elaborate::ObjectKind::kScript) ||
                                      object->is(elaborate::ObjectKind::kClosure));
        items.push_back({name, is_function ? ItemKind::kFunction : ItemKind::kVariable,
                         object ? elaborate::type_text(*object) : "", name, name});
    }
}

void add_members(const Analysis& analysis, const Cursor& cursor, std::vector<Item>& items) {
    std::optional<Meaning> of =
        cursor.base.empty() ? std::nullopt : meaning(analysis, cursor.base, cursor.replaced.begin);
    if (of && (of->kind == MeaningKind::kClass || of->kind == MeaningKind::kInstance)) {
        add_members_of(analysis, cursor, *of, items);
        return;
    }
    if (of && of->kind == MeaningKind::kFile) {
        add_names_of_file(*of->environment, items);
        return;
    }
    if (std::optional<elaborate::OpsetObject> opset = analysis.opset(cursor.base)) {
        add_operators(analysis, *opset, items);
        add_substitutes(analysis, *opset, cursor.word, items);
        return;
    }
    for (const KnownType& one : analysis.types()) {
        std::string_view name =
            analysis.text().substr(one.range.begin, one.range.end - one.range.begin);
        if (name.substr(0, name.find_first_of(" :=")) == cursor.base && !cursor.base.empty()) {
            for (std::string_view member : kTensorNames) {
                items.push_back({std::string(member),
                                 ItemKind::kMember,
                                 {},
                                 std::string(member),
                                 std::string(member)});
            }
            return;
        }
    }
}

// Texts as they stand behind `keyword=` or in a bracket: in quotes where there are none yet.
void add_texts(const std::set<std::string, std::less<>>& texts, const Cursor& cursor,
               std::string_view detail, std::vector<Item>& items) {
    for (const std::string& one : texts) {
        std::string text = cursor.is_string ? one : fmt::format("\"{}\"", one);
        items.push_back(
            {text, ItemKind::kWord, std::string(detail), text, fmt::format("0{}", one)});
    }
}

// The names of dimensions that the annotations of the file have.
void add_dimensions(const Analysis& analysis, const Cursor& cursor, std::vector<Item>& items) {
    std::set<std::string, std::less<>> names;
    for (const NameToken& one : name_tokens(analysis)) {
        if (one.role == NameRole::kTypeParameter && one.range.end - one.range.begin > 2) {
            bool is_cursors =
                one.range.begin < cursor.replaced.end && cursor.replaced.end <= one.range.end;
            std::string_view text =
                analysis.text().substr(one.range.begin + 1, one.range.end - one.range.begin - 2);
            if (!is_cursors && text.find_first_of("\"'\\\n") == std::string_view::npos) {
                names.emplace(text);
            }
        }
    }
    add_texts(names, cursor, "dimension", items);
}

// The domains of the standard and of schema files, in `Opset("`.
void add_domains(const Analysis& analysis, const Cursor& cursor, std::vector<Item>& items) {
    std::set<std::string, std::less<>> names;
    for (const ops::DomainInfo& domain : ops::domains()) {
        names.emplace(domain.domain);
    }
    for (const auto& entry : analysis.schemas()->entries()) {
        names.emplace(entry->schema.domain);
    }
    names.erase("");
    add_texts(names, cursor, "domain", items);
}

// Element types that the file has, where an attribute is one: `to=FLOAT.dtype`.
void add_element_types(const Analysis& analysis, std::vector<Item>& items) {
    for (const std::string& name : analysis.module()->names()) {
        std::optional<elaborate::Object> object = analysis.module()->known(name);
        if (object && object->is(elaborate::ObjectKind::kType)) {
            std::string text = name + ".dtype";
            items.push_back({text, ItemKind::kWord, "element type", text, "0" + name});
        }
    }
}

bool is_element_type(std::string_view attribute) {
    constexpr std::string_view kNames[] = {"to", "dtype", "output_dtype"};
    return std::find(std::begin(kNames), std::end(kNames), attribute) != std::end(kNames);
}

// The words of the enumeration that stands behind `keyword=`, in quotes where there are none yet.
void add_words(const ops::Schema& schema, const Cursor& cursor, std::vector<Item>& items) {
    const ops::AttributeSchema* attribute = schema.find_attribute(cursor.call->keyword);
    if (attribute == nullptr) {
        return;
    }
    for (std::string_view word : attribute->enumeration) {
        std::string order = fmt::format("0{:03}", items.size());
        std::string text = cursor.is_string ? std::string(word) : fmt::format("\"{}\"", word);
        items.push_back({text, ItemKind::kWord, {}, text, order});
    }
}

// Those parameters of a script that a keyword may still name.
std::vector<ops::ShownParameter> open_parameters(const ShownScript& script, const OpenCall& call) {
    std::vector<ops::ShownParameter> open;
    size_t by_place = call.argument - std::min<size_t>(call.given.size(), call.argument);
    for (const ops::ShownParameter& one : script.parameters) {
        if (one.text == "/") {
            open.clear();
        } else if (by_place > 0 && !one.is_attribute && !one.name.empty()) {
            by_place -= one.is_variadic ? by_place : 1;
        } else if (!one.name.empty() && one.text[0] != '*') {
            open.push_back(one);
        }
    }
    return open;
}

// The attributes of an operator, and the parameters of a script, that are not given yet.
void add_keywords(const Analysis& analysis, const ops::Schema* schema, const Cursor& cursor,
                  std::vector<Item>& items) {
    const OpenCall& call = *cursor.call;
    std::vector<ops::ShownParameter> parameters;
    if (schema != nullptr) {
        parameters = ops::shown_parameters(*schema);
        std::erase_if(parameters, [](const auto& one) { return !one.is_attribute; });
    } else if (std::optional<ShownScript> script =
                   shown_call(analysis, names_of(call), cursor.replaced.begin)) {
        parameters = open_parameters(*script, call);
    }
    for (const ops::ShownParameter& one : parameters) {
        if (std::find(call.given.begin(), call.given.end(), one.name) == call.given.end()) {
            items.push_back({fmt::format("{}=", one.name), ItemKind::kAttribute, one.text,
                             fmt::format("{}=", one.name), fmt::format("0{:03}", items.size())});
        }
    }
}

// What the package has for `from sardonyx import`: opsets, the newest first, and element types.
void add_exports(std::vector<Item>& items) {
    auto add = [&items](std::string name, std::string order) {
        items.push_back({name, ItemKind::kVariable, {}, name, std::move(order)});
    };
    for (const char* name : {"script", "graph"}) {
        add(name, "0");
    }
    for (const ops::DomainInfo& domain : ops::domains()) {
        std::string infix = domain.domain.empty() ? "" : fmt::format("_{}", domain.domain);
        std::replace(infix.begin(), infix.end(), '.', '_');
        for (int64_t version = domain.newest_version; version >= 1; --version) {
            add(fmt::format("opset{}{}", infix, version),
                fmt::format("2{}{:03}", infix, 999 - version));
        }
    }
    for (int number = 1; number < kElementTypeCount; ++number) {
        std::string_view type = name(element_type_from_number(number));
        add(std::string(type), fmt::format("1{:02}", number));
    }
}

// Parameters and variables of the functions and methods around the offset, by the text alone.
void add_locals(const Analysis& analysis, uint32_t offset,
                std::set<std::string, std::less<>>& known, std::vector<Item>& items) {
    const syntax::Tree& tree = analysis.module()->tree();
    size_t line = offset == 0 ? 0 : analysis.text().rfind('\n', offset - 1) + 1;
    auto add = [&](std::string_view name) {
        if (known.emplace(name).second) {
            items.push_back({std::string(name),
                             ItemKind::kVariable,
                             {},
                             std::string(name),
                             fmt::format("1~{}", name)});
        }
    };
    for (const Definition& one : around(tree, analysis.text(), offset)) {
        if (one.function == nullptr) {
            continue;
        }
        for (const syntax::Parameter& parameter : one.function->parameters->items) {
            add(tree.names.text(parameter.name));
        }
        for (const Binding& binding : bindings(tree, analysis.text(), one.function->body)) {
            if (binding.range.begin < line) {  // not that of the line which is being written
                add(binding.name);
            }
        }
    }
}

// Those whose types are known, in the functions and methods around the offset.
void add_typed_names(const Analysis& analysis, uint32_t offset,
                     std::set<std::string, std::less<>>& known, std::vector<Item>& items) {
    for (const Definition& outer : around(analysis.module()->tree(), analysis.text(), offset)) {
        for (const KnownType& one : analysis.types()) {
            std::string_view words =
                analysis.text().substr(one.range.begin, one.range.end - one.range.begin);
            std::string name(words.substr(0, words.find_first_of(" :=")));
            bool is_inside = outer.function != nullptr &&
                             outer.function->range.begin <= one.range.begin &&
                             one.range.end <= offset;
            if (is_inside && name != "return" && known.insert(name).second) {
                items.push_back({name, ItemKind::kVariable, one.text, name, "1" + name});
            }
        }
    }
}

// The names that are bound in the function around the offset, and those of the file.
void add_names(const Analysis& analysis, uint32_t offset, std::vector<Item>& items) {
    std::set<std::string, std::less<>> known;
    if (analysis.module() == nullptr) {
        return;
    }
    add_typed_names(analysis, offset, known, items);
    add_locals(analysis, offset, known, items);
    for (const std::string& name : analysis.module()->names()) {
        if (known.insert(name).second) {
            std::optional<elaborate::Object> object = analysis.module()->known(name);
            bool is_function = object && object->is(elaborate::ObjectKind::kScript);
            items.push_back({name, is_function ? ItemKind::kFunction : ItemKind::kVariable,
                             object ? elaborate::type_text(*object) : "", name, "2" + name});
        }
    }
}

}  // namespace

Completion complete(const Analysis& analysis, uint32_t offset) {
    Cursor cursor = look_at(analysis.text(), offset);
    Completion result{cursor.replaced, {}, false};
    if (cursor.is_comment) {
        return result;
    }
    if (cursor.module == "sardonyx" || cursor.module == "onnxscript") {
        add_exports(result.items);
        return result;
    }
    const ops::Schema* schema =
        cursor.call ? analysis.find_operator(cursor.call->base, cursor.call->name) : nullptr;
    if (cursor.is_member) {
        add_members(analysis, cursor, result.items);
        result.is_incomplete = true;  // what is begun decides which names of other libraries match
        return result;
    }
    if (schema != nullptr && !cursor.call->keyword.empty()) {
        add_words(*schema, cursor, result.items);
        if (is_element_type(cursor.call->keyword) && !cursor.is_string) {
            add_element_types(analysis, result.items);
        }
    }
    if (analysis.module() != nullptr && !cursor.subscript.empty()) {
        std::optional<elaborate::Object> object = analysis.module()->known(cursor.subscript);
        bool is_type = object && object->is(elaborate::ObjectKind::kType);
        if (is_type || cursor.subscript == "Annotated") {
            add_dimensions(analysis, cursor, result.items);
        }
    }
    if (analysis.module() != nullptr && cursor.call && cursor.call->base.empty() &&
        cursor.call->name == "Opset" && cursor.call->argument == 0) {
        add_domains(analysis, cursor, result.items);
    }
    if (cursor.is_string) {
        return result;
    }
    if (cursor.call && cursor.call->keyword.empty()) {
        add_keywords(analysis, schema, cursor, result.items);
    }
    add_names(analysis, offset, result.items);
    return result;
}

std::string documentation(const std::string& domain, const std::string& name, int64_t version) {
    const ops::Schema* schema = ops::find_schema(domain, name, version);
    return schema == nullptr ? std::string() : std::string(schema->doc);
}

}  // namespace sardonyx::ide
