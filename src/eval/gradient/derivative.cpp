#include "eval/gradient/derivative.h"

#include <algorithm>
#include <map>

// The rules that the rows name.
namespace sardonyx::eval::derivatives {

#define SDX_RULE(domain, name, function) void function(Backward&);
#define SDX_RULE_OF(domain, name, function, outputs) void function(Backward&);
#define SDX_DEFINITION(domain, name, function) std::vector<Expr> function(Backward&);
#define SDX_FLAT(domain, name)
#include "eval/gradient/derivatives.def"
#undef SDX_RULE
#undef SDX_RULE_OF
#undef SDX_DEFINITION
#undef SDX_FLAT

}  // namespace sardonyx::eval::derivatives

namespace sardonyx::eval {
namespace {

const Derivative kDerivatives[] = {
#define SDX_RULE(domain, name, function) {domain, name, &derivatives::function},
#define SDX_RULE_OF(domain, name, function, outputs) \
    {domain, name, &derivatives::function, nullptr, outputs},
#define SDX_DEFINITION(domain, name, function) {domain, name, nullptr, &derivatives::function},
#define SDX_FLAT(domain, name) {domain, name},
#include "eval/gradient/derivatives.def"
#undef SDX_RULE
#undef SDX_RULE_OF
#undef SDX_DEFINITION
#undef SDX_FLAT
};

std::vector<const RuntimeValue*> pointers_to(const std::vector<RuntimeValue>& values) {
    std::vector<const RuntimeValue*> pointers;
    for (const RuntimeValue& value : values) {
        pointers.push_back(&value);
    }
    return pointers;
}

}  // namespace

Backward::Backward(Algebra& algebra, const TapeRecord& record, std::vector<RuntimeValue> inputs,
                   std::vector<RuntimeValue> gradients, std::vector<bool> needs)
    : algebra_(algebra),
      record_(record),
      inputs_(std::move(inputs)),
      gradients_(std::move(gradients)),
      needs_(std::move(needs)),
      results_(inputs_.size()),
      pointers_(pointers_to(inputs_)),
      context_(*record.schema, pointers_, AttributeView(record.attributes, {}), {},
               algebra.tape().options(), algebra.tape().random()) {}

Expr Backward::x(size_t i) {
    return has_x(i) ? algebra_.value(inputs_[i]) : algebra_.value({});
}

Expr Backward::y(size_t i) {
    return i < record_.outputs.size() ? algebra_.value(record_.outputs[i]) : algebra_.value({});
}

Expr Backward::g(size_t i) {
    return has_g(i) ? algebra_.value(gradients_[i]) : zeros_like(y(i));
}

void Backward::add(size_t i, const Expr& gradient) {
    if (!needs(i) || gradient.is_none()) {
        return;
    }
    Expr whole = cast(sum_to(gradient, x(i).dims()), x(i).type());
    if (!results_[i].is_none()) {
        whole = algebra_.value(results_[i]) + whole;
    }
    results_[i] = whole.value();
}

std::vector<Expr> Backward::rerun(const std::vector<Expr>& first) {
    const ops::Schema& schema = *record_.schema;
    const OperatorEntry* entry = find_operator(schema.domain, schema.name, schema.since_version);
    std::vector<Expr> results;
    std::vector<RuntimeValue> inputs = inputs_;
    for (size_t i = 0; i < first.size(); ++i) {
        inputs[i] = first[i].value();
    }
    if (!algebra_.status().ok()) {
        return results;
    }
    auto outputs = algebra_.tape().run(*entry, std::move(inputs), record_.attributes, 1);
    if (!outputs.ok()) {
        algebra_.fail(outputs.error());
        return results;
    }
    for (const RuntimeValue& output : *outputs) {
        if (!output.is_sequence()) {
            results.push_back(algebra_.value(output));
            continue;
        }
        for (const RuntimeValue& item : output.sequence().items) {
            results.push_back(algebra_.value(item));
        }
    }
    return results;
}

std::vector<int64_t> Backward::list(std::string_view name, size_t i) {
    Result<std::optional<std::vector<int64_t>>> list = list_argument(context_, name, i);
    if (!list.ok()) {
        algebra_.fail(list.error());
        return {};
    }
    return list->value_or(std::vector<int64_t>());
}

int Backward::axis(std::string_view name, int rank) {
    Result<int> axis = context_.axis(context_.int_attribute(name), rank);
    if (!axis.ok()) {
        algebra_.fail(axis.error());
        return 0;
    }
    return *axis;
}

void Backward::fail(std::string_view reason) {
    algebra_.fail(Error{std::string(reason)});
}

const Derivative* find_derivative(const ops::Schema& schema) {
    using Key = std::pair<std::string_view, std::string_view>;
    static const std::map<Key, const Derivative*> table = [] {
        std::map<Key, const Derivative*> rows;
        for (const Derivative& row : kDerivatives) {
            rows.emplace(Key(row.domain, row.op_type), &row);
        }
        return rows;
    }();
    auto found = table.find(Key(schema.domain, schema.name));
    return found == table.end() ? nullptr : found->second;
}

std::string derivative_names() {
    std::vector<std::string> names;
    for (const Derivative& row : kDerivatives) {
        std::string name(row.domain);
        names.push_back(name.append(name.empty() ? "" : ".").append(row.op_type));
    }
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) {
        text.append(text.empty() ? "" : ", ").append(name);
    }
    return text;
}

}  // namespace sardonyx::eval
