#include "cli/run_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/nearest.h"
#include "cli/compilation.h"
#include "cli/inputs.h"
#include "cli/terminal.h"
#include "types/dim_names.h"
#include "types/numpy_names.h"

namespace sardonyx::cli {
namespace {

using eval::RuntimeValue;

const ir::Value* find_input(const ir::Graph& graph, std::string_view name) {
    auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                              [&](const ir::Value* input) { return input->name == name; });
    return found == graph.inputs.end() ? nullptr : *found;
}

Error unknown_input(const ir::Graph& graph, const std::string& name) {
    std::vector<std::string_view> names;
    std::string list;
    for (const ir::Value* input : graph.inputs) {
        names.push_back(input->name);
        list += fmt::format("{}`{}` ({})", list.empty() ? "" : ", ", input->name,
                            input->type.to_string());
    }
    std::string_view near = nearest(name, names);
    std::string advice = !near.empty()  ? fmt::format("did you mean `{}`?", near)
                         : list.empty() ? std::string("there are none")
                                        : "the inputs are " + list;
    return Error{fmt::format("there is no input `{}`; {}", name, advice)};
}

Error missing_inputs(const std::vector<const ir::Value*>& missing, std::string_view option) {
    std::string list;
    for (const ir::Value* input : missing) {
        list += fmt::format("{}`{}` ({})", list.empty() ? "" : ", ", input->name,
                            input->type.to_string());
    }
    return Error{fmt::format("no value for {}; write `{}{}=...`, or `--random` for random numbers",
                             list, option, missing[0]->name)};
}

// The sizes of --dim. Error: no number, or a name that no input has.
Result<RandomOptions> read_random(const ir::Graph& graph, const InputOptions& options) {
    RandomOptions random{options.seed, {}};
    std::set<std::string> names;
    for (const ir::Value* input : graph.inputs) {
        for (const Dim& dim : input->type.has_shape() ? input->type.shape() : Shape()) {
            std::vector<std::string> symbols = symbols_of(dim);
            names.insert(symbols.begin(), symbols.end());
        }
    }
    for (const auto& [name, text] : options.sizes) {
        int64_t size = -1;
        auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (failed != std::errc() || end != text.data() + text.size() || size < 0) {
            return Error{
                fmt::format("`--dim {}={}`: a size is an integer of 0 or more", name, text)};
        }
        if (names.count(name) == 0) {
            std::string list;
            for (const std::string& one : names) {
                list += fmt::format("{}`{}`", list.empty() ? "" : ", ", one);
            }
            return Error{fmt::format("no input has a dimension `{}`; {}", name,
                                     list.empty() ? "none has a name" : "there are " + list)};
        }
        random.sizes.emplace_back(name, size);
    }
    return random;
}

// Those of files of several inputs.
Result<void> add_files(const ir::Graph& graph, const InputOptions& options, NamedValues& values) {
    auto type_of = [&graph](std::string_view name) {
        const ir::Value* input = find_input(graph, name);
        return input == nullptr ? std::nullopt : std::optional<Type>(input->type);
    };
    for (const std::string& path : options.files) {
        auto read = read_input_file(path, type_of);
        SDX_TRY(read);
        for (auto& [name, value] : *read) {
            const ir::Value* input = find_input(graph, name);
            if (input == nullptr) {
                return Error{fmt::format("`{}`: {}", path, unknown_input(graph, name).message)};
            }
            bool is_twice = std::any_of(values.begin(), values.end(),
                                        [&](const auto& one) { return one.first == input->name; });
            if (is_twice) {
                return Error{fmt::format("`{}`: `{}` is given twice", path, name)};
            }
            values.emplace_back(input->name, std::move(value));
        }
    }
    return {};
}

bool is_fully_known(const Type& type) {
    return !type.is_tensor() ||
           (type.element_type() != ElementType::kUndefined && type.has_shape() &&
            std::all_of(type.shape().begin(), type.shape().end(),
                        [](const Dim& dim) { return dim.is_static(); }));
}

// The types of the given values for the inputs whose types are open. Error: a value contradicts
// what the script says of it.
Result<std::vector<std::pair<std::string, Type>>> types_of(const ir::Graph& graph,
                                                           const NamedValues& values) {
    std::vector<std::pair<std::string, Type>> types;
    for (const auto& [name, value] : values) {
        const Type& declared = find_input(graph, name)->type;
        if (!value.is_tensor() || (declared.is_known() && is_fully_known(declared))) {
            continue;
        }
        if (!merge(declared, value.tensor().type())) {
            return Error{fmt::format(
                "input `{}` is {}, but the script says {}{}", name, value.describe(),
                declared.to_string(),
                conversion_help(name, value.tensor().element_type(), declared.element_type()))};
        }
        types.emplace_back(name, value.tensor().type());
    }
    return types;
}

// Mistakes that values of the inputs would not settle.
bool has_own_mistakes(const diagnostics::Diagnostics& findings) {
    return std::any_of(findings.items().begin(), findings.items().end(),
                       [](const diagnostics::Diagnostic& one) {
                           return one.kind->severity == diagnostics::Severity::kError &&
                                  one.kind->code != "missing-input-type";
                       });
}

}  // namespace

Result<NamedValues> read_inputs(const ir::Graph& graph, const InputOptions& options) {
    NamedValues values;
    Result<RandomOptions> random = read_random(graph, options);
    SDX_TRY(random);
    for (const auto& [name, text] : options.inputs) {
        const ir::Value* input = find_input(graph, name);
        if (input == nullptr) {
            return unknown_input(graph, name);
        }
        Result<RuntimeValue> value = read_input(name, text, input->type, *random);
        SDX_TRY(value);
        values.emplace_back(input->name, std::move(*value));
    }
    SDX_TRY(add_files(graph, options, values));
    std::vector<const ir::Value*> missing;
    for (const ir::Value* input : graph.inputs) {
        bool is_given = std::any_of(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == input->name; });
        bool may_lack = input->is_initializer() || input->type.kind() == TypeKind::kOptional;
        if (is_given || may_lack) {
            continue;
        }
        if (!options.random) {
            missing.push_back(input);
            continue;
        }
        Result<RuntimeValue> value = random_input(std::string(input->name), input->type, *random);
        SDX_TRY(value);
        values.emplace_back(input->name, std::move(*value));
    }
    if (!missing.empty()) {
        return missing_inputs(missing, options.option);
    }
    return values;
}

ScriptRun prepare_script(driver::Request& request, const InputOptions& options) {
    ScriptRun ready;
    ready.compiled = driver::compile(request);
    driver::Compilation& compiled = ready.compiled;
    if (compiled.model == nullptr) {
        print_findings(compiled.sources(), compiled.findings());
        ready.status = failure_of(compiled);
        return ready;
    }
    Result<NamedValues> values = read_inputs(*compiled.model->graph, options);
    if (!values.ok()) {
        has_own_mistakes(compiled.findings())
            ? print_findings(compiled.sources(), compiled.findings())
            : print_error(values.error().message);
        return ready;
    }
    auto types = types_of(*compiled.model->graph, *values);
    if (!types.ok()) {
        print_error(types.error().message);
        return ready;
    }
    ready.values = std::move(*values);
    if (!types->empty()) {
        request.options.input_types = std::move(*types);
        ready.open = driver::compile_again(compiled, std::move(request.options));
    }
    print_findings(compiled.sources(), compiled.findings());
    ready.status = compiled.has_failed() ? kFailure : kSuccess;
    return ready;
}

}  // namespace sardonyx::cli
