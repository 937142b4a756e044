#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "elaborate/objects/type_text.h"
#include "ide/answers.h"
#include "ide/cursor.h"
#include "ops/signature.h"

namespace sardonyx::ide {
namespace {

// Of a tensor in a script.
constexpr std::string_view kTensorNames[] = {"shape", "dtype", "rank", "ndim",
                                             "size",  "T",     "mT",   "astype"};

// All operators of an opset, those that are deprecated last.
void add_operators(const Analysis& analysis, const elaborate::OpsetObject& opset,
                   std::vector<Item>& items) {
    auto add = [&](const ops::Schema& schema) {
        Item item{std::string(schema.name),
                  ItemKind::kOperator,
                  ops::shown_signature(schema),
                  std::string(schema.name),
                  {},
                  schema.is_deprecated,
                  opset.domain,
                  opset.version};
        item.order = fmt::format("{}{}", schema.is_deprecated ? 2 : 1, schema.name);
        items.push_back(std::move(item));
    };
    std::string_view last;
    for (const ops::Schema& schema : ops::schemas()) {
        bool is_new = schema.name != last && schema.domain == opset.domain;
        const ops::Schema* found =
            is_new ? ops::find_schema(opset.domain, schema.name, opset.version) : nullptr;
        if (found != nullptr) {
            last = schema.name;
            add(*found);
        }
    }
    for (const auto& entry : analysis.schemas()->entries()) {
        if (entry->schema.domain == opset.domain && entry->schema.since_version <= opset.version) {
            add(entry->schema);
        }
    }
}

void add_members(const Analysis& analysis, const Cursor& cursor, std::vector<Item>& items) {
    if (std::optional<elaborate::OpsetObject> opset = analysis.opset(cursor.base)) {
        add_operators(analysis, *opset, items);
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

void add_attributes(const ops::Schema& schema, const OpenCall& call, std::vector<Item>& items) {
    for (const ops::ShownParameter& one : ops::shown_parameters(schema)) {
        bool is_given =
            std::find(call.given.begin(), call.given.end(), one.name) != call.given.end();
        if (one.is_attribute && !is_given) {
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

// The names that are bound in the function around the offset, and those of the file.
void add_names(const Analysis& analysis, uint32_t offset, std::vector<Item>& items) {
    std::set<std::string, std::less<>> known;
    for (const Symbol& function : symbols(analysis)) {
        if (function.range.begin > offset || offset > function.range.end + 1) {
            continue;
        }
        for (const KnownType& one : analysis.types()) {
            std::string_view words =
                analysis.text().substr(one.range.begin, one.range.end - one.range.begin);
            std::string name(words.substr(0, words.find_first_of(" :=")));
            bool is_inside = function.range.begin <= one.range.begin && one.range.end <= offset;
            if (is_inside && name != "return" && known.insert(name).second) {
                items.push_back({name, ItemKind::kVariable, one.text, name, "1" + name});
            }
        }
    }
    if (analysis.module() == nullptr) {
        return;
    }
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
    Completion result{cursor.replaced, {}};
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
        return result;
    }
    if (schema != nullptr && !cursor.call->keyword.empty()) {
        add_words(*schema, cursor, result.items);
    }
    if (cursor.is_string) {
        return result;
    }
    if (schema != nullptr && cursor.call->keyword.empty()) {
        add_attributes(*schema, *cursor.call, result.items);
    }
    add_names(analysis, offset, result.items);
    return result;
}

std::string documentation(const std::string& domain, const std::string& name, int64_t version) {
    const ops::Schema* schema = ops::find_schema(domain, name, version);
    return schema == nullptr ? std::string() : std::string(schema->doc);
}

}  // namespace sardonyx::ide
