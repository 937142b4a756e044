// Nodes made one by one by a program: each is typed as it is made, and one that inference finds
// something wrong with is not made.
#pragma once

#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "calls/check.h"
#include "ir/edit.h"
#include "lowering/graph_values.h"
#include "ops/ops.h"

namespace sardonyx::build {

// Where nodes go: to the end of a graph. Everything in the model is typed.
struct Site {
    ir::Model& model;
    ir::Editor& editor;
    ir::Graph* graph;
    int* fresh_dims;  // that have names, in the whole model
};

// A call of an operator, or of a function of the model.
struct NodeRequest {
    std::string_view domain;
    std::string_view op_type;
    std::string_view name;
    std::span<ir::Value* const> inputs;
    std::vector<ir::Attribute> attributes;
    ir::Editor::OutputNames outputs;
};

// The definition that a call of `op_type` in this version of a domain means (0: the version that
// the model imports); null: the tables do not have the domain. Error: there is no such operator, or
// the model imports a version that defines it otherwise.
Result<const ops::Schema*> find_operator(const Site& site, std::string_view domain,
                                         std::string_view op_type, int64_t version);
// The same, and the model imports the domain from here on.
Result<const ops::Schema*> import_operator(const Site& site, std::string_view domain,
                                           std::string_view op_type, int64_t version);
// How many outputs a call has that names none of them: the parts of a Split, else those that no
// call leaves out. `schema`: null where nobody knows the operator.
size_t output_count(const ops::Schema* schema, const NodeRequest& request);
// What is wrong with a call against its schema, before a node is made of it: inputs and outputs
// that are missing or too many, and attributes that are missing.
std::optional<calls::Problem> check_call(const ops::Schema& schema, const NodeRequest& request);
// The same, and attributes that the operator does not have, or that cannot have these values. The
// attributes of a call that is bound by its schema (eager/arguments.h) are neither.
std::optional<calls::Problem> check_request(const ops::Schema& schema, const NodeRequest& request);
// Puts a typed node there; inputs at the end that are left out are none. Error: an edit that is
// refused, or the first finding, with the operator's name.
Result<ir::Node*> make_node(const Site& site, NodeRequest request);
// Types a node whose inputs, and whose graphs, are typed. Error: the first finding.
Result<void> type_node(const Site& site, ir::Node& node);
// The nodes of another model's main graph, typed by what `inputs` are here; what its outputs are.
Result<std::vector<ir::Value*>> splice(const Site& site, const ir::Model& from,
                                       std::span<ir::Value* const> inputs);
// What can be an output of the graph of the site: the value itself where a node of that graph makes
// it and it is none of `outputs`, else a copy.
Result<ir::Value*> as_output(const Site& site, ir::Value* value,
                             std::span<ir::Value* const> outputs);

// The value, or what as_output() makes of it, as one more output of the graph of the site, with a
// new name where one is given, and of the type that it is `stated` to have where more is known so.
// Error: a name that is taken, or a type that it does not have.
Result<ir::Value*> add_output(const Site& site, ir::Value* value,
                              std::optional<std::string_view> name, const Type& stated);
// A model with an empty graph of this name. Error: there is no such opset.
Result<std::unique_ptr<ir::Model>> empty_model(int64_t opset, std::string_view name);

// The emitter that lowering/operators.h asks for. An expression is made whole or not at all: an
// exception that ends the life of the emitter, such as that of a caller to whom error() has said
// why there is no value, or that of a wrong literal, leaves nothing of it.
class GraphEmitter : public lowering::GraphValues {
  public:
    explicit GraphEmitter(const Site& site) : site_(site) {}
    ~GraphEmitter();
    GraphEmitter(const GraphEmitter&) = delete;
    GraphEmitter& operator=(const GraphEmitter&) = delete;

    Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> attributes = {}) {
        return emit_variadic(op_type, {inputs.begin(), inputs.size()}, attributes);
    }
    Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                        std::initializer_list<ir::Attribute> attributes = {});
    // A Constant node.
    Value constant(Tensor tensor);
    bool is_size(Value /*value*/) const { return false; }
    Value int64s(std::vector<int64_t> values);
    Value int64_scalar(int64_t value) { return constant(Tensor::scalar(value)); }
    Value scalar_like(Value like, double value);
    int64_t opset() const { return site_.model.opset_version(""); }
    Value fail(const std::string& message, const std::string& help);
    Value fail_index(const std::string& message, const std::string& help) {
        is_index_error_ = !error_;
        return fail(message, help);
    }

    const std::vector<ir::Node*>& made() const { return made_; }
    const std::optional<Error>& error() const { return error_; }
    bool is_index_error() const { return is_index_error_; }

  private:
    Value fail(Error error);

    Site site_;
    int exceptions_ = std::uncaught_exceptions();
    std::vector<ir::Node*> made_;
    std::optional<Error> error_;
    bool is_index_error_ = false;
};

}  // namespace sardonyx::build
