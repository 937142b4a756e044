// Calls of model-local functions: the body is walked under the types of the call.
//
// Functions call functions, in chains as long as a file cares to make them. So calls that stand in
// a body itself (not in a subgraph of it) are followed with a stack of our own: at such a node the
// walk of the body stops, the callee's is put on top, and it goes on when that has ended.

#include <fmt/format.h>

#include <deque>
#include <unordered_set>

#include "infer/call_cache.h"
#include "infer/diagnostics.h"
#include "infer/node_context.h"
#include "infer/operators.h"

namespace sardonyx::infer {

namespace {

// Gives the body's inputs what is known of the arguments, checked against the declared types.
void bind_inputs(const Context& context, const ir::Function& function,
                 std::span<ir::Value* const> inputs) {
    const std::vector<ir::Value*>& parameters = function.body->inputs;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (i >= inputs.size() || inputs[i] == nullptr) {
            continue;
        }
        Knowledge knowledge = knowledge_of(context, *inputs[i]);
        std::optional<Type> both = merge(knowledge.type, parameters[i]->type);
        if (both.has_value()) {
            knowledge.type = std::move(*both);
        } else if (context.findings != nullptr) {
            Finding finding;
            finding.kind = &kDeclaredTypeMismatch;
            finding.message = fmt::format(
                "input `{}` of function `{}` is declared as {}, and gets {}", parameters[i]->name,
                function.name, parameters[i]->type.to_string(), knowledge.type.to_string());
            finding.message = without_fresh_symbols(finding.message);
            finding.input = static_cast<int>(i);
            context.findings->push_back(std::move(finding));
        }
        set_knowledge(*parameters[i], std::move(knowledge));
    }
}

void report_recursion(const Context& context, const ir::Function& function) {
    if (context.findings == nullptr) {
        return;
    }
    Finding finding;
    finding.kind = &kRecursiveFunction;
    finding.message =
        fmt::format("function `{}` calls itself, directly or through others", function.name);
    finding.help = "ONNX has no recursion; use `Loop` or `Scan`";
    context.findings->push_back(std::move(finding));
}

// One body that is being walked. It stays where it is: `context` points at `call`.
struct Walk {
    Walk(const Context& from, const ir::Function& callee, std::span<const ir::Attribute> attributes,
         ir::Node* at)
        : function(callee),
          caller(at),
          call{&callee, attributes, from.call},
          context(from),
          snapshot(*callee.body),
          next(callee.body->first_node()),
          first_fresh(from.fresh_dims != nullptr ? *from.fresh_dims : 0),
          unfinished(from.calls->unfinished),
          findings(from.findings != nullptr ? from.findings->size() : 0) {
        context.opset_imports = callee.opset_imports;
        context.call = &call;
        context.subgraphs_are_typed = false;
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    const ir::Function& function;
    ir::Node* const caller;  // null: the outermost call
    CallKey key;
    Call call;
    Context context;
    Snapshot snapshot;
    ir::Node* next;
    const int first_fresh;
    const int unfinished;
    const size_t findings;
};

class Walker {
  public:
    std::vector<Knowledge> run(const Context& context, const ir::Function& function,
                               std::span<ir::Value* const> inputs,
                               std::span<const ir::Attribute> attributes) {
        for (const Call* call = context.call; call != nullptr; call = call->outer) {
            open_.insert(call->function);
        }
        std::vector<Knowledge> results;
        if (enter(context, function, inputs, attributes, nullptr, results)) {
            while (!stack_.empty()) {
                step(results);
            }
        }
        return results;
    }

  private:
    // Whether the body is to be walked: else the results are known, or never will be.
    bool enter(const Context& context, const ir::Function& function,
               std::span<ir::Value* const> inputs, std::span<const ir::Attribute> attributes,
               ir::Node* caller, std::vector<Knowledge>& results) {
        results.clear();
        if (open_.count(&function) != 0) {
            report_recursion(context, function);
            ++context.calls->unfinished;
            return false;
        }
        CallKey key = call_key(context, function, inputs, attributes);
        if (std::optional<std::vector<Knowledge>> known =
                context.calls->find(key, context.fresh_dims)) {
            results = std::move(*known);
            return false;
        }
        Walk& walk = stack_.emplace_back(context, function, attributes, caller);
        walk.key = std::move(key);
        if (stack_.size() > kMaxCalls || !take_steps(walk.context, walk.snapshot.size() + 1)) {
            stack_.pop_back();
            ++context.calls->unfinished;
            return false;
        }
        open_.insert(&function);
        walk.snapshot.drop_symbols();
        bind_inputs(context, function, inputs);
        return true;
    }

    // Types the next node of the innermost body, or leaves it.
    void step(std::vector<Knowledge>& results) {
        Walk& walk = stack_.back();
        ir::Node* node = walk.next;
        if (node == nullptr || !take_steps(walk.context, 1)) {
            walk.context.calls->unfinished += node != nullptr ? 1 : 0;
            leave(results);
            return;
        }
        walk.next = node->next();
        const ir::Function* callee = called_function(walk.context, *node);
        if (callee == nullptr) {
            infer_node(walk.context, *node);
            return;
        }
        std::vector<ir::Value*> inputs = inputs_of(*node);
        size_t said = walk.context.findings != nullptr ? walk.context.findings->size() : 0;
        if (!enter(walk.context, *callee, inputs, node->attributes, node, results)) {
            finish_call(walk.context, *node, std::move(results), said);
        }
    }

    void leave(std::vector<Knowledge>& results) {
        Walk& walk = stack_.back();
        results.clear();
        for (const ir::Value* output : walk.function.body->outputs) {
            results.push_back(knowledge_of(walk.context, *output));
        }
        if (walk.context.typed_body != nullptr) {
            (*walk.context.typed_body)(walk.function);
        }
        walk.snapshot.restore();
        CallCache& calls = *walk.context.calls;
        bool found =
            walk.context.findings != nullptr && walk.context.findings->size() != walk.findings;
        if (!walk.key.text.empty() && calls.unfinished == walk.unfinished && !found) {
            calls.add(std::move(walk.key), results, walk.first_fresh);
        }
        ir::Node* caller = walk.caller;
        size_t said = walk.findings;
        open_.erase(&walk.function);
        stack_.pop_back();
        if (caller != nullptr) {
            finish_call(stack_.back().context, *caller, std::move(results), said);
        }
    }

    std::deque<Walk> stack_;
    std::unordered_set<const ir::Function*> open_;  // that are being called, from outside too
};

}  // namespace

const ir::Function* called_function(const Context& context, const ir::Node& node) {
    if (context.model == nullptr ||
        (node.overload.empty() &&
         ops::find_schema(node.domain, node.op_type,
                          ir::opset_version(context.opset_imports, node.domain)) != nullptr)) {
        return nullptr;
    }
    return context.model->find_function(node.domain, node.op_type, node.overload);
}

std::vector<ir::Value*> inputs_of(const ir::Node& node) {
    std::vector<ir::Value*> inputs;
    for (const ir::Use& use : node.inputs()) {
        inputs.push_back(use.value);
    }
    return inputs;
}

void finish_call(const Context& context, ir::Node& node, std::vector<Knowledge> results,
                 size_t earlier_findings) {
    for (size_t k = earlier_findings; context.findings != nullptr && k < context.findings->size();
         ++k) {
        diagnostics::Span& span = (*context.findings)[k].span;
        span = span.valid() ? span : node.span;
    }
    static constexpr ops::Schema kNoSchema{};
    NodeContext c(context, node, &kNoSchema);
    for (size_t i = 0; i < std::min(results.size(), node.output_count()); ++i) {
        ir::Value* output = node.output(i);
        c.set_output(i, std::move(results[i].type));
        output->content = std::move(results[i].content);
        if (results[i].constant.has_value()) {
            output->constant = std::move(results[i].constant);
        }
    }
}

std::vector<Knowledge> call_function(const Context& context, const ir::Function& function,
                                     std::span<ir::Value* const> inputs,
                                     std::span<const ir::Attribute> attributes) {
    if (context.depth >= kMaxDepth) {
        return {};
    }
    int64_t own_steps = kMaxSteps;
    CallCache own_calls;
    Context inner = context;
    inner.depth = context.depth + 1;
    inner.steps = context.steps != nullptr ? context.steps : &own_steps;
    inner.calls = context.calls != nullptr ? context.calls : &own_calls;
    return Walker().run(inner, function, inputs, attributes);
}

std::vector<Type> infer_call(const Context& context, const ir::Function& function,
                             std::span<ir::Value* const> inputs,
                             std::span<const ir::Attribute> attributes) {
    std::vector<Knowledge> results = call_function(context, function, inputs, attributes);
    std::vector<Type> types;
    for (Knowledge& result : results) {
        types.push_back(std::move(result.type));
    }
    types.resize(function.body->outputs.size());
    return types;
}

}  // namespace sardonyx::infer
