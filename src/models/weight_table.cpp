#include "models/weight_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/json.h"
#include "diagnostics/glyphs.h"
#include "ir/equal.h"
#include "ir/sparse.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

std::vector<ir::Value*> stored_values(const ir::Model& model) {
    std::vector<ir::Value*> values;
    for_each_value(*model.graph, [&](ir::Value& value) {
        if (value.is_initializer() && (value.constant || value.sparse != nullptr)) {
            values.push_back(&value);
        }
    });
    return values;
}

int64_t stored_size(const Tensor& tensor) {
    bool is_text = !tensor.is_valid() || tensor.element_type() == ElementType::kString;
    return is_text ? 0 : static_cast<int64_t>(tensor.stored_bytes().size());
}

Error unknown_weight(std::string_view name, const std::vector<ir::Value*>& values) {
    std::vector<std::string_view> names;
    for (const ir::Value* value : values) {
        names.push_back(value->name);
    }
    return Error{fmt::format("there is no weight `{}`{}", name, did_you_mean(name, names))};
}

// Leaves those of the names, in their order; no names: all.
Result<void> choose(std::vector<ir::Value*>& values, const std::vector<std::string>& names) {
    std::vector<ir::Value*> chosen;
    for (const std::string& name : names) {
        auto found = std::find_if(values.begin(), values.end(),
                                  [&](const ir::Value* value) { return value->name == name; });
        if (found == values.end()) {
            return unknown_weight(name, values);
        }
        chosen.push_back(*found);
    }
    if (!names.empty()) {
        values = std::move(chosen);
    }
    return {};
}

}  // namespace

Result<std::vector<WeightRow>> list_weights(const ir::Model& model,
                                            const std::vector<std::string>& names,
                                            bool with_statistics) {
    if (model.graph == nullptr) {
        return Error{"the file has only functions, and no graph"};
    }
    std::vector<WeightRow> rows;
    std::vector<ir::Value*> values = stored_values(model);
    SDX_TRY(choose(values, names));
    for (const ir::Value* value : values) {
        WeightRow& row = rows.emplace_back();
        row.name = value->name;
        row.is_sparse = value->sparse != nullptr;
        Type type = row.is_sparse ? ir::dense_type(*value->sparse) : value->constant->type();
        row.type = type.to_string();
        row.elements = row.is_sparse ? element_count(value->sparse->dims).value_or(0)
                                     : value->constant->count();
        row.bytes = row.is_sparse
                        ? stored_size(value->sparse->values) + stored_size(value->sparse->indices)
                        : stored_size(*value->constant);
        for (const ir::Use* use = value->first_use(); use != nullptr; use = use->next) {
            ++row.reads;
        }
        if (with_statistics) {
            SDX_ASSIGN(Tensor tensor, ir::dense_tensor(*value));
            row.statistics = statistics(tensor);
        }
    }
    return rows;
}

std::string weights_text(const std::vector<WeightRow>& rows) {
    std::string text;
    for (const WeightRow& row : rows) {
        text += fmt::format("{}: {}, {}{} bytes, read {} time{}\n", diagnostics::visible(row.name),
                            row.type, row.is_sparse ? "sparse, " : "", row.bytes, row.reads,
                            row.reads == 1 ? "" : "s");
        if (row.statistics && row.statistics->has_numbers()) {
            text += fmt::format(
                "    {:g} to {:g}, mean {:g}, deviation {:g}, {} zero, {} NaN, {} "
                "infinite\n",
                row.statistics->least, row.statistics->greatest, row.statistics->mean,
                row.statistics->deviation, row.statistics->zero_count, row.statistics->nan_count,
                row.statistics->infinity_count);
        } else if (row.statistics && row.elements > 0) {
            text += fmt::format("    {} NaN, {} infinite\n", row.statistics->nan_count,
                                row.statistics->infinity_count);
        }
    }
    return text;
}

std::string weights_json(const std::vector<WeightRow>& rows) {
    JsonWriter json;
    json.begin_list();
    for (const WeightRow& row : rows) {
        json.begin_object()
            .member("name", row.name)
            .member("type", row.type)
            .member("elements", row.elements)
            .member("bytes", row.bytes)
            .member("reads", row.reads)
            .member("sparse", row.is_sparse);
        if (row.statistics) {
            bool has_numbers = row.statistics->has_numbers();
            auto number = [&](std::string_view name, double value) {
                json.key(name);
                has_numbers ? json.value(value) : json.null();
            };
            number("least", row.statistics->least);
            number("greatest", row.statistics->greatest);
            number("mean", row.statistics->mean);
            number("deviation", row.statistics->deviation);
            json.member("zeros", row.statistics->zero_count)
                .member("nans", row.statistics->nan_count)
                .member("infinities", row.statistics->infinity_count);
        }
        json.end_object();
    }
    return json.end_list().take();
}

Result<weights::NamedTensors> named_weights(const ir::Model& model,
                                            const std::vector<std::string>& names) {
    if (model.graph == nullptr) {
        return Error{"the file has only functions, and no graph"};
    }
    std::vector<ir::Value*> values = stored_values(model);
    SDX_TRY(choose(values, names));
    weights::NamedTensors tensors;
    for (const ir::Value* value : values) {
        SDX_ASSIGN(Tensor tensor, ir::dense_tensor(*value));
        tensors.emplace_back(std::string(value->name), std::move(tensor));
    }
    return tensors;
}

Result<std::vector<std::string>> replace_weights(ir::Model& model,
                                                 const weights::NamedTensors& tensors) {
    SDX_TRY(main_graph(model));
    std::vector<ir::Value*> values = stored_values(model);
    std::unordered_map<std::string_view, ir::Value*> known;
    for (ir::Value* value : values) {
        known.emplace(value->name, value);
    }
    std::vector<std::string> changed;
    for (const auto& [name, tensor] : tensors) {
        auto found = known.find(name);
        if (found == known.end()) {
            return unknown_weight(name, values);
        }
        SDX_ASSIGN(Tensor old, ir::dense_tensor(*found->second));
        if (old.element_type() != tensor.element_type() || old.dims() != tensor.dims()) {
            return Error{
                fmt::format("the weight `{}` is {}, but its replacement is {}: type and "
                            "shape must be the same",
                            name, old.type().to_string(), tensor.type().to_string())};
        }
        if (!ir::same_tensor(old, tensor)) {
            changed.push_back(name);
            found->second->sparse.reset();
            found->second->constant = tensor;
        }
    }
    return changed;
}

std::string changes_json(const std::vector<std::string>& names, size_t bytes) {
    JsonWriter json;
    json.begin_object().member("bytes", bytes).key("changed").begin_list();
    for (const std::string& name : names) {
        json.value(name);
    }
    return json.end_list().end_object().take();
}

}  // namespace sardonyx::models
