#include "elaborate/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "elaborate/exec.h"
#include "elaborate/repairs.h"
#include "elaborate/sizes.h"
#include "elaborate/type_text.h"
#include "elaborate/values.h"
#include "infer/diagnostics.h"
#include "infer/infer.h"
#include "lowering/operators.h"
#include "ops/ops.h"
#include "types/domain.h"
#include "types/integers.h"

namespace sardonyx::elaborate {
namespace {

// The newest opset that the released runtimes of the day run: what a message proposes, and what
// expressions outside of scripts are computed with.
constexpr int64_t kDefaultOpset = 23;

syntax::Range finding_range(const NodeRequest& request, int input, std::string_view attribute) {
    for (const auto& [name, range] : request.attribute_ranges) {
        if (!attribute.empty() && name == attribute) {
            return range;
        }
    }
    if (input >= 0 && static_cast<size_t>(input) < request.input_ranges.size()) {
        return request.input_ranges[static_cast<size_t>(input)];
    }
    return request.range;
}

// Two arguments that must be of one element type, and are not.
void mend_types(Context& c, const NodeRequest& request, const ir::Node& node,
                const infer::Finding& finding, diagnostics::Diagnostic& reported) {
    int last = std::max(finding.input, finding.other_input);
    if (finding.kind->code != infer::kTypeMismatch.code || finding.input < 0 ||
        finding.other_input < 0 || static_cast<size_t>(last) >= request.input_ranges.size()) {
        return;
    }
    size_t a = static_cast<size_t>(finding.input), b = static_cast<size_t>(finding.other_input);
    offer_cast(c, reported, request.input_ranges[a], node.input(a)->type.element_type(),
               request.input_ranges[b], node.input(b)->type.element_type());
}

void report_findings(Context& c, const NodeRequest& request, const ir::Node& node,
                     const std::vector<infer::Finding>& findings) {
    for (const infer::Finding& finding : findings) {
        bool elsewhere = finding.span.valid() && !(finding.span == node.span);
        diagnostics::Diagnostic& reported =
            c.report(*finding.kind, finding_range(request, finding.input, finding.attribute),
                     finding.message);
        reported.help = finding.help;
        auto label = [&](int input) {
            if (input < 0) {
                return;
            }
            ir::Value* value = node.input(static_cast<size_t>(input));
            if (value == nullptr) {
                return;
            }
            std::string words = fmt::format("this is `{}`", type_text(value->type));
            size_t index = static_cast<size_t>(input);
            if (index < request.input_ranges.size()) {
                syntax::Range range = request.input_ranges[index];
                if (reported.labels[0].span == c.span(range)) {
                    reported.labels[0].message = words;
                } else {
                    reported.label(c.span(range), words);
                }
            }
        };
        label(finding.input);
        label(finding.other_input);
        mend_types(c, request, node, finding, reported);
        if (elsewhere) {
            reported.label(finding.span, "in the function called here");
        }
    }
}

}  // namespace

ir::Node* emit_node(Context& c, NodeRequest request) {
    if (c.gave_up) {
        return nullptr;
    }
    if (++c.node_count > c.options.limits.nodes) {
        c.gave_up = true;
        c.report(kLimitExceeded, request.range,
                 fmt::format("the graph grows past {} nodes", c.options.limits.nodes))
            .with_help("loop over a tensor instead of a static range, or split the model");
        return nullptr;
    }
    // Outputs are named at the end, in one pass (names.h): until then a name is a hint.
    ir::Node* node =
        c.model.make_node(request.domain, request.op_type, request.inputs, request.output_count);
    for (ir::Attribute& attribute : request.attributes) {
        attribute.name = c.model.intern(attribute.name);
        attribute.reference = c.model.intern(attribute.reference);
    }
    node->attributes = std::move(request.attributes);
    node->overload = c.model.intern(request.overload);
    node->span = c.span(request.range);
    c.graph->insert(node);
    for (ir::Value* output : node->outputs()) {
        output->span = node->span;
    }

    std::vector<infer::Finding> findings;
    infer::Context context;
    context.model = &c.model;
    context.opset_imports = c.unit->imports;
    context.schemas = c.options.schemas;
    context.findings = &findings;
    context.fresh_dims = &c.fresh_dims;
    context.calls = &c.calls;
    context.subgraphs_are_typed = request.subgraphs_are_typed;
    infer::infer_node(context, *node);
    if (!findings.empty()) {
        report_findings(c, request, *node, findings);
    }
    return node;
}

void import_opset(Context& c, const OpsetObject& opset, syntax::Range range) {
    for (const ir::OpsetImport& import : c.unit->imports) {
        if (import.domain == opset.domain) {
            if (import.version != opset.version) {
                std::string_view domain = shown_domain(opset.domain);
                c.report(kOpsetConflict, range,
                         fmt::format("version {} of `{}` after version {} in the same {}",
                                     opset.version, domain, import.version,
                                     c.unit->is_function ? "function" : "model"))
                    .label(
                        c.unit->import_spans[static_cast<size_t>(&import - c.unit->imports.data())],
                        fmt::format("version {} is used here", import.version))
                    .with_help("use one version of a domain throughout");
            }
            return;
        }
    }
    c.unit->imports.push_back({c.model.intern(opset.domain), opset.version});
    c.unit->import_spans.push_back(c.span(range));
}

namespace {

NamedOpset opset_named_in(Context& c, const ScriptFunction& function) {
    for (const auto& [base, object] :
         outer_objects(c, function, &BlockReads::bases, ObjectKind::kOpset)) {
        if (object.get<OpsetObject>().domain.empty()) {
            return {base, object.get<OpsetObject>().version};
        }
    }
    return {};
}

// An opset of another domain says nothing of Python's operators.
int64_t default_opset_of(const ScriptFunction& function) {
    return function.default_opset.domain.empty() ? function.default_opset.version : 0;
}

// The first opset that the scripts called by a function name, or those that they call; 0: none.
int64_t opset_of_callees(Context& c, const ScriptFunction& function,
                         std::unordered_set<const ScriptFunction*>& visited) {
    constexpr size_t kMost = 1000;
    if (visited.size() >= kMost || !visited.insert(&function).second) {
        return 0;
    }
    for (const auto& [name, object] :
         outer_objects(c, function, &BlockReads::called, ObjectKind::kScript)) {
        const ScriptFunction& callee = object.get<ScriptFunction>();
        int64_t version = default_opset_of(callee);
        version = version != 0 ? version : opset_named_in(c, callee).version;
        version = version != 0 ? version : opset_of_callees(c, callee, visited);
        if (version != 0) {
            return version;
        }
    }
    return 0;
}

}  // namespace

NamedOpset named_opset(Context& c) {
    return opset_named_in(c, c.function());
}

namespace {

// The opset that callers compute with, from the nearest one on; 0: none says.
int64_t opset_of_callers(Context& c) {
    for (const Unit* unit = c.unit->caller; unit != nullptr; unit = unit->caller) {
        int64_t version = unit->python_opset.version;
        version = version != 0 ? version : ir::opset_version(unit->imports, "");
        if (version == 0 && unit->function != nullptr) {
            version = default_opset_of(*unit->function);
            version = version != 0 ? version : opset_named_in(c, *unit->function).version;
        }
        if (version != 0) {
            return version;
        }
    }
    return 0;
}

// The one version that the file of the script imports, or that of the files of its callers; 0: none
// or several.
int64_t opset_of_file(Context& c) {
    for (const Unit* unit = c.unit; unit != nullptr; unit = unit->caller) {
        if (unit->function == nullptr || unit->function->environment == nullptr) {
            continue;
        }
        std::vector<int64_t> versions = unit->function->environment->opset_versions();
        bool is_one =
            !versions.empty() && std::equal(versions.begin() + 1, versions.end(), versions.begin());
        if (is_one) {
            return versions[0];
        }
    }
    return 0;
}

// Nothing says which opset Python's operators are of.
void report_missing_opset(Context& c) {
    const ScriptFunction* function = c.unit->function;
    if (function == nullptr || c.program.diagnostics.has_errors()) {
        return;  // an expression of a file, which is no graph; or what a mistake has left
    }
    bool has_some =
        function->environment != nullptr && !function->environment->opset_versions().empty();
    c.program.diagnostics
        .report(
            kMissingOpset, function->name_span(),
            fmt::format("`{}` is of Python's operators alone, and {}", function->name,
                        has_some ? "its file imports several opsets" : "its file imports no opset"))
        .with_help(fmt::format("say which opset they are of, as in "
                               "`@script(default_opset=opset{})`",
                               kDefaultOpset));
}

}  // namespace

std::string opsets_around(Context& c) {
    const Unit& unit = *c.unit;
    int64_t own = unit.python_opset.version;
    own = own != 0 ? own : ir::opset_version(unit.imports, "");
    if (own == 0 && unit.function != nullptr) {
        own = default_opset_of(*unit.function);
        own = own != 0 ? own : opset_named_in(c, *unit.function).version;
    }
    own = own != 0 ? own : opset_of_callers(c);
    return fmt::format("{} {} {}", c.options.opset, own, opset_of_file(c));
}

OpsetObject operator_opset(Context& c) {
    OpsetObject& settled = c.unit->python_opset;
    if (settled.version == 0) {
        // What runs in place may say nothing; then what it runs in does.
        const ScriptFunction& own = c.function();
        const ScriptFunction& whole = c.unit->function != nullptr ? *c.unit->function : own;
        int64_t version = c.options.opset;
        version = version != 0 ? version : default_opset_of(own);
        version = version != 0 ? version : default_opset_of(whole);
        version = version != 0 ? version : ir::opset_version(c.unit->imports, "");
        version = version != 0 ? version : opset_named_in(c, own).version;
        version = version != 0 ? version : opset_named_in(c, whole).version;
        version = version != 0 ? version : opset_of_callers(c);
        version = version != 0 ? version : opset_of_file(c);
        std::unordered_set<const ScriptFunction*> visited;
        version = version != 0 ? version : opset_of_callees(c, whole, visited);
        if (version == 0) {
            report_missing_opset(c);
        }
        settled.version = version != 0 ? version : kDefaultOpset;
    }
    return settled;
}

OpsetObject compiled_opset(Context& c, const OpsetObject& written) {
    if (!written.domain.empty()) {
        return written;
    }
    if (c.options.opset != 0) {
        return {written.domain, c.options.opset};
    }
    return c.function().takes_opset_of_caller ? operator_opset(c) : written;
}

namespace {

bool has_bytes(const Tensor& tensor, size_t least) {
    return tensor.element_type() != ElementType::kString && tensor.bytes().size() >= least;
}

// Whether it becomes an initializer: smaller arrays do where the script asks for it, but never what
// has no name, such as literals.
bool is_initializer(const Context& c, const Tensor& tensor) {
    return has_bytes(tensor, kInitializerBytes) ||
           (has_bytes(tensor, c.initializer_bytes) && !tensor.bytes().empty() &&
            c.array_names.contains(tensor.bytes().data()));
}

// Of the type, the dims and both ends of the elements: files of weights are not read through.
size_t fingerprint(const Tensor& tensor) {
    constexpr size_t kEnd = 256;
    std::span<const std::byte> bytes = tensor.bytes();
    size_t hash = 14695981039346656037ULL;
    auto mix = [&hash](size_t value) { hash = (hash ^ value) * 1099511628211ULL; };
    mix(static_cast<size_t>(tensor.element_type()));
    for (int64_t dim : tensor.dims()) {
        mix(static_cast<size_t>(dim));
    }
    for (std::span<const std::byte> end : {bytes.first(kEnd), bytes.last(kEnd)}) {
        for (std::byte byte : end) {
            mix(static_cast<size_t>(byte));
        }
    }
    return hash;
}

bool is_same(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    std::span<const std::byte> left = a.bytes(), right = b.bytes();
    return left.data() == right.data() || std::equal(left.begin(), left.end(), right.begin());
}

ir::Value* shared_initializer(Context& c, Tensor tensor) {
    size_t key = fingerprint(tensor);
    auto [begin, end] = c.initializers.equal_range(key);
    for (auto at = begin; at != end; ++at) {
        if (is_same(*at->second->constant, tensor)) {
            return at->second;
        }
    }
    ir::Value* value = c.model.add_initializer(c.unit->graph, "", std::move(tensor));
    c.initializers.emplace(key, value);
    return value;
}

}  // namespace

void name_array(Context& c, const Object& object, std::string_view name) {
    if (object.is(ObjectKind::kConstant) &&
        has_bytes(object.get<Tensor>(), std::min(c.initializer_bytes, kInitializerBytes))) {
        const Tensor& tensor = object.get<Tensor>();
        c.array_names.try_emplace(tensor.bytes().data(), tensor, name);
    }
}

void name_initializers(Context& c) {
    for (const auto& [key, value] : c.initializers) {
        auto named = c.array_names.find(value->constant->bytes().data());
        if (named != c.array_names.end()) {
            value->name = c.model.intern(named->second.second);
        }
    }
}

ir::Value* emit_constant(Context& c, Tensor tensor, syntax::Range range) {
    if (!c.unit->is_function && is_initializer(c, tensor)) {
        return shared_initializer(c, std::move(tensor));
    }
    OpsetObject opset = operator_opset(c);
    import_opset(c, opset, range);
    NodeRequest request;
    request.version = opset.version;
    request.op_type = "Constant";
    request.attributes.push_back(ir::make_attribute("value", std::move(tensor)));
    request.range = range;
    ir::Node* node = emit_node(c, std::move(request));
    return node != nullptr ? node->output() : nullptr;
}

void discard_behind(ir::Graph& graph, const ir::Node* last) {
    for (ir::Node* node = graph.last_node(); node != last; node = graph.last_node()) {
        for (const ir::Attribute& attribute : node->attributes) {
            if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                discard(**inner);
            }
        }
        // What still uses it belongs to no node: a subgraph that was given up after a mistake.
        for (const ir::Value* output : node->outputs()) {
            while (const ir::Use* use = output->first_use()) {
                use->user->set_input(use->index, nullptr);
            }
        }
        graph.remove(node);
    }
}

void discard(ir::Graph& graph) {
    discard_behind(graph, nullptr);
    graph.outputs.clear();
}

ir::Value* Emitter::emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                                  std::initializer_list<ir::Attribute> attributes) {
    for (Value input : inputs) {
        if (input == nullptr) {
            return nullptr;  // reported before
        }
    }
    OpsetObject opset = operator_opset(c_);
    import_opset(c_, opset, range_);
    NodeRequest request;
    request.version = opset.version;
    request.op_type = op_type;
    request.inputs = inputs;
    request.attributes.assign(attributes.begin(), attributes.end());
    request.range = range_;
    request.input_ranges = operand_ranges_;
    // After an error in one node of an expression the rest of them would only repeat it.
    size_t errors = c_.program.diagnostics.error_count();
    ir::Node* node = emit_node(c_, std::move(request));
    bool is_fine = node != nullptr && c_.program.diagnostics.error_count() == errors;
    return is_fine ? node->output() : nullptr;
}

int64_t Emitter::dim(Value value, int64_t axis) const {
    if (rank(value) < 0) {
        return -1;
    }
    const Shape& shape = value->type.shape();
    axis += axis < 0 ? static_cast<int64_t>(shape.size()) : 0;
    bool known = axis >= 0 && axis < static_cast<int64_t>(shape.size()) &&
                 shape[static_cast<size_t>(axis)].is_static();
    return known ? shape[static_cast<size_t>(axis)].value() : -1;
}

std::optional<int64_t> Emitter::known(Value value) const {
    if (value == nullptr || !value->constant || value->constant->count() != 1) {
        return std::nullopt;
    }
    std::optional<std::vector<int64_t>> values = to_int64s(*value->constant);
    return values ? std::optional<int64_t>((*values)[0]) : std::nullopt;
}

bool Emitter::is_size(Value value) const {
    constexpr int64_t kFar = int64_t{1} << 62;
    return value != nullptr && value->content != nullptr &&
           value->type.element_type() == ElementType::kInt64 &&
           std::all_of(value->content->elements.begin(), value->content->elements.end(),
                       [](const Dim& dim) {
                           return dim.is_static() ? dim.value() < kFar && dim.value() > -kFar
                                                  : !dim.is_unknown();
                       });
}

// The same integers once per graph: bounds and axes of subscripts come again and again.
ir::Value* Emitter::shared_int64s(std::vector<int64_t> values, bool is_scalar) {
    auto place = c_.int64_constants.try_emplace({c_.graph, {is_scalar, values}}).first;
    if (place->second == nullptr) {
        Dims dims = is_scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())};
        place->second = emit_constant(c_, Tensor::of<int64_t>(std::move(dims), values), range_);
    }
    return place->second;
}

ir::Value* Emitter::int64s(std::vector<int64_t> values) {
    return shared_int64s(std::move(values), false);
}

ir::Value* Emitter::int64_scalar(int64_t value) {
    return shared_int64s({value}, true);
}

ir::Value* Emitter::scalar_like(Value like, double value) {
    if (like == nullptr) {
        return nullptr;
    }
    return as_value(c_, Object::real(value), range_, like->type.element_type(), like);
}

int64_t Emitter::opset() {
    return operator_opset(c_).version;
}

ir::Value* Emitter::fail(std::string message, std::string help) {
    c_.report(kUnsupportedOperand, range_, std::move(message)).with_help(std::move(help));
    return nullptr;
}

// --- Static objects as tensors -------------------------------------------------------------------

namespace {

struct Flat {
    Dims dims;
    std::vector<Object> leaves;
};

// Nested lists as dims and leaves; false when rows differ in length or the leaves are not plain.
bool flatten(const Object& object, size_t level, Flat& flat, int64_t limit) {
    if (level > 32 || static_cast<int64_t>(flat.leaves.size()) > limit) {
        return false;
    }
    if (object.is(ObjectKind::kRange)) {
        const RangeObject& range = object.get<RangeObject>();
        if (range.size() > limit) {
            return false;
        }
        std::vector<Object> items;
        for (int64_t i = 0; i < range.size(); ++i) {
            items.push_back(Object::integer(range.start + i * range.step));
        }
        return flatten(Object::list(std::move(items)), level, flat, limit);
    }
    if (!object.is_sequence()) {
        flat.leaves.push_back(object);
        return level == flat.dims.size();
    }
    int64_t size = static_cast<int64_t>(object.items().size());
    if (flat.dims.size() == level) {
        if (!flat.leaves.empty()) {
            return false;
        }
        flat.dims.push_back(size);
    } else if (flat.dims[level] != size) {
        return false;
    }
    for (const Object& item : object.items()) {
        if (!flatten(item, level + 1, flat, limit)) {
            return false;
        }
    }
    return true;
}

// The same; nothing, and a diagnostic, when it is no tensor.
std::optional<Flat> flatten(Context& c, const Object& object, syntax::Range range) {
    Flat flat;
    if (flatten(object, 0, flat, c.options.limits.text_bytes)) {
        return flat;
    }
    c.report(
         kUnsupportedOperand, range,
         fmt::format("{} that is no tensor: its rows differ in length or type", kind_name(object)))
        .with_help("make every row the same length");
    return std::nullopt;
}

// The element type that Python's values imply.
ElementType implied_type(const std::vector<Object>& leaves) {
    bool any_float = false, all_bool = true, all_text = true, all_number = true;
    for (const Object& leaf : leaves) {
        any_float = any_float || leaf.is(ObjectKind::kFloat);
        all_bool = all_bool && leaf.is(ObjectKind::kBool);
        all_text = all_text && (leaf.is(ObjectKind::kString) || leaf.is(ObjectKind::kBytes));
        all_number = all_number && (leaf.is_number() || leaf.is(ObjectKind::kElementType));
    }
    if (leaves.empty()) {
        return ElementType::kInt64;  // an empty list is a shape or a list of axes more often than
                                     // not
    }
    if (all_text) {
        return ElementType::kString;
    }
    if (!all_number) {
        return ElementType::kUndefined;
    }
    return all_bool ? ElementType::kBool : any_float ? ElementType::kFloat : ElementType::kInt64;
}

Int128 leaf_int(const Object& leaf) {
    return leaf.is(ObjectKind::kElementType) ? Int128{static_cast<int>(leaf.as_element_type())}
                                             : leaf.as_whole();
}

// A float literal that an integer type cannot hold exactly.
bool loses(const Object& leaf, ElementType type) {
    if (!leaf.is(ObjectKind::kFloat) || (!is_integer(type) && type != ElementType::kBool)) {
        return false;
    }
    return leaf.as_double() != std::floor(leaf.as_double());
}

// Numbers that become others: an infinity, zero, another integer. That fractions are rounded is
// true of every type, and not said.
void warn_of_loss(Context& c, const std::vector<Object>& leaves, const Tensor& tensor,
                  syntax::Range range) {
    if (!is_floating(tensor.element_type())) {
        return;  // integers that do not fit are refused
    }
    std::optional<std::vector<double>> got = to_doubles(tensor);
    for (size_t i = 0; got && i < leaves.size(); ++i) {
        double given = leaves[i].is(ObjectKind::kFloat) ? leaves[i].as_double()
                                                        : static_cast<double>(leaf_int(leaves[i]));
        double made = (*got)[i];
        bool is_lost = (std::isinf(made) && !std::isinf(given)) || (made == 0 && given != 0) ||
                       (!leaves[i].is(ObjectKind::kFloat) && made != given);
        if (is_lost) {
            c.report(kLossyCast, range,
                     fmt::format("`{}` becomes `{}` as {}", repr(leaves[i]), made,
                                 name(tensor.element_type())))
                .with_help("write the number that is meant, or cast the tensor to a wider type");
            return;
        }
    }
}

}  // namespace

std::optional<Tensor> static_tensor(Context& c, const Object& object, ElementType type,
                                    syntax::Range range) {
    if (object.is(ObjectKind::kConstant)) {
        return object.get<Tensor>();
    }
    std::optional<Flat> flattened = flatten(c, object, range);
    if (!flattened) {
        return std::nullopt;
    }
    Flat& flat = *flattened;
    ElementType implied = implied_type(flat.leaves);
    if (implied == ElementType::kUndefined) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} where a tensor is needed", kind_name(object)))
            .with_help(object.is(ObjectKind::kOperator)
                           ? fmt::format("call it: `op.{}(...)`", object.get<OperatorObject>().name)
                           : "give a tensor, a number, a string, or a list of numbers");
        return std::nullopt;
    }
    type = type == ElementType::kUndefined ? implied : type;
    bool to_text = type == ElementType::kString;
    if (to_text != (implied == ElementType::kString) && !flat.leaves.empty()) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("`{}` where a tensor of {} is needed", repr(object), name(type)))
            .with_help(to_text ? "give a string" : "give a number");
        return std::nullopt;
    }
    if (to_text) {
        std::vector<std::string> texts;
        for (const Object& leaf : flat.leaves) {
            texts.push_back(leaf.text());
        }
        return Tensor::of_strings(std::move(flat.dims), std::move(texts));
    }
    for (const Object& leaf : flat.leaves) {
        if (loses(leaf, type)) {
            c.report(kLossyLiteral, range,
                     fmt::format("`{}` would lose its fraction as {}", repr(leaf), name(type)))
                .with_help(
                    "cast the tensor first, as in `op.Cast(x, to=FLOAT.dtype)`, or write an "
                    "integer");
            return std::nullopt;
        }
    }
    bool all_integer = std::all_of(flat.leaves.begin(), flat.leaves.end(), [](const Object& leaf) {
        return leaf.is_whole() || leaf.is(ObjectKind::kElementType);
    });
    Result<Tensor> tensor = Error{};
    if (type == ElementType::kBool) {
        std::vector<int64_t> bits;
        for (const Object& leaf : flat.leaves) {
            bits.push_back(
                (leaf.is(ObjectKind::kFloat) ? leaf.as_double() != 0 : leaf_int(leaf) != 0) ? 1
                                                                                            : 0);
        }
        tensor = tensor_from_int64s(type, flat.dims, bits);
    } else if (all_integer) {
        std::vector<Int128> integers;
        for (const Object& leaf : flat.leaves) {
            integers.push_back(leaf_int(leaf));
        }
        tensor = tensor_from_integers(type, flat.dims, integers);
    } else {
        std::vector<double> reals;
        for (const Object& leaf : flat.leaves) {
            reals.push_back(leaf.as_double());
        }
        tensor = tensor_from_doubles(type, flat.dims, reals);
    }
    if (!tensor.ok()) {
        c.report(kLossyLiteral, range, tensor.error().message)
            .with_help(fmt::format("use a number that {} can hold", name(type)));
        return std::nullopt;
    }
    warn_of_loss(c, flat.leaves, *tensor, range);
    return std::move(*tensor);
}

ir::Value* attribute_value(Context& c, const AttributeObject& attribute, syntax::Range range) {
    struct Row {
        ir::AttributeType type;
        std::string_view constant_attribute;
        ElementType element;
        bool is_list;
    };
    static constexpr Row kRows[] = {
        {ir::AttributeType::kFloat, "value_float", ElementType::kFloat, false},
        {ir::AttributeType::kInt, "value_int", ElementType::kInt64, false},
        {ir::AttributeType::kString, "value_string", ElementType::kString, false},
        {ir::AttributeType::kTensor, "value", ElementType::kUndefined, false},
        {ir::AttributeType::kFloats, "value_floats", ElementType::kFloat, true},
        {ir::AttributeType::kInts, "value_ints", ElementType::kInt64, true},
        {ir::AttributeType::kStrings, "value_strings", ElementType::kString, true},
    };
    for (const Row& row : kRows) {
        if (row.type != attribute.type) {
            continue;
        }
        OpsetObject opset = operator_opset(c);
        import_opset(c, opset, range);
        NodeRequest request;
        request.version = opset.version;
        request.op_type = "Constant";
        ir::Attribute reference;
        reference.name = row.constant_attribute;
        reference.type = attribute.type;
        reference.reference = attribute.name;
        request.attributes.push_back(std::move(reference));
        request.range = range;
        ir::Node* node = emit_node(c, std::move(request));
        if (node == nullptr) {
            return nullptr;
        }
        ir::Value* value = node->output();
        if (row.element != ElementType::kUndefined && !value->type.is_known()) {
            value->type = Type::tensor(row.element, row.is_list ? Shape{Dim()} : Shape{});
        }
        if (attribute.is_bool) {
            Emitter e(c, range);
            value = e.emit("Cast", {value},
                           {ir::make_attribute("to", static_cast<int64_t>(ElementType::kBool))});
        }
        return value;
    }
    c.report(kUnsupportedOperand, range,
             fmt::format("the attribute parameter `{}` cannot be a tensor", attribute.name))
        .with_help("use it as an attribute of an operator alone");
    return nullptr;
}

namespace {

bool is_row(const Emitter& e, ir::Value* value) {
    return e.rank(value) > 1 || (e.rank(value) == 1 && e.dim(value, 0) != 1);
}

// The leaves of nested lists, some of them tensors, as parts of one vector (or, where they are
// tensors with axes, of rows): numbers that stand side by side are one constant. Empty after a
// diagnostic.
std::vector<ir::Value*> mixed_parts(Context& c, const std::vector<Object>& leaves,
                                    syntax::Range range, ElementType type, ir::Value* like) {
    Emitter e(c, range);
    std::vector<ir::Value*> parts;
    std::vector<Object> numbers;
    size_t rows = 0;
    auto put_numbers = [&] {
        if (!numbers.empty()) {
            parts.push_back(as_value(c, Object::list(std::move(numbers)), range, type, like));
            numbers.clear();
        }
        return parts.empty() || parts.back() != nullptr;
    };
    for (size_t i = 0, count = 1; i < leaves.size(); i += count) {
        const Object& leaf = leaves[i];
        count = 1;
        ir::Value* sizes =
            type == ElementType::kInt64 ? joined_sizes(c, leaves, i, count, range) : nullptr;
        if (sizes == nullptr && !leaf.is_tensor_like()) {
            numbers.push_back(leaf);
            continue;
        }
        ir::Value* value = !put_numbers()     ? nullptr
                           : sizes != nullptr ? sizes
                           : leaf.is_tensor() ? as_typed_value(c, leaf, type, range)
                                              : as_value(c, leaf, range, type, like);
        if (value == nullptr) {
            return {};
        }
        if (sizes != nullptr) {
            parts.push_back(value);
            continue;
        }
        rows += is_row(e, value) ? 1 : 0;
        parts.push_back(is_row(e, value) ? e.emit("Unsqueeze", {value, e.int64s({0})})
                                         : e.emit("Reshape", {value, e.int64s({1})}));
    }
    if (!put_numbers()) {
        return {};
    }
    if (rows != 0 && rows != leaves.size()) {
        c.report(kUnsupportedOperand, range,
                 "a list of tensors with axes and of scalars where a tensor is needed")
            .with_help("give all items one shape, or make a sequence with `op.SequenceConstruct`");
        return {};
    }
    return parts;
}

// [1, n], [[a, b], [c, 1.0]], [row, row]: one Concat, and a Reshape where lists are nested.
ir::Value* mixed_list(Context& c, const Object& object, syntax::Range range, ElementType type,
                      ir::Value* like) {
    std::optional<Flat> flattened = flatten(c, object, range);
    if (!flattened) {
        return nullptr;
    }
    Flat& flat = *flattened;
    bool any_float = false, any_either = false, surely_float = false;
    for (const Object& leaf : flat.leaves) {
        bool is_float = is_python_number(leaf) && is_floating(number_type(leaf));
        any_float = any_float || is_float;
        any_either = any_either || leaf.is_either();
        surely_float = surely_float || (is_float && !leaf.is_either());
        if (type == ElementType::kUndefined && leaf.is_tensor() && !leaf.is_number_tensor()) {
            type = leaf.value()->type.element_type();
            like = like == nullptr ? leaf.value() : like;
        }
    }
    // Python's numbers alone: as literals.
    if (type == ElementType::kUndefined && like == nullptr) {
        if (any_either && !surely_float) {
            report_either(c, range);
            return nullptr;
        }
        type = any_float ? ElementType::kFloat : ElementType::kInt64;
    }
    std::vector<ir::Value*> parts = mixed_parts(c, flat.leaves, range, type, like);
    if (parts.empty()) {
        return nullptr;
    }
    Emitter e(c, range);
    bool of_rows = e.rank(parts[0]) > 1;
    ir::Value* all = parts.size() == 1 ? parts[0]
                                       : e.emit_variadic("Concat", parts,
                                                         {ir::make_attribute("axis", int64_t{0})});
    if (flat.dims.size() < 2) {
        return all;
    }
    if (of_rows) {
        c.report(kUnsupportedOperand, range, "nested lists of tensors with axes")
            .with_help("stack the inner lists first, with `op.Concat`");
        return nullptr;
    }
    return e.emit("Reshape", {all, e.int64s({flat.dims.begin(), flat.dims.end()})});
}

}  // namespace

namespace {

// Whether FLOAT holds all floats in it exactly.
bool fits_float(const Object& object) {
    if (object.is_sequence()) {
        return std::all_of(object.items().begin(), object.items().end(), fits_float);
    }
    double value = object.is(ObjectKind::kFloat) ? object.as_double() : 0;
    return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
}

// A Python number that is known when the graph runs, as a literal would be: of `type`, of the type
// of `like`, or of what its kind implies.
ir::Value* number_value(Context& c, const Object& number, syntax::Range range, ElementType type,
                        ir::Value* like) {
    ir::Value* value = number.value();
    ElementType from = value->type.element_type();
    if (type == ElementType::kUndefined && like != nullptr) {
        return number_beside(c, value, like, range);
    }
    if (type == ElementType::kUndefined && number.is_either()) {
        report_either(c, range);
        return nullptr;
    }
    if (type == ElementType::kUndefined && from == ElementType::kUint64) {
        c.report(kUnsupportedOperand, range,
                 "an int of a UINT64 tensor as a tensor: it may not fit in INT64")
            .with_help("cast the tensor first, as in `op.Cast(x, to=INT64.dtype)`");
        return nullptr;
    }
    if (refuse_overflow(c, value, type, range)) {
        return nullptr;
    }
    type = type == ElementType::kUndefined && is_floating(from) ? ElementType::kFloat : type;
    bool stays = type == ElementType::kUndefined || from == ElementType::kUndefined ||
                 (from != ElementType::kBool && !is_floating(type) &&
                  (is_floating(from) || !is_integer(type)));  // a mismatch, as a literal is
    Emitter e(c, range);
    return stays ? value : lowering::cast(e, value, type);
}

// Whether every value of the attribute parameter can be of the element type: what its callers give
// is not known here. Where they are known, the function is built anew for what they give.
bool fits_unseen(Context& c, const AttributeObject& attribute, ElementType from, ElementType to,
                 syntax::Range range) {
    bool is_cut = is_floating(from) && !is_floating(to);
    bool is_narrowed = from == ElementType::kInt64 && is_integer(to) && to != ElementType::kInt64 &&
                       c.model.graph != nullptr;
    if (!is_cut && !is_narrowed) {
        return true;
    }
    c.report(kLossyLiteral, range,
             fmt::format("the attribute parameter `{}` is {}, and may not fit in {}",
                         attribute.name, is_cut ? "a float" : "an int", name(to)))
        .with_help(fmt::format("cast the tensor, or the attribute as in `op.Cast({}, to={}.dtype)`",
                               attribute.name, name(to)));
    return false;
}

}  // namespace

void report_either(Context& c, syntax::Range range) {
    c.report(kUnsupportedOperand, range,
             "whether it is an int, a float or a tensor is known only when the graph runs")
        .with_help(
            "give it one type in all cases, as by `0.0` or `op.CastLike(0, x)`, or annotate the "
            "result");
}

bool has_float(const Object& object) {
    return object.is_sequence()
               ? std::any_of(object.items().begin(), object.items().end(), has_float)
               : object.is(ObjectKind::kFloat);
}

ir::Value* cast_like(Context& c, ir::Value* value, ir::Value* like, syntax::Range range) {
    Emitter e(c, range);
    // Inference tells this from a CastLike that somebody wrote by what it casts, which is made at
    // the same place.
    bool stands_here = value->producer() != nullptr && value->producer()->span == c.span(range);
    if (!stands_here && is_floating(value->type.element_type())) {
        value = e.emit("Cast", {value},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kDouble))});
    }
    return e.emit("CastLike", {value, like});
}

ir::Value* as_value(Context& c, const Object& object, syntax::Range range, ElementType type,
                    ir::Value* like) {
    switch (object.kind()) {
        case ObjectKind::kError:
            return nullptr;
        case ObjectKind::kTensor:
            return object.is_number_tensor() ? number_value(c, object, range, type, like)
                                             : object.value();
        case ObjectKind::kNumbers:
            return number_value(c, object, range, type, like);
        case ObjectKind::kAttribute:
        case ObjectKind::kConstant: {
            ir::Value* value = object.is(ObjectKind::kAttribute)
                                   ? attribute_value(c, object.get<AttributeObject>(), range)
                                   : emit_constant(c, object.get<Tensor>(), range);
            ElementType from = value != nullptr ? value->type.element_type() : type;
            if (object.is(ObjectKind::kConstant)) {
                return value;  // an array has its element type, as in NumPy
            }
            if (value != nullptr && type != ElementType::kUndefined &&
                !fits_unseen(c, object.get<AttributeObject>(), from, type, range)) {
                return nullptr;
            }
            if (value == nullptr || from == type ||
                (type == ElementType::kUndefined && like == nullptr)) {
                return value;
            }
            if (type != ElementType::kUndefined) {
                return Emitter(c, range).emit(
                    "Cast", {value}, {ir::make_attribute("to", static_cast<int64_t>(type))});
            }
            return cast_like(c, value, like, range);
        }
        default:
            break;
    }
    if (object.is_sequence() && !object.is_static()) {
        return mixed_list(c, object, range, type, like);
    }
    bool is_open = type == ElementType::kUndefined && like != nullptr;
    // Floats are exact until the type is known.
    type = is_open && !fits_float(object) ? ElementType::kDouble : type;
    std::optional<Tensor> tensor = static_tensor(c, object, type, range);
    if (!tensor) {
        return nullptr;
    }
    ir::Value* constant = emit_constant(c, std::move(*tensor), range);
    return is_open && constant != nullptr ? cast_like(c, constant, like, range) : constant;
}

}  // namespace sardonyx::elaborate
