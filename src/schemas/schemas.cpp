// The reader of schema files and of sections of settings. The only file that sees toml++, which is
// slow to compile.
#include "schemas/schemas.h"

#define TOML_EXCEPTIONS 0  // NOLINT(readability-identifier-naming): the library's own
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "base/nearest.h"
#include "schemas/diagnostics.h"
#include "schemas/toml_section.h"
#include "schemas/type_names.h"
#include "types/domain.h"

namespace sardonyx::schemas {
namespace {

// Of a file; and of a line, whose dotted keys are tables within tables.
constexpr size_t kMaxBytes = size_t{4} << 20U;
constexpr size_t kMaxLine = 4000;
constexpr size_t kMaxParameters = 1000;

using diagnostics::Diagnostic;
using diagnostics::Span;

// The byte of a position that counts code points, as toml++ does.
uint32_t offset_of(const diagnostics::Sources& sources, diagnostics::FileId file,
                   const toml::source_position& at) {
    std::string_view line = sources.line(file, at.line);
    uint32_t column = 1, i = 0;
    while (i < line.size() && column < at.column) {
        ++i;
        while (i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0U) == 0x80U) {
            ++i;
        }
        ++column;
    }
    size_t begin =
        line.data() == nullptr ? 0 : static_cast<size_t>(line.data() - sources.text(file).data());
    return static_cast<uint32_t>(begin) + i;
}

// One operator under construction.
struct Draft {
    std::vector<ops::TypeVariable> variables;
    std::vector<ops::Parameter> inputs, outputs;
    std::vector<ops::AttributeSchema> attributes;
    std::vector<int> shape_of;
};

class Reader {
  public:
    Reader(const diagnostics::Sources& sources, diagnostics::FileId file,
           diagnostics::Diagnostics& diagnostics, ops::SchemaSet& set)
        : sources_(sources), file_(file), diagnostics_(diagnostics), set_(set) {}

    void read_file(const toml::table& file) {
        check_keys(file, {"domain", "operator"});
        std::optional<std::string_view> domain = text_of(file, "domain");
        const toml::node* operators = file.get("operator");
        if (operators == nullptr) {
            fail(file, "there is no operator in this file")
                .with_help("describe each operator in a table `[[operator]]`");
            return;
        }
        const toml::array* list = operators->as_array();
        if (list == nullptr) {
            fail(*operators, "`operator` is one table").with_help("write `[[operator]]`");
            return;
        }
        for (const toml::node& one : *list) {
            if (const toml::table* table = one.as_table()) {
                read_operator(*table, domain.value_or(""));
            } else {
                fail(one, "an operator that is not a table").with_help("write `[[operator]]`");
            }
        }
    }

    Diagnostic& fail(const toml::source_region& at, std::string message) {
        Span span{file_, offset_of(sources_, file_, at.begin), offset_of(sources_, file_, at.end)};
        span.end = std::max(span.begin, span.end);
        return diagnostics_.report(kInvalidSchema, span, std::move(message));
    }
    Diagnostic& fail(const toml::node& at, std::string message) {
        return fail(at.source(), std::move(message));
    }

  private:
    // --- Parts of a table ------------------------------------------------------------------------

    void check_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
        std::vector<std::string_view> names(known);
        for (const auto& [key, node] : table) {
            if (std::find(names.begin(), names.end(), key.str()) != names.end()) {
                continue;
            }
            std::string_view near = nearest(key.str(), names);
            fail(key.source(), fmt::format("there is no key `{}` here", key.str()))
                .with_help(near.empty() ? fmt::format("the keys are `{}`", fmt::join(names, "`, `"))
                                        : fmt::format("did you mean `{}`?", near));
        }
    }

    std::optional<std::string_view> text_of(const toml::table& table, std::string_view key) {
        const toml::node* node = table.get(key);
        if (node == nullptr) {
            return std::nullopt;
        }
        if (const auto* text = node->as_string()) {
            return set_.arena().copy_text(text->get());
        }
        fail(*node, fmt::format("`{}` is not a string", key)).with_help("write it in quotes");
        return std::nullopt;
    }

    bool flag_of(const toml::table& table, std::string_view key) {
        const toml::node* node = table.get(key);
        if (node == nullptr) {
            return false;
        }
        if (const auto* flag = node->as_boolean()) {
            return flag->get();
        }
        fail(*node, fmt::format("`{}` is neither true nor false", key))
            .with_help("write `true` or `false`");
        return false;
    }

    int64_t number_of(const toml::table& table, std::string_view key, int64_t otherwise,
                      int64_t least, int64_t most) {
        const toml::node* node = table.get(key);
        if (node == nullptr) {
            return otherwise;
        }
        const auto* number = node->as_integer();
        if (number != nullptr && number->get() >= least && number->get() <= most) {
            return number->get();
        }
        fail(*node, fmt::format("`{}` is not an integer from {} to {}", key, least, most))
            .with_help("give such a number");
        return otherwise;
    }

    // --- Types -----------------------------------------------------------------------------------

    void read_types(const toml::table& table, Draft& draft) {
        const toml::node* node = table.get("types");
        const toml::table* types = node != nullptr ? node->as_table() : nullptr;
        if (node != nullptr && types == nullptr) {
            fail(*node, "`types` is not a table").with_help(R"(write `T = ["FLOAT", "DOUBLE"]`)");
        }
        if (types == nullptr) {
            return;
        }
        for (const auto& [key, value] : *types) {
            ops::TypeVariable variable{set_.arena().copy_text(key.str()), {}, {}};
            const toml::array* list = value.as_array();
            if (list == nullptr || list->empty()) {
                fail(value, fmt::format("`{}` is not a list of types", key.str()))
                    .with_help(R"(write `["FLOAT", "DOUBLE"]`)");
                continue;
            }
            for (const toml::node& item : *list) {
                const auto* text = item.as_string();
                if (text == nullptr || !add_type(text->get(), variable.types)) {
                    unknown_type(item, text != nullptr ? text->get() : "", {});
                }
            }
            draft.variables.push_back(variable);
        }
    }

    void unknown_type(const toml::node& at, std::string_view text,
                      const std::vector<ops::TypeVariable>& variables) {
        std::vector<std::string_view> names{"any"};
        for (const ops::TypeVariable& variable : variables) {
            names.push_back(variable.name);
        }
        for (int i = 1; i < kElementTypeCount; ++i) {
            names.push_back(name(static_cast<ElementType>(i)));
        }
        std::string_view near = nearest(text, names);
        fail(at, fmt::format("`{}` is not a type", text))
            .with_help(near.empty() ? "write an element type such as `FLOAT`, `Sequence[FLOAT]`, "
                                      "`any`, or the name of one of `types`"
                                    : fmt::format("did you mean `{}`?", near));
    }

    // The variable of a type; a fixed type has one of its own. -1, and a finding: there is none.
    int variable_of(const toml::table& table, Draft& draft) {
        std::optional<std::string_view> type = text_of(table, "type");
        if (!type) {
            if (!table.contains("type")) {
                fail(table, "a parameter without a type").with_help("write `type = \"FLOAT\"`");
            }
            return -1;
        }
        for (size_t i = 0; i < draft.variables.size(); ++i) {
            if (draft.variables[i].name == *type) {
                return static_cast<int>(i);
            }
        }
        ops::TypeVariable fixed{*type, {}, {}};
        if (!add_type(*type, fixed.types)) {
            unknown_type(*table.get("type"), *type, draft.variables);
            return -1;
        }
        draft.variables.push_back(fixed);
        return static_cast<int>(draft.variables.size() - 1);
    }

    // --- Inputs and outputs ----------------------------------------------------------------------

    const toml::array* list_of(const toml::table& table, std::string_view key) {
        const toml::node* node = table.get(key);
        const toml::array* list = node != nullptr ? node->as_array() : nullptr;
        if (node != nullptr && (list == nullptr || list->size() > kMaxParameters)) {
            fail(*node, fmt::format("`{}` is not a list, or too long", key))
                .with_help(R"(write `[{ name = "X", type = "FLOAT" }]`)");
            return nullptr;
        }
        return list;
    }

    enum class ListedAs : uint8_t { kInputs, kOutputs };

    void read_parameter(const toml::table& table, bool is_last, ListedAs side, Draft& draft) {
        bool is_output = side == ListedAs::kOutputs;
        if (is_output) {
            check_keys(table, {"name", "type", "optional", "variadic", "heterogeneous", "minimum",
                               "like"});
        } else {
            check_keys(table, {"name", "type", "optional", "variadic", "heterogeneous", "minimum"});
        }
        ops::Parameter made{};
        std::optional<std::string_view> name = text_of(table, "name");
        if (!name) {
            fail(table, "a parameter without a name").with_help("write `name = \"X\"`");
        }
        made.name = name.value_or("");
        bool is_variadic = flag_of(table, "variadic"), is_optional = flag_of(table, "optional");
        if (is_variadic && (is_optional || !is_last)) {
            fail(table, "a variadic parameter must be the last one, and the only one")
                .with_help("`minimum = 0` lets it be left out");
        }
        made.option = is_variadic   ? ops::ParameterOption::kVariadic
                      : is_optional ? ops::ParameterOption::kOptional
                                    : ops::ParameterOption::kSingle;
        made.is_homogeneous = !flag_of(table, "heterogeneous");
        made.minimum_count = static_cast<uint16_t>(number_of(table, "minimum", 1, 0, 1000));
        made.type_variable = static_cast<int16_t>(variable_of(table, draft));
        (is_output ? draft.outputs : draft.inputs).push_back(made);
        if (is_output) {
            draft.shape_of.push_back(shape_source(table, draft));
        }
    }

    int shape_source(const toml::table& table, const Draft& draft) {
        std::optional<std::string_view> like = text_of(table, "like");
        if (!like) {
            return -1;
        }
        std::vector<std::string_view> names;
        for (size_t i = 0; i < draft.inputs.size(); ++i) {
            if (draft.inputs[i].name == *like) {
                return static_cast<int>(i);
            }
            names.push_back(draft.inputs[i].name);
        }
        std::string_view near = nearest(*like, names);
        fail(*table.get("like"), fmt::format("there is no input `{}`", *like))
            .with_help(near.empty() ? "name the input whose shape this output has"
                                    : fmt::format("did you mean `{}`?", near));
        return -1;
    }

    void read_parameters(const toml::table& table, ListedAs side, Draft& draft) {
        const toml::array* list = list_of(table, side == ListedAs::kInputs ? "inputs" : "outputs");
        for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (const toml::table* one = (*list)[i].as_table()) {
                read_parameter(*one, i + 1 == list->size(), side, draft);
            } else {
                fail((*list)[i], "a parameter that is not a table")
                    .with_help(R"(write `{ name = "X", type = "FLOAT" }`)");
            }
        }
    }

    // --- Attributes ------------------------------------------------------------------------------

    template <typename T>
    std::optional<std::span<const T>> list_default(const toml::node& node) {
        const toml::array* list = node.as_array();
        if (list == nullptr) {
            return std::nullopt;
        }
        std::vector<T> values;
        for (const toml::node& item : *list) {
            if constexpr (std::is_same_v<T, std::string_view>) {
                const auto* text = item.as_string();
                if (text == nullptr) {
                    return std::nullopt;
                }
                values.push_back(set_.arena().copy_text(text->get()));
            } else {
                using Number = std::conditional_t<std::is_same_v<T, float>, double, T>;
                std::optional<Number> number = item.value<Number>();
                if (!number) {
                    return std::nullopt;
                }
                values.push_back(static_cast<T>(*number));
            }
        }
        return set_.arena().copy(values);
    }

    template <typename T>
    static bool put(std::optional<T> value, T& place) {
        if (value) {
            place = *value;
        }
        return value.has_value();
    }

    bool put_default(const toml::node& node, ops::AttributeSchema& made) {
        switch (made.type) {
            case ops::AttributeType::kInt:
                return node.is_integer() && put(node.value<int64_t>(), made.default_int);
            case ops::AttributeType::kFloat:
                made.default_float = static_cast<float>(node.value_or(0.0));
                return node.is_number();
            case ops::AttributeType::kString:
                if (const auto* text = node.as_string()) {
                    made.default_string = set_.arena().copy_text(text->get());
                    return true;
                }
                return false;
            case ops::AttributeType::kInts:
                return put(list_default<int64_t>(node), made.default_ints);
            case ops::AttributeType::kFloats:
                return put(list_default<float>(node), made.default_floats);
            case ops::AttributeType::kStrings:
                return put(list_default<std::string_view>(node), made.default_strings);
            default:
                return false;
        }
    }

    void read_attribute(std::string_view name, const toml::table& table, Draft& draft) {
        check_keys(table, {"type", "default", "required", "values"});
        ops::AttributeSchema made{};
        made.name = set_.arena().copy_text(name);
        std::optional<std::string_view> type_text = text_of(table, "type");
        std::optional<ops::AttributeType> type =
            type_text ? attribute_type(*type_text) : std::nullopt;
        if (!type) {
            std::string_view near = nearest(type_text.value_or(""), attribute_type_names());
            const toml::node* at = table.get("type");
            fail(at != nullptr ? *at : table,
                 fmt::format("`{}` is not a type of an attribute", type_text.value_or("")))
                .with_help(near.empty() ? fmt::format("write one of `{}`",
                                                      fmt::join(attribute_type_names(), "`, `"))
                                        : fmt::format("did you mean `{}`?", near));
            return;
        }
        made.type = *type;
        made.is_required = flag_of(table, "required");
        if (const toml::node* value = table.get("default")) {
            made.has_default = put_default(*value, made);
            if (!made.has_default || made.is_required) {
                fail(*value, made.is_required
                                 ? std::string("a default of an attribute that is required")
                                 : fmt::format("this default is not of the type {}", *type_text))
                    .with_help("remove it, or give another one");
            }
        }
        if (const toml::node* values = table.get("values")) {
            bool ok = *type == ops::AttributeType::kString &&
                      put(list_default<std::string_view>(*values), made.enumeration);
            if (!ok) {
                fail(*values, "`values` that is not a list of strings, or not of a string")
                    .with_help("list the strings that an attribute of type `string` takes");
            }
        }
        draft.attributes.push_back(made);
    }

    void read_attributes(const toml::table& table, Draft& draft) {
        const toml::node* node = table.get("attributes");
        const toml::table* attributes = node != nullptr ? node->as_table() : nullptr;
        if (node != nullptr && attributes == nullptr) {
            fail(*node, "`attributes` is not a table")
                .with_help("write `axis = { type = \"int\" }`");
        }
        if (attributes == nullptr) {
            return;
        }
        for (const auto& [key, value] : *attributes) {
            if (const toml::table* one = value.as_table()) {
                read_attribute(key.str(), *one, draft);
            } else {
                fail(value, fmt::format("the attribute `{}` is not a table", key.str()))
                    .with_help("write `{ type = \"int\" }`");
            }
        }
        std::sort(draft.attributes.begin(), draft.attributes.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
    }

    // --- Operators -------------------------------------------------------------------------------

    // The least and the greatest number of arguments.
    static std::pair<uint16_t, uint16_t> counts(const std::vector<ops::Parameter>& parameters) {
        size_t least = 0;
        bool is_open = false;
        for (size_t i = 0; i < parameters.size(); ++i) {
            is_open = parameters[i].option == ops::ParameterOption::kVariadic;
            least = is_open ? (parameters[i].minimum_count > 0 ? i + parameters[i].minimum_count
                                                               : least)
                    : parameters[i].option == ops::ParameterOption::kSingle ? i + 1
                                                                            : least;
        }
        return {static_cast<uint16_t>(least),
                is_open ? UINT16_MAX : static_cast<uint16_t>(parameters.size())};
    }

    void read_operator(const toml::table& table, std::string_view file_domain) {
        size_t errors = diagnostics_.error_count();
        check_keys(table, {"name", "domain", "since", "inputs", "outputs", "types", "attributes"});
        std::optional<std::string_view> name = text_of(table, "name");
        if (!name || name->empty()) {
            fail(table, "an operator without a name").with_help("write `name = \"MyOperator\"`");
            return;
        }
        ops::Schema schema{};
        schema.domain = text_of(table, "domain").value_or(file_domain);
        if (schema.domain.empty()) {
            fail(table, fmt::format("`{}` has no domain", *name))
                .with_help("write `domain = \"my.domain\"` here, or once at the top of the file");
        }
        schema.domain = normal_domain(schema.domain);
        schema.name = *name;
        schema.since_version = static_cast<int16_t>(number_of(table, "since", 1, 1, INT16_MAX));
        Draft draft;
        read_types(table, draft);
        read_parameters(table, ListedAs::kInputs, draft);
        read_parameters(table, ListedAs::kOutputs, draft);
        read_attributes(table, draft);
        std::tie(schema.minimum_inputs, schema.maximum_inputs) = counts(draft.inputs);
        std::tie(schema.minimum_outputs, schema.maximum_outputs) = counts(draft.outputs);
        Arena& arena = set_.arena();
        schema.inputs = arena.copy(draft.inputs);
        schema.outputs = arena.copy(draft.outputs);
        schema.attributes = arena.copy(draft.attributes);
        schema.type_variables = arena.copy(draft.variables);
        if (diagnostics_.error_count() == errors &&
            !set_.add({schema, std::move(draft.shape_of)})) {
            fail(table, fmt::format("version {} of `{}` is known already", schema.since_version,
                                    schema.name))
                .with_help("remove one of the two, or give another `since`");
        }
    }

    const diagnostics::Sources& sources_;
    diagnostics::FileId file_;
    diagnostics::Diagnostics& diagnostics_;
    ops::SchemaSet& set_;
};

// The first line that is too long; 0: none is.
uint32_t long_line(std::string_view text) {
    uint32_t line = 1;
    for (size_t begin = 0; begin < text.size(); ++line) {
        size_t end = std::min(text.find('\n', begin), text.size());
        if (end - begin > kMaxLine) {
            return line;
        }
        begin = end + 1;
    }
    return 0;
}

std::string place_of(const std::string& path, const toml::source_region& where) {
    return fmt::format("{}:{}:{}", path, where.begin.line, where.begin.column);
}

// Nothing: not strings alone.
std::optional<std::vector<std::string>> strings_of(const toml::array& list) {
    std::vector<std::string> texts;
    for (const toml::node& item : list) {
        const toml::value<std::string>* text = item.as_string();
        if (text == nullptr) {
            return std::nullopt;
        }
        texts.push_back(text->get());
    }
    return texts;
}

TomlEntry entry_of(const std::string& path, const toml::key& key, const toml::node& node) {
    TomlEntry entry{
        std::string(key.str()), {}, place_of(path, key.source()), place_of(path, node.source())};
    if (const toml::value<int64_t>* number = node.as_integer()) {
        entry.value = number->get();
    } else if (const toml::array* list = node.as_array()) {
        if (std::optional<std::vector<std::string>> texts = strings_of(*list)) {
            entry.value = std::move(*texts);
        }
    }
    return entry;
}

}  // namespace

Result<std::optional<std::vector<TomlEntry>>> read_tool_section(const std::string& path,
                                                                std::string_view name) {
    Result<std::string> text = read_file(path, kMaxBytes);
    SDX_TRY(text);
    if (uint32_t line = long_line(*text)) {
        return Error{fmt::format("{}:{}:1: a line of more than {} bytes", path, line, kMaxLine)};
    }
    toml::parse_result parsed = toml::parse(*text);
    if (!parsed) {
        return Error{fmt::format("{}: this is not valid TOML: {}",
                                 place_of(path, parsed.error().source()),
                                 parsed.error().description())};
    }
    toml::node_view<toml::node> section = parsed.table()["tool"][name];
    if (!section) {
        return std::optional<std::vector<TomlEntry>>();
    }
    const toml::table* table = section.as_table();
    if (table == nullptr) {
        return Error{fmt::format("{}: `tool.{}` is a table",
                                 place_of(path, section.node()->source()), name)};
    }
    std::vector<TomlEntry> entries;
    for (const auto& [key, node] : *table) {
        entries.push_back(entry_of(path, key, node));
    }
    return std::optional(std::move(entries));
}

void read_schemas(const diagnostics::Sources& sources, diagnostics::FileId file,
                  diagnostics::Diagnostics& diagnostics, ops::SchemaSet& set) {
    Reader reader(sources, file, diagnostics, set);
    std::string_view text = sources.text(file);
    if (uint32_t line = long_line(text)) {
        reader
            .fail({{line, 1}, {line, 2}, nullptr},
                  fmt::format("a line of more than {} bytes", kMaxLine))
            .with_help("write lists on several lines");
        return;
    }
    toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        reader
            .fail(parsed.error().source(),
                  fmt::format("this is not valid TOML: {}", parsed.error().description()))
            .with_help("see docs/schemas.md for the form of the file");
        return;
    }
    reader.read_file(parsed.table());
}

void load_schemas(const std::string& path, diagnostics::Sources& sources,
                  diagnostics::Diagnostics& diagnostics, ops::SchemaSet& set) {
    Result<std::string> text = read_file(path, kMaxBytes);
    if (!text.ok()) {
        diagnostics.report(kInvalidSchema, {}, text.error().message)
            .with_help("give the path of a schema file, as docs/schemas.md describes it");
        return;
    }
    read_schemas(sources, sources.add(path, std::move(*text)), diagnostics, set);
}

}  // namespace sardonyx::schemas
