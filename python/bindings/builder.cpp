// The base class of sardonyx.Builder: each call of an operator adds a node.
#include <algorithm>

#include "bindings/call.h"
#include "bindings/model.h"
#include "bindings/numpy.h"
#include "bindings/operands.h"
#include "bindings/subscripts.h"
#include "bindings/tensor.h"
#include "build/blocks.h"
#include "build/inputs.h"
#include "build/nodes.h"
#include "driver/finish.h"
#include "lowering/operators.h"
#include "lowering/subscript.h"
#include "lowering/symbols.h"
#include "ops/ops.h"

namespace sardonyx::python {

namespace {

using build::GraphEmitter;

struct PyBuilder {
    std::shared_ptr<ModelState> state;
    ir::Graph* graph = nullptr;  // that is filled now: the main one, or that of a block
    int fresh_dims = 0;

    build::Site site() {
        ir::Editor& editor = editor_of(*state);
        settled(*state);
        return {*state->model, editor, graph, &fresh_dims};
    }
    build::Site site(ir::Graph& other) {
        build::Site there = site();
        there.graph = &other;
        return there;
    }
    GraphEmitter emitter() { return GraphEmitter(site()); }
};

// `builder.if_(...)` and `builder.loop(...)`, while their graphs are filled.
struct PyBlock {
    ir::Graph* around = nullptr;
    ir::Node* node = nullptr;
    std::vector<ir::Node*> constants;  // that the node reads
    build::Loop loop;                  // of a loop
};

PyBuilder make_builder(int64_t opset, const std::string& name) {
    Result<std::unique_ptr<ir::Model>> model = build::empty_model(opset, name);
    if (!model.ok()) {
        raise(PyExc_ValueError, model.error().message);
    }
    ir::Graph* graph = (*model)->graph;
    return {make_model(std::move(*model)).state, graph};
}

// The value of the expression, or its error.
nb::object finish(PyBuilder& self, GraphEmitter& e, ir::Value* value) {
    if (value == nullptr) {
        raise(e.is_index_error() ? nb::handle(PyExc_IndexError) : model_error(),
              e.error() ? e.error()->message : "an operand is missing");
    }
    return part_to_python(self.state, value);
}

bool is_operand(nb::handle object) {
    return nb::isinstance<PyValue>(object) || is_literal(object) || as_tensor(object) != nullptr ||
           is_array(object) || is_tensor_proto(object);
}

// Literals and tensors become constants; a literal takes the type of the operand beside it.
ir::Value* graph_operand(PyBuilder& self, GraphEmitter& e, nb::handle object, ElementType beside) {
    if (nb::isinstance<PyValue>(object)) {
        return value_from_argument(*self.state, object);
    }
    return e.constant(is_literal(object) ? tensor_from_literal(object, beside)
                                         : own_tensor_from_python(object));
}

ElementType settled_graph_type(nb::handle object) {
    return nb::isinstance<PyValue>(object)
               ? nb::inst_ptr<PyValue>(object)->get().type.element_type()
               : ElementType::kUndefined;
}

struct GraphOperands : PythonOperands {
    explicit GraphOperands(PyBuilder& of) : builder(of) {}

    static ElementType settled_type(nb::handle object) { return settled_graph_type(object); }
    ir::Value* value(GraphEmitter& e, nb::handle object, ElementType type) const {
        return graph_operand(builder, e, object, type);
    }

    PyBuilder& builder;
};

// The inputs of a call (build/inputs.h).
struct GraphInputs {
    static bool is_given(nb::handle object) { return object.is_valid() && !object.is_none(); }
    static bool is_literal(nb::handle object) { return python::is_literal(object); }
    static ElementType literal_type(nb::handle object) { return python::literal_type(object); }
    ir::Value* value(GraphEmitter& e, nb::handle object, ElementType type) const {
        if (!is_operand(object)) {
            raise(PyExc_TypeError, "`" + text_from_python(nb::repr(object)) +
                                       "` is not an input of `" + op.name +
                                       "`: it takes values of the builder, arrays and numbers");
        }
        return graph_operand(builder, e, object, type);
    }

    PyBuilder& builder;
    const Operator& op;
};

template <typename Operator, size_t kCount>
Operator operator_of(const std::string_view (&symbols)[kCount], const std::string& symbol) {
    std::optional<Operator> found = lowering::operator_of<Operator>(symbols, symbol);
    if (!found) {
        raise(PyExc_ValueError, "no operator `" + symbol + "`");
    }
    return *found;
}

nb::object binary_node(PyBuilder& self, const std::string& symbol, nb::handle left,
                       nb::handle right) {
    if (!is_operand(left) || !is_operand(right)) {
        return nb::borrow(Py_NotImplemented);
    }
    auto op = operator_of<lowering::Binary>(lowering::kBinarySymbols, symbol);
    GraphEmitter e = self.emitter();
    return finish(self, e, lowering::lower_binary_of(e, op, GraphOperands(self), left, right));
}

nb::object compare(PyBuilder& self, const std::string& symbol, nb::handle left, nb::handle right) {
    if (!is_operand(right)) {
        return nb::borrow(Py_NotImplemented);
    }
    auto op = operator_of<lowering::Compare>(lowering::kCompareSymbols, symbol);
    GraphEmitter e = self.emitter();
    ir::Value* a = graph_operand(self, e, left, settled_graph_type(right));
    ir::Value* b = graph_operand(self, e, right, settled_graph_type(left));
    return finish(self, e, lowering::lower_compare(e, op, a, b));
}

nb::object unary(PyBuilder& self, const std::string& symbol, nb::handle value) {
    auto op = operator_of<lowering::Unary>(lowering::kUnarySymbols, symbol);
    GraphEmitter e = self.emitter();
    ir::Value* a = graph_operand(self, e, value, ElementType::kUndefined);
    return finish(self, e, lowering::lower_unary(e, op, a));
}

struct GraphIndices {
    static bool is_value(nb::handle object) { return nb::isinstance<PyValue>(object); }
    ir::Value* tensor(GraphEmitter& e, nb::handle index) const {
        return is_value(index) ? value_from_argument(*builder.state, index)
                               : e.constant(tensor_from_python(index));
    }

    PyBuilder& builder;
};

nb::object subscript(PyBuilder& self, nb::handle value, nb::handle index) {
    GraphEmitter e = self.emitter();
    ir::Value* a = graph_operand(self, e, value, ElementType::kUndefined);
    return finish(self, e,
                  lowering::lower_subscript(e, a, subscript_items(e, index, GraphIndices{self})));
}

nb::list values_of(const PyBuilder& self, std::span<ir::Value* const> all) {
    nb::list values;
    for (ir::Value* value : all) {
        values.append(part_to_python(self.state, value));
    }
    return values;
}

nb::list values_of(const PyBuilder& self, const ir::Node& node) {
    return values_of(self, node.outputs());
}

nb::list call_operator(PyBuilder& self, const Operator& op, const nb::tuple& args,
                       nb::handle kwargs, nb::handle outputs, const std::string& name) {
    BoundCall bound = bind_call(op, args, nb::borrow<nb::dict>(kwargs));
    GraphEmitter e = self.emitter();
    std::vector<ir::Value*> inputs = build::inputs_of(
        e, op.schema(), std::span(std::as_const(bound.inputs)), GraphInputs{self, op});
    if (e.error()) {
        finish(self, e, nullptr);
    }
    build::NodeRequest request;
    request.domain = op.domain;
    request.op_type = op.name;
    request.name = name;
    request.inputs = inputs;
    request.attributes = std::move(bound.attributes);
    if (outputs.is_none()) {
        request.outputs.resize(build::output_count(op.schema(), request));
    } else {
        request.outputs = output_names(outputs);
    }
    if (auto problem =
            op.schema() != nullptr ? build::check_call(*op.schema(), request) : std::nullopt) {
        raise(PyExc_TypeError, problem->text());
    }
    edited(build::import_operator(self.site(), op.domain, op.name, op.version));
    return values_of(self, *edited(build::make_node(self.site(), std::move(request))));
}

ir::Graph& graph_of_builder(const PyBuilder& self) {
    return *self.state->model->graph;
}

nb::object add_output(PyBuilder& self, nb::handle given, nb::handle name, nb::handle type) {
    ir::Value* value = value_from_argument(*self.state, given);
    std::optional<std::string> text;
    if (!name.is_none()) {
        text = text_from_python(name);
    }
    Type stated = stated_type(type);
    return part_to_python(self.state, edited(build::add_output(self.site(graph_of_builder(self)),
                                                               value, text, stated)));
}

// The results of a compiled script for these values.
nb::list splice(PyBuilder& self, const PyModel& model, nb::handle inputs) {
    return values_of(self, edited(build::splice(self.site(), settled(*model.state),
                                                values_from_arguments(*self.state, inputs))));
}

// --- Blocks --------------------------------------------------------------------------------------

// A number, an array or a value as an input of a node.
ir::Value* value_of(PyBuilder& self, GraphEmitter& e, nb::handle object, ElementType type) {
    if (object.is_none()) {
        return nullptr;
    }
    if (!is_operand(object)) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(object)) +
                                   "` is not a value of the builder, array or number");
    }
    return graph_operand(self, e, object, type);
}

std::vector<ir::Value*> values_of_all(PyBuilder& self, GraphEmitter& e, nb::handle objects) {
    std::vector<ir::Value*> values;
    for (nb::handle object : nb::borrow<nb::object>(objects)) {
        values.push_back(value_of(self, e, object, ElementType::kUndefined));
    }
    return values;
}

PyBlock open_if(PyBuilder& self, nb::handle condition, const std::string& name) {
    GraphEmitter e = self.emitter();
    ir::Value* value = value_of(self, e, condition, ElementType::kBool);
    ElementType type = e.element(value);
    if (type != ElementType::kBool) {
        raise(PyExc_TypeError, "the condition of `if_` is a BOOL value, not " +
                                   (value == nullptr ? "None" : value->type.to_string()));
    }
    return {self.graph, edited(build::open_if(self.site(), value, name)), e.made(), {}};
}

void enter_branch(PyBuilder& self, const PyBlock& block, const std::string& attribute) {
    self.graph = edited(build::open_branch(self.site(*block.around), *block.node, attribute));
}

// An error at the end of a block removes the whole block.
void leave(PyBuilder& self, PyBlock& block) {
    self.graph = block.around;
    edited(build::abandon(self.site(), *block.node, block.constants));
    block.constants.clear();
}

void leave_branch(PyBuilder& self, PyBlock& block, nb::handle values) {
    GraphEmitter e = self.emitter();
    Result<void> closed = build::close_branch(self.site(), values_of_all(self, e, values));
    if (!closed.ok()) {
        leave(self, block);
        edited(closed);
    }
    self.graph = block.around;
}

nb::list close_if(PyBuilder& self, PyBlock& block) {
    Result<ir::Node*> node = build::close_if(self.site(*block.around), *block.node);
    if (!node.ok()) {
        leave(self, block);
        edited(node);
    }
    return values_of(self, **node);
}

PyBlock open_loop(PyBuilder& self, nb::handle trips, nb::handle condition, nb::handle carried,
                  nb::handle types, const std::string& name) {
    std::vector<Type> known;
    for (nb::handle type : nb::borrow<nb::object>(types)) {
        known.push_back(stated_type(type));
    }
    GraphEmitter e = self.emitter();
    build::LoopRequest request;
    request.trips = value_of(self, e, trips, ElementType::kInt64);
    request.condition = value_of(self, e, condition, ElementType::kBool);
    std::vector<ir::Value*> values = values_of_all(self, e, carried);
    request.carried = values;
    request.types = known;
    request.name = name;
    Result<build::Loop> loop = build::open_loop(self.site(), request);
    PyBlock block{self.graph, nullptr, e.made(), edited(std::move(loop))};
    block.node = block.loop.node;
    self.graph = block.loop.body;
    return block;
}

nb::list close_loop(PyBuilder& self, PyBlock& block, nb::handle condition, nb::handle carried,
                    nb::handle stacked) {
    GraphEmitter e = self.emitter();
    build::LoopEnd end;
    end.condition = value_of(self, e, condition, ElementType::kBool);
    std::vector<ir::Value*> values = values_of_all(self, e, carried);
    std::vector<ir::Value*> gathered = values_of_all(self, e, stacked);
    end.carried = values;
    end.stacked = gathered;
    Result<ir::Node*> node = build::close_loop(self.site(*block.around), block.loop, end);
    if (!node.ok()) {
        leave(self, block);
        edited(node);
    }
    self.graph = block.around;
    return values_of(self, **node);
}

void bind_blocks(nb::class_<PyBuilder>& c, nb::module_& m) {
    nb::class_<PyBlock>(m, "Block");
    c.def("splice", splice, nb::arg("model"), nb::arg("inputs"))
        .def("open_if", open_if, nb::arg("condition").none(), nb::arg("name"))
        .def("enter_branch", enter_branch, nb::arg("block"), nb::arg("attribute"))
        .def("leave_branch", leave_branch, nb::arg("block"), nb::arg("values"))
        .def("close_if", close_if, nb::arg("block"))
        .def("open_loop", open_loop, nb::arg("trips").none(), nb::arg("condition").none(),
             nb::arg("carried"), nb::arg("types"), nb::arg("name"))
        .def(
            "loop_inputs",
            [](const PyBuilder& self, const PyBlock& block) {
                nb::list values = values_of(self, block.loop.carried);
                values.insert(0, part_to_python(self.state, block.loop.iteration));
                return values;
            },
            nb::arg("block"))
        .def("close_loop", close_loop, nb::arg("block"), nb::arg("condition").none(),
             nb::arg("carried"), nb::arg("stacked"))
        .def("leave", leave, nb::arg("block"));
}

}  // namespace

void bind_builder(nb::module_& m) {
    nb::class_<PyBuilder> c(m, "GraphBuilder", "The native part of sardonyx.Builder.");
    bind_blocks(c, m);
    c.def(
         "__init__",
         [](PyBuilder* self, int64_t opset, const std::string& name) {
             new (self) PyBuilder(make_builder(opset, name));
         },
         nb::arg("opset"), nb::arg("name"))
        .def_prop_ro("graph",
                     [](const PyBuilder& self) {
                         return part_to_python(self.state, &graph_of_builder(self));
                     })
        .def(
            "fresh_name",
            [](const PyBuilder& self, const std::string& hint) {
                return editor_of(*self.state).fresh_name(graph_of_builder(self), hint);
            },
            nb::arg("hint"))
        .def("call", call_operator, nb::arg("op"), nb::arg("args"), nb::arg("kwargs"),
             nb::arg("outputs").none(), nb::arg("name"))
        .def("binary", binary_node, nb::arg("symbol"), nb::arg("left").none(),
             nb::arg("right").none())
        .def("compare", compare, nb::arg("symbol"), nb::arg("left").none(), nb::arg("right").none())
        .def("unary", unary, nb::arg("symbol"), nb::arg("value"))
        .def("subscript", subscript, nb::arg("value"), nb::arg("index").none())
        .def("add_output", add_output, nb::arg("value"), nb::arg("name").none(),
             nb::arg("type").none())
        .def("model", [](const PyBuilder& self) {
            ModelState& state = *self.state;
            return make_model(driver::snapshot(*state.model, editor_of(state)));
        });
}

}  // namespace sardonyx::python
