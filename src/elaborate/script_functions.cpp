// The functions of the model that scripts become: one for the facts of each kind of call, built
// once.
#include "elaborate/script_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "elaborate/activation.h"
#include "elaborate/annotations.h"
#include "elaborate/bodies.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/facts.h"
#include "elaborate/flow/block_facts.h"
#include "elaborate/functions.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/scopes/carried.h"
#include "elaborate/signature.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr size_t kMaxMistakes = 100;

// Functions further than this from the end of a chain of calls are built from the end.
constexpr int kFarCallee = 8;

}  // namespace

std::vector<diagnostics::Diagnostic> take_findings(diagnostics::Checkpoint said) {
    std::vector<diagnostics::Diagnostic> taken;
    for (diagnostics::Diagnostic& one : said.findings()) {
        bool is_new = std::none_of(taken.begin(), taken.end(), [&](const auto& other) {
            return other.kind == one.kind && other.message == one.message &&
                   other.labels[0].span == one.labels[0].span;
        });
        if (is_new && taken.size() < kMaxMistakes) {
            taken.push_back(std::move(one));
        }
    }
    said.take_back();
    return taken;
}

namespace {

// --- Building ------------------------------------------------------------------------------------

ir::Function* add_function(Context& c, const ScriptFunction& function, const std::string& suffix) {
    const std::string& domain = function.opset.domain;
    // Never an overload of one name: ONNX Runtime does not find those that functions call, and
    // onnx.reference does not look at overloads.
    std::string base = function.name + (suffix.empty() ? "" : "__" + suffix);
    // Two scripts of one name, from two files, are two functions.
    std::string name = base;
    for (int i = 1; c.model.find_function(domain, name, "") != nullptr; ++i) {
        name = fmt::format("{}_{}", base, i);
    }
    return c.model.add_function(domain, name, "");
}

// The value of a static argument inside the function: its tensors are inputs.
Object bind_static(Context& c, ir::Function& target, const std::vector<BoundParameter>& parameters,
                   const BoundParameter& one, const Fact& fact, Detail detail) {
    int count = 0;
    return replace_tensors(fact.object, [&](const Object& tensor) {
        bool is_number = tensor.is_number_tensor();
        Type type = is_number            ? tensor.value()->type
                    : tensor.is_tensor() ? known_type(tensor.value()->type, detail)
                                         : Type();
        std::string name;
        do {
            name = fmt::format("{}_{}", one.name, count++);
        } while (std::any_of(parameters.begin(), parameters.end(),
                             [&name](const BoundParameter& other) { return other.name == name; }));
        ir::Value* input = c.model.add_input(target.body, name, std::move(type));
        return is_number                  ? Object::number(input)
               : tensor.is_shape_tensor() ? Object::shape(input)
                                          : Object::tensor(input);
    });
}

void check_unchanged(Context& c, const ScriptFunction& function, const BoundParameter& one,
                     const std::optional<std::string>& before, const Object& after) {
    if (before == object_key(c, after)) {
        return;
    }
    c.report(kUnsupportedStatement, one.parameter->range,
             fmt::format("`{}` changes `{}`, which belongs to its caller", function.name, one.name))
        .with_help("return the changed value, or use `@script(inline=True)`");
}

void build_body(Context& c, const ScriptFunction& function, ir::Function& target,
                const std::vector<Fact>& facts, Detail detail) {
    const std::vector<BoundParameter>& parameters = check_parameters(c, function);
    std::vector<std::pair<Object, std::optional<std::string>>> given;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (facts[i].passing == Fact::Passing::kStatic) {
            Object object = bind_static(c, target, parameters, parameters[i], facts[i], detail);
            given.emplace_back(object, object_key(c, object));
            c.at.scope->set(parameters[i].parameter->name, std::move(object));
        } else {
            given.emplace_back();
            bind_function_parameter(c, target, parameters[i], facts[i]);
        }
    }
    for (const BoundParameter& one : parameters) {
        note_type(c, one.parameter->range, *c.at.scope->find(one.parameter->name));
    }
    run_body(c, function);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (facts[i].passing == Fact::Passing::kStatic) {
            check_unchanged(c, function, parameters[i], given[i].second, given[i].first);
        }
    }
}

// A mistake that another caller may not meet: it depends on what is being built, or on limits.
bool depends_on_caller(const Context& c, const std::vector<diagnostics::Diagnostic>& mistakes) {
    return c.gave_up ||
           std::any_of(mistakes.begin(), mistakes.end(), [](const diagnostics::Diagnostic& one) {
               return one.kind == &kRecursiveScript || one.kind == &kLimitExceeded;
           });
}

// The function in Program::failed; nothing where it cannot be kept beyond this compilation.
std::optional<std::pair<const ScriptFunction*, std::string>> failure_key(
    Context& c, const ScriptFunction& function, const std::vector<Fact>& facts,
    const std::string& key) {
    bool is_static = std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
        return fact.passing == Fact::Passing::kStatic;
    });
    if (is_static || !function.is_of_file || c.program.wants_types) {
        return std::nullopt;
    }
    return std::make_pair(&function, fmt::format("{}\n{}", opsets_around(c), key));
}

// Callees come first: onnx.reference knows a function only from its definition on.
void move_behind_callees(ir::Model& model, const ir::Function* target) {
    auto found = std::find(model.functions.rbegin(), model.functions.rend(), target);
    std::rotate(model.functions.rbegin(), found, found + 1);
}

}  // namespace

Specialisation build_function(Context& c, const ScriptFunction& function, Range call_range,
                              const std::vector<Fact>& facts, Detail detail,
                              const std::string& key) {
    auto id = std::make_pair(&function, key);
    auto found = c.scripts->functions.find(id);
    if (found != c.scripts->functions.end()) {
        return found->second;
    }
    diagnostics::Checkpoint said(c.program.diagnostics);
    Specialisation made;
    made.facts = std::make_shared<std::vector<Fact>>(facts);
    if (std::find(c.scripts->building.begin(), c.scripts->building.end(), id) !=
        c.scripts->building.end()) {
        c.report(kRecursiveScript, call_range,
                 fmt::format("`{}` calls itself: a graph cannot recurse", function.name))
            .label(function.name_span(), "defined here")
            .with_help(
                "use a loop, or let an argument that is known at compile time end the recursion");
        made.mistakes = take_findings(said);
        return made;
    }
    if (auto failure =
            c.program.failed.empty() ? std::nullopt : failure_key(c, function, facts, key)) {
        auto failed = c.program.failed.find(*failure);
        if (failed != c.program.failed.end()) {
            made.mistakes = failed->second;
            return c.scripts->functions.insert_or_assign(std::move(id), std::move(made))
                .first->second;
        }
    }
    DepthGuard guard(c, call_range);
    if (guard) {
        ++c.program.built;
        c.scripts->building.push_back(id);
        ir::Function* target =
            add_function(c, function, fact_suffix(read_parameters(c, function), facts, detail));
        target->doc = c.model.intern(docstring(function.definition->body));
        Unit unit;
        unit.function = &function;
        unit.caller = c.unit;
        unit.graph = target->body;
        unit.is_function = true;
        {
            UnitGuard in_unit(c, unit);
            ActivationGuard in_body(c, std::make_shared<Scope>(&function, nullptr),
                                    &function.definition->body);
            build_body(c, function, *target, facts, detail);
        }
        target->opset_imports = std::move(unit.imports);
        c.scripts->building.pop_back();
        // A body whose text has mistakes, which have been told before, gives no results.
        if (!said.has_errors() && !c.gave_up && !target->body->outputs.empty()) {
            move_behind_callees(c.model, target);
            made.function = target;
        } else {
            c.model.remove_function(target);
        }
    }
    if (made.function == nullptr) {
        made.mistakes = take_findings(said);
        auto failure = failure_key(c, function, facts, key);
        if (failure && guard && !depends_on_caller(c, made.mistakes)) {
            c.program.failed.emplace(*std::move(failure), made.mistakes);
        }
    }
    return c.scripts->functions.insert_or_assign(std::move(id), std::move(made)).first->second;
}

void report_again(Context& c, const std::vector<diagnostics::Diagnostic>& findings) {
    for (const diagnostics::Diagnostic& finding : findings) {
        c.program.diagnostics.add(finding);
    }
}

std::vector<Fact> annotated_facts(const std::vector<BoundParameter>& parameters) {
    std::vector<Fact> facts(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Annotation& annotation = parameters[i].annotation;
        if (parameters[i].is_self) {
            facts[i].passing = Fact::Passing::kStatic;
            facts[i].object = parameters[i].default_value;
            continue;
        }
        if (annotation.is_attribute) {
            facts[i].passing = Fact::Passing::kAttribute;
            continue;
        }
        facts[i].type = annotation.type;
        if (!annotation.explicit_shape) {
            facts[i].type.set_shape(std::nullopt);
        }
    }
    return facts;
}

namespace {

// --- Long chains ---------------------------------------------------------------------------------

// The scripts that the body calls by name.
std::vector<std::shared_ptr<ScriptFunction>> callees(Context& c, const ScriptFunction& function) {
    std::vector<std::shared_ptr<ScriptFunction>> found;
    for (const auto& [name, object] :
         outer_objects(c, function, &BlockReads::called, ObjectKind::kScript)) {
        found.push_back(std::static_pointer_cast<ScriptFunction>(object.pointer()));
    }
    return found;
}

struct Visit {
    std::shared_ptr<const ScriptFunction> function;
    std::vector<std::shared_ptr<ScriptFunction>> callees;
    size_t next = 0;
    int height = 0;  // the longest chain of calls from here
};

void build_ahead(Context& c, const ScriptFunction& function) {
    const std::vector<BoundParameter>& parameters = read_parameters(c, function);
    std::vector<Fact> facts = annotated_facts(parameters);
    std::optional<std::string> key = fact_key(c, facts, Detail::kAnnotations);
    bool has_fixed_parameters =
        std::none_of(parameters.begin(), parameters.end(), [](const BoundParameter& one) {
            return one.is_variadic() || one.parameter->kind == syntax::ParameterKind::kKeywordArgs;
        });
    if (key && has_fixed_parameters && !function.is_inline) {
        Specialisation built = build_function(c, function, function.definition->name_range, facts,
                                              Detail::kAnnotations, *key);
        if (c.gave_up) {
            report_again(c, built.mistakes);
        }
    }
}

}  // namespace

void build_far_callees(Context& c, const ScriptFunction& function) {
    std::map<const ScriptFunction*, int> heights;
    std::vector<Visit> stack;
    auto has_failed = [&c](const ScriptFunction* one) {
        auto found = c.program.failed.lower_bound({one, std::string()});
        return found != c.program.failed.end() && found->first.first == one;
    };
    auto push = [&](std::shared_ptr<const ScriptFunction> next) {
        if (has_failed(next.get())) {
            return;  // and those that it calls need not be built
        }
        if (heights.emplace(next.get(), 0).second) {
            std::vector<std::shared_ptr<ScriptFunction>> called = callees(c, *next);
            stack.push_back({std::move(next), std::move(called)});
        }
    };
    push(std::shared_ptr<const ScriptFunction>(std::shared_ptr<void>(), &function));
    while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.next < top.callees.size()) {
            push(top.callees[top.next++]);
            continue;
        }
        int height = 0;
        for (const std::shared_ptr<ScriptFunction>& callee : top.callees) {
            height = std::max(height, heights[callee.get()] + 1);
        }
        heights[top.function.get()] = height;
        if (height > 0 && height % kFarCallee == 0 && stack.size() > 1 && !c.gave_up) {
            build_ahead(c, *top.function);
        }
        stack.pop_back();
    }
}

namespace {

void add_calls(const ir::Model& model, const ir::Graph& graph,
               std::vector<const ir::Function*>& open) {
    for (const ir::Node& node : graph) {
        if (const ir::Function* callee =
                model.find_function(node.domain, node.op_type, node.overload)) {
            open.push_back(callee);
        }
        for (const ir::Attribute& attribute : node.attributes) {
            if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                add_calls(model, **inner, open);
            }
        }
    }
}

}  // namespace

void remove_unused_functions(ir::Model& model, const ir::Function* root) {
    std::vector<const ir::Function*> open;
    std::unordered_set<const ir::Function*> used;
    if (root != nullptr) {
        open.push_back(root);
    }
    if (model.graph != nullptr) {
        add_calls(model, *model.graph, open);
    }
    while (!open.empty()) {
        const ir::Function* function = open.back();
        open.pop_back();
        if (used.insert(function).second) {
            add_calls(model, *function->body, open);
        }
    }
    std::vector<ir::Function*> all = model.functions;
    for (ir::Function* function : all) {
        if (used.count(function) == 0) {
            model.remove_function(function);
        }
    }
}

}  // namespace sardonyx::elaborate
