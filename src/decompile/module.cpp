#include "decompile/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "decompile/facts.h"
#include "ir/producer.h"
#include "ops/ops.h"
#include "types/domain.h"
#include "types/known_sizes.h"

namespace sardonyx::decompile {
namespace {

constexpr std::string_view kPackage = "sardonyx";

struct KnownOpset {
    std::string_view domain;
    std::string_view prefix;  // of its name in the package
    std::string_view alias;
};

constexpr KnownOpset kKnownOpsets[] = {
    {"", "opset", "op"},
    {"ai.onnx.ml", "opset_ai_onnx_ml", "ml"},
    {"ai.onnx.preview.training", "opset_ai_onnx_preview_training", "training"},
};

const KnownOpset* known_opset(std::string_view domain, int64_t version) {
    const ops::DomainInfo* info = ops::find_domain(domain);
    for (const KnownOpset& row : kKnownOpsets) {
        if (row.domain == domain && info != nullptr && version >= info->oldest_version &&
            version <= info->newest_version) {
            return &row;
        }
    }
    return nullptr;
}

std::string_view last_part(std::string_view domain) {
    return domain.substr(domain.rfind('.') + 1);
}

// The array types that NumPy has itself.
std::string_view numpy_type(ElementType type) {
    switch (type) {
        case ElementType::kFloat:
            return "np.float32";
        case ElementType::kDouble:
            return "np.float64";
        case ElementType::kFloat16:
            return "np.float16";
        case ElementType::kInt8:
            return "np.int8";
        case ElementType::kInt16:
            return "np.int16";
        case ElementType::kInt32:
            return "np.int32";
        case ElementType::kInt64:
            return "np.int64";
        case ElementType::kUint8:
            return "np.uint8";
        case ElementType::kUint16:
            return "np.uint16";
        case ElementType::kUint32:
            return "np.uint32";
        case ElementType::kUint64:
            return "np.uint64";
        case ElementType::kBool:
            return "np.bool_";
        default:
            return {};
    }
}

// Types that both the .safetensors format and its readers here have.
bool has_safetensors(ElementType type) {
    return !numpy_type(type).empty() || type == ElementType::kBfloat16;
}

Expression dims_list(const Dims& dims) {
    std::vector<Expression> items;
    for (int64_t dim : dims) {
        items.push_back(Expression::atom(fmt::to_string(dim)));
    }
    return Expression::list(std::move(items));
}

}  // namespace

// All names of opsets are given before those of values, which must not hide them.
void Module::name_opset(std::string_view domain, int64_t version) {
    domain = normal_domain(domain);
    auto [found, is_new] = opsets_.try_emplace({std::string(domain), version});
    if (!is_new) {
        return;
    }
    const KnownOpset* known = known_opset(domain, version);
    std::string wanted(known != nullptr ? known->alias : last_part(domain));
    if (known != nullptr && names_.is_free(wanted)) {
        names_.reserve(wanted);
    } else {
        wanted = names_.fresh(known != nullptr ? fmt::format("{}{}", wanted, version) : wanted,
                              "domain");
    }
    found->second.alias = std::move(wanted);
    has_one_opset_ = has_one_opset_ && (!domain.empty() || ++standard_opsets_ == 1);
}

std::string Module::opset(std::string_view domain, int64_t version) {
    domain = normal_domain(domain);
    Opset& opset = opsets_.at({std::string(domain), version});
    if (opset.is_imported) {
        return opset.alias;
    }
    opset.is_imported = true;
    if (const KnownOpset* known = known_opset(domain, version)) {
        import_from(kPackage, fmt::format("{}{} as {}", known->prefix, version, opset.alias));
        return opset.alias;
    }
    import_from("sardonyx.values", "Opset");
    Result<std::string> literal = string_literal(domain);
    assignments_.emplace_back(
        opset.alias, Expression::call("Opset", {Expression::atom(literal.ok() ? *literal : "\"\""),
                                                Expression::atom(fmt::to_string(version))}));
    return opset.alias;
}

Module::Module(const ir::Model& model, const Options& options) : model_(model), options_(options) {
    for (const ir::OpsetImport& import : model.opset_imports) {
        name_opset(import.domain, import.version);
    }
}

void Module::name_function(const ir::Function& function) {
    name_opset(function.domain, version_of(function));
    for (const ir::OpsetImport& import : function.opset_imports) {
        name_opset(import.domain, import.version);
    }
    functions_[&function] = names_.fresh(function.name, "function", 2 * kMostLetters);
}

int64_t Module::version_of(const ir::Function& function) const {
    return std::max<int64_t>(1, model_.opset_version(function.domain));
}

bool Module::is_storable(const Tensor& tensor, const ir::Value* initializer) const {
    if (options_.weights == Weights::kReference) {
        return initializer != nullptr && initializer->graph() == model_.graph &&
               initializer->producer() == nullptr && string_literal(initializer->name).ok();
    }
    return options_.weights == Weights::kFile && has_safetensors(tensor.element_type());
}

Result<Expression> Module::stored(const Tensor& tensor, const ir::Value* initializer,
                                  std::string_view hint) {
    auto [found, is_new] = stored_.try_emplace(initializer);
    if (initializer == nullptr || is_new) {
        std::string name(initializer != nullptr ? initializer->name : hint);
        if (!string_literal(name).ok() || name.empty()) {
            name = "tensor";
        }
        std::string unique = name;
        while (!weight_names_.try_emplace(unique, 0).second) {
            unique = fmt::format("{}_{}", name, ++weight_names_[name]);
        }
        if (options_.weights == Weights::kFile) {
            weights_.emplace_back(unique, tensor);
        }
        found->second = unique;
    }
    loads_weights_ = true;
    Result<std::string> key = string_literal(found->second);
    SDX_TRY(key);
    return Expression{"weights", '[', {Expression::atom(*key)}};
}

Result<Expression> Module::array(const Tensor& tensor, const ir::Value* initializer,
                                 std::string_view hint) {
    bool is_small = tensor.count() <= kMostLiterals;
    if (!is_small && is_storable(tensor, initializer)) {
        return stored(tensor, initializer, hint);
    }
    Result<Expression> literal = tensor_literal(tensor);
    if (!literal.ok() && is_storable(tensor, initializer)) {
        return stored(tensor, initializer, hint);
    }
    std::string_view type = numpy_type(tensor.element_type());
    bool is_flat = tensor.count() > 0 || (tensor.rank() == 1 && tensor.dims()[0] == 0);
    if (literal.ok() && !type.empty() && is_flat) {
        import("numpy as np");
        return Expression::call(
            "np.array", {std::move(*literal), Expression::atom(fmt::format("dtype={}", type))});
    }
    return made_tensor(tensor);
}

// One of no NumPy type, of text, without elements under dims that a list cannot show, or with bits
// that no number gives: a NaN can have others than `float("nan")`.
Result<Expression> Module::made_tensor(const Tensor& tensor) {
    import_from("onnx", "TensorProto");
    import_from("onnx.helper", "make_tensor");
    std::vector<int64_t> count{tensor.count()};
    Result<Expression> items = tensor_literal(tensor.reshaped(count));
    bool is_raw = !items.ok();
    if (is_raw) {
        items = raw_tensor_literal(tensor);
    }
    SDX_TRY(items);
    Expression made = Expression::call(
        "make_tensor",
        {Expression::atom("\"value\""),
         Expression::atom(fmt::format("TensorProto.{}", name(tensor.element_type()))),
         dims_list(tensor.dims()), std::move(*items)});
    if (is_raw) {
        made.items.push_back(Expression::atom("raw=True"));
    }
    return made;
}

namespace {

bool is_plain_symbol(std::string_view text) {
    return is_identifier(text);
}

// A dim as annotations say it; nothing: they cannot.
std::optional<std::string> dim_text(const Dim& dim) {
    if (dim.is_unknown()) {
        return "None";
    }
    if (dim.is_static()) {
        return fmt::to_string(dim.value());
    }
    std::string text = dim.to_string();
    // A symbol that is no name stands as it is there, unless it is part of an expression.
    std::optional<Dim> parsed = Dim::parse(text);
    if (!is_plain_symbol(text) && !(parsed && parsed->equals(dim))) {
        if (text.find_first_of("'\\") != std::string::npos) {
            return std::nullopt;
        }
        text = fmt::format("'{}'", text);
    }
    Result<std::string> literal = string_literal(text);
    return literal.ok() ? std::optional(*literal) : std::nullopt;
}

// Types that are written with another one in brackets, and where they are imported from.
struct GenericType {
    TypeKind kind;
    std::string_view module, word;
};
constexpr GenericType kGenericTypes[] = {
    {TypeKind::kSequence, "collections.abc", "Sequence"},
    {TypeKind::kOptional, kPackage, "OPTIONAL"},
    {TypeKind::kSparseTensor, kPackage, "SPARSE"},
};

}  // namespace

std::optional<Expression> Module::annotation(const Type& type) {
    if (type.kind() == TypeKind::kMap) {
        std::optional<Expression> key = annotation(Type::tensor(type.element_type(), Shape()));
        std::optional<Expression> value = key ? annotation(type.element()) : std::nullopt;
        if (!value) {
            return std::nullopt;
        }
        import_from("collections.abc", "Mapping");
        return Expression{"Mapping", '[', {std::move(*key), std::move(*value)}};
    }
    for (const auto& [kind, module, word] : kGenericTypes) {
        if (type.kind() != kind) {
            continue;
        }
        Type inner = kind == TypeKind::kSparseTensor
                         ? Type::tensor(type.element_type(), type.maybe_shape())
                         : type.element();
        if (kind == TypeKind::kSequence && !ir::names_hold_in_items(model_)) {
            inner = with_known_sizes(std::move(inner));
        }
        std::optional<Expression> item = annotation(inner);
        if (!item) {
            return std::nullopt;
        }
        if (inner.is_tensor() && inner.has_shape() && inner.shape().empty()) {
            item = Expression{item->head, '[', {Expression::atom("()")}};  // bare: of any shape
        }
        import_from(std::string(module), std::string(word));
        return Expression{std::string(word), '[', {std::move(*item)}};
    }
    if (!type.is_tensor() || type.element_type() == ElementType::kUndefined) {
        return std::nullopt;
    }
    std::string element(name(type.element_type()));
    import_from(kPackage, element);
    if (!type.has_shape()) {
        return Expression{element, '[', {Expression::atom("...")}};
    }
    if (type.shape().empty()) {
        return Expression::atom(element);
    }
    Expression annotation{element, '[', {}};
    for (const Dim& dim : type.shape()) {
        std::optional<std::string> text = dim_text(dim);
        if (!text) {
            return std::nullopt;
        }
        annotation.items.push_back(Expression::atom(std::move(*text)));
    }
    return annotation;
}

// --- The head ------------------------------------------------------------------------------------

void Module::append_import(std::string& text, const std::string& module,
                           const std::set<std::string>& names) {
    Expression list;
    for (const std::string& one : names) {
        bool is_renamed = one.find(" as ") != std::string::npos;  // isort wants a line of its own
        if (!is_renamed) {
            list.items.push_back(Expression::atom(one));
        }
    }
    if (!list.items.empty()) {
        append_import_list(text, module, std::move(list));
    }
    for (const std::string& one : names) {
        if (one.find(" as ") != std::string::npos) {
            text += fmt::format("from {} import {}\n", module, one);
        }
    }
}

void Module::append_import_list(std::string& text, const std::string& module, Expression list) {
    std::string words = flat(Expression::call("", list.items));
    std::string line = fmt::format("from {} import {}", module, words.substr(1, words.size() - 2));
    if (line.size() <= kLineLength) {
        text += line + "\n";
    } else {
        append_broken(text, 0, fmt::format("from {} import ", module),
                      Expression::call("", std::move(list.items)), "");
        text += "\n";
    }
}

Result<std::string> Module::head() {
    if (loads_weights_) {
        import_from(kPackage, "load_weights");
        Result<std::string> path = string_literal(options_.weights_path);
        SDX_TRY(path);
        assignments_.emplace_back("weights",
                                  Expression::call("load_weights", {Expression::atom(*path)}));
    }
    import_from(kPackage, "script");
    std::string standard, installed;
    for (const std::string& module : modules_) {
        (module.starts_with("numpy") ? installed : standard) += fmt::format("import {}\n", module);
    }
    for (const auto& [module, names] : names_from_) {
        append_import(module.starts_with("collections") ? standard : installed, module, names);
    }
    std::string text = standard + (standard.empty() ? "" : "\n") + installed;
    text += assignments_.empty() ? "" : "\n";
    for (const auto& [target, expression] : assignments_) {
        append_statement(text, 0, {target}, expression);
    }
    return text;
}

}  // namespace sardonyx::decompile
