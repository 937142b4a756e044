#include <sardonyx/builder.h>

#include <algorithm>
#include <bit>
#include <set>

#include "api/convert.h"
#include "api/fail.h"
#include "api/state.h"
#include "build/blocks.h"
#include "build/nodes.h"
#include "driver/finish.h"
#include "lowering/operators.h"
#include "lowering/symbols.h"
#include "ops/ops.h"
#include "types/type_meant.h"

namespace sardonyx {
inline namespace v1 {

struct BuilderState {
    std::unique_ptr<ir::Model> model = std::make_unique<ir::Model>();
    std::unique_ptr<ir::Editor> editor;
    ir::Graph* graph = nullptr;  // that is filled now
    int fresh_dims = 0;

    build::Site site() { return {*model, *editor, graph, &fresh_dims}; }
};

namespace {

template <typename T>
T take_built(Result<T> result) {
    if (!result.ok()) {
        api::fail(result.error().message);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(result).value();
    }
}

Type known_type(std::string_view text) {
    std::optional<Type> type = parse_type(text);
    if (!type || !type->is_known()) {
        api::fail("`" + std::string(text) + "` is not a type: write \"FLOAT[N,4]\"" +
                  type_help(text));
    }
    return *type;
}

ir::Value* value_of(const BuilderState& state, const Expr& given) {
    if (given.is_given() && given.state() != &state) {
        api::fail("a value of another Builder");
    }
    return static_cast<ir::Value*>(given.value());
}

std::vector<ir::Value*> values_of(const BuilderState& state, const std::vector<Expr>& given) {
    std::vector<ir::Value*> values;
    for (const Expr& one : given) {
        values.push_back(value_of(state, one));
        if (values.back() == nullptr) {
            api::fail("a value that is left out");
        }
    }
    return values;
}

std::vector<Expr> exprs_of(BuilderState& state, std::span<ir::Value* const> values) {
    std::vector<Expr> exprs;
    for (ir::Value* value : values) {
        exprs.emplace_back(&state, value);
    }
    return exprs;
}

Tensor tensor_of(const Array& array) {
    return api::to_engine("array", Value(array)).tensor();
}

BuilderState& state_of(const Expr& value) {
    if (!value.is_given()) {
        api::fail("an operand that is left out");
    }
    return *value.state();
}

Expr finish(BuilderState& state, build::GraphEmitter& e, ir::Value* value) {
    if (value == nullptr) {
        api::fail(e.error() ? e.error()->message : "an operand is missing");
    }
    return {&state, value};
}

// Python's operator of two values, arithmetic or a comparison.
Expr apply(BuilderState& state, build::GraphEmitter& e, std::string_view symbol, ir::Value* a,
           ir::Value* b) {
    if (auto op = lowering::operator_of<lowering::Binary>(lowering::kBinarySymbols, symbol)) {
        return finish(state, e, lowering::lower_binary(e, *op, a, b));
    }
    if (auto op = lowering::operator_of<lowering::Compare>(lowering::kCompareSymbols, symbol)) {
        return finish(state, e, lowering::lower_compare(e, *op, a, b));
    }
    api::fail("no operator `" + std::string(symbol) + "`");
}

ir::Attribute attribute_of(const std::string& name, const AttributeValue& given) {
    return std::visit(
        [&name](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Array>) {
                return ir::make_attribute(name, tensor_of(value));
            } else {
                return ir::make_attribute(name, value);
            }
        },
        given);
}

// While a body fills a graph; unless that comes to its end, the node is taken out again.
class Filling {
  public:
    Filling(BuilderState& state, ir::Node* node, ir::Graph* graph)
        : state_(state), node_(node), around_(state.graph) {
        state.graph = graph;
    }
    ~Filling() {
        state_.graph = around_;
        SDX_CHECK(is_done_ || build::abandon(state_.site(), *node_).ok());
    }
    Filling(const Filling&) = delete;
    Filling& operator=(const Filling&) = delete;
    void done() { is_done_ = true; }

  private:
    BuilderState& state_;
    ir::Node* node_;
    ir::Graph* around_;
    bool is_done_ = false;
};

template <typename Fill>
auto inside(BuilderState& state, ir::Node* node, ir::Graph* graph, const Fill& fill) {
    Filling filling(state, node, graph);
    auto made = fill();
    filling.done();
    return made;
}

void check_names(const std::vector<std::pair<std::string, AttributeValue>>& attributes) {
    std::set<std::string_view> names;
    for (const auto& [name, value] : attributes) {
        if (!names.insert(name).second) {
            api::fail("attribute `" + name + "` is given twice");
        }
    }
}

void check_body(bool is_given) {
    if (!is_given) {
        api::fail("a body is an empty function");
    }
}

std::vector<Expr> build_call(BuilderState& state, const Call& call) {
    const ops::Schema* schema =
        take_built(build::find_operator(state.site(), call.domain, call.op_type, call.version));
    std::vector<ir::Value*> inputs;
    for (const Expr& input : call.inputs) {
        inputs.push_back(value_of(state, input));
    }
    build::NodeRequest request;
    request.domain = call.domain;
    request.op_type = call.op_type;
    request.name = call.name;
    request.inputs = inputs;
    for (const auto& [name, value] : call.attributes) {
        request.attributes.push_back(attribute_of(name, value));
    }
    check_names(call.attributes);
    request.outputs.resize(call.outputs);
    if (auto problem = schema != nullptr ? build::check_request(*schema, request) : std::nullopt) {
        api::fail(problem->text());
    }
    take_built(build::import_operator(state.site(), call.domain, call.op_type, call.version));
    return exprs_of(state,
                    take_built(build::make_node(state.site(), std::move(request)))->outputs());
}

}  // namespace

std::string Expr::name() const {
    return std::string(value_of(state_of(*this), *this)->name);
}

std::string Expr::type() const {
    return value_of(state_of(*this), *this)->type.to_string();
}

double exact_double(uint64_t magnitude, bool is_negative) {
    if (magnitude != 0 && magnitude >> std::countr_zero(magnitude) >= uint64_t{1} << 53) {
        api::fail("the number " + std::string(is_negative ? "-" : "") + std::to_string(magnitude) +
                  " has more than 53 bits: give it as a constant");
    }
    auto held = static_cast<double>(magnitude);
    return is_negative ? -held : held;
}

Expr binary(std::string_view symbol, const Expr& a, const Expr& b) {
    BuilderState& state = state_of(a);
    state_of(b);
    build::GraphEmitter e(state.site());
    return apply(state, e, symbol, value_of(state, a), value_of(state, b));
}

Expr binary(std::string_view symbol, const Expr& a, double b) {
    BuilderState& state = state_of(a);
    build::GraphEmitter e(state.site());
    ir::Value* left = value_of(state, a);
    ir::Value* right = e.scalar_like(left, b);
    return right == nullptr ? finish(state, e, right) : apply(state, e, symbol, left, right);
}

Expr binary(std::string_view symbol, double a, const Expr& b) {
    BuilderState& state = state_of(b);
    build::GraphEmitter e(state.site());
    ir::Value* right = value_of(state, b);
    ir::Value* left = e.scalar_like(right, a);
    return left == nullptr ? finish(state, e, left) : apply(state, e, symbol, left, right);
}

Expr operator-(const Expr& a) {
    BuilderState& state = state_of(a);
    build::GraphEmitter e(state.site());
    return finish(state, e, lowering::lower_unary(e, lowering::Unary::kMinus, value_of(state, a)));
}

Builder::Builder(int64_t opset, const std::string& name)
    : state_(std::make_unique<BuilderState>()) {
    state_->model = take_built(build::empty_model(opset, name));
    ir::Model& model = *state_->model;
    state_->graph = model.graph;
    state_->editor = std::make_unique<ir::Editor>(model);
}

Builder::~Builder() = default;

Expr Builder::input(const std::string& name, std::string_view type) {
    return {state_.get(),
            take_built(state_->editor->add_input(*state_->model->graph, name, known_type(type)))};
}

Expr Builder::initializer(const Array& array, const std::string& name) {
    ir::Graph& graph = *state_->model->graph;
    std::string given = name.empty() ? state_->editor->fresh_name(graph, "weight") : name;
    return {state_.get(),
            take_built(state_->editor->add_initializer(graph, given, tensor_of(array)))};
}

Expr Builder::constant(const Array& array) {
    build::GraphEmitter e(state_->site());
    return finish(*state_, e, e.constant(tensor_of(array)));
}

Expr Builder::output(const Expr& value, const std::string& name, std::string_view type) {
    build::Site site = state_->site();
    site.graph = state_->model->graph;
    ir::Value* made =
        take_built(build::add_output(site, values_of(*state_, {value}).front(),
                                     name.empty() ? std::nullopt : std::optional(name),
                                     type.empty() ? Type() : known_type(type)));
    return {state_.get(), made};
}

std::vector<Expr> Builder::call(const Call& call) {
    return build_call(*state_, call);
}

std::vector<Expr> Builder::if_(const Expr& condition, const Body& then_body,
                               const Body& else_body) {
    check_body(then_body != nullptr && else_body != nullptr);
    BuilderState& state = *state_;
    ir::Node* node =
        take_built(build::open_if(state.site(), values_of(state, {condition}).front(), ""));
    auto fill = [&](std::string_view attribute, const Body& body) {
        ir::Graph* branch = take_built(build::open_branch(state.site(), *node, attribute));
        return inside(state, node, branch, [&] {
            take_built(build::close_branch(state.site(), values_of(state, body())));
            return true;
        });
    };
    fill("then_branch", then_body);
    fill("else_branch", else_body);
    return inside(state, node, state.graph, [&] {
        return exprs_of(state, take_built(build::close_if(state.site(), *node))->outputs());
    });
}

std::vector<Expr> Builder::loop(const Expr& count, const std::vector<Expr>& carried,
                                const LoopBody& body, const std::vector<std::string>& types,
                                const Expr& condition) {
    check_body(body != nullptr);
    BuilderState& state = *state_;
    build::LoopRequest request;
    request.trips = value_of(state, count);
    request.condition = value_of(state, condition);
    std::vector<ir::Value*> first = values_of(state, carried);
    request.carried = first;
    std::vector<Type> held;
    for (const std::string& type : types) {
        std::optional<Type> parsed = type.empty() ? Type() : parse_type(type);
        if (!parsed) {
            api::fail("`" + type + "` is not a type" + type_help(type));
        }
        held.push_back(std::move(*parsed));
    }
    if (held.size() > carried.size()) {
        api::fail(std::to_string(held.size()) + " types of " + std::to_string(carried.size()) +
                  " carried values");
    }
    request.types = held;
    build::Loop loop = take_built(build::open_loop(state.site(), request));
    Step step = inside(state, loop.node, loop.body, [&] {
        return body(Expr(&state, loop.iteration), exprs_of(state, loop.carried));
    });
    return inside(state, loop.node, state.graph, [&] {
        std::vector<ir::Value*> next = values_of(state, step.next);
        std::vector<ir::Value*> stacked = values_of(state, step.stacked);
        build::LoopEnd end{value_of(state, step.condition), next, stacked};
        ir::Node* node = take_built(build::close_loop(state.site(), loop, end));
        return exprs_of(state, node->outputs());
    });
}

Model Builder::model() const {
    if (state_->model->graph->outputs.empty()) {
        api::fail("the model has no outputs: call `output(value)`");
    }
    auto state = std::make_shared<Model::State>();
    state->model = driver::snapshot(*state_->model, *state_->editor);
    return Model(std::move(state));
}

std::vector<Expr> call_of(const Call& call) {
    auto given = std::find_if(call.inputs.begin(), call.inputs.end(),
                              [](const Expr& input) { return input.is_given(); });
    if (given == call.inputs.end()) {
        api::fail("`" + call.op_type + "` is called without a value");
    }
    return build_call(state_of(*given), call);
}

}  // namespace v1
}  // namespace sardonyx
