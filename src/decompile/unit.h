// One script: a main graph or a function, statement by statement.
#pragma once

#include <map>
#include <span>

#include "decompile/facts.h"
#include "decompile/module.h"

namespace sardonyx::decompile {

class Unit {
  public:
    // `function`: null for the main graph, whose script is called `name`.
    Unit(Module& module, const ir::Graph& graph, const ir::Function* function, std::string name);

    // The text of the script, with its decorator. Error: what cannot be said.
    Result<std::string> write();
    const Facts& facts() const { return facts_; }
    // The inputs and outputs that the script cannot call as the graph does, with their new names.
    std::vector<std::pair<std::string_view, std::string_view>> renamed() const;

  private:
    using Targets = std::vector<std::string>;

    // Keeps the first problem, and gives something to go on with.
    Expression fail(const ir::Node& node, std::string_view what);
    void fail(std::string message);

    int64_t version_of(std::string_view domain) const;
    const ops::Schema* schema_of(const ir::Node& node) const;
    const ir::Function* callee_of(const ir::Node& node) const;

    std::string decorator();
    // The text of the default of an input of the model, whose parameter is `name`.
    std::string default_of(const ir::Value& input, const std::string& name);
    void name_interface();
    void add_inputs(Expression& parameters);
    void add_attributes(Expression& parameters);
    Expression attribute_parameter(const ir::Attribute& attribute);
    std::string default_words(const ir::Attribute& attribute);
    std::string result_annotation();

    void write_body(const ir::Graph& graph, size_t indent);
    void write_block(const ir::Graph& graph, size_t indent);
    void write_initializers(const ir::Graph& graph, size_t indent);
    void write_constant(const ir::Value& value, size_t indent);
    void write_node(const ir::Node& node, size_t indent);
    void write_subgraphs(const ir::Node& node, size_t indent);
    void write_subgraph(const ir::Node& node, const ir::Attribute& attribute,
                        const ir::Graph& graph, size_t indent);
    void write_return(const ir::Graph& graph, size_t indent);
    // `: FLOAT[3]` for an input or result of a body; nothing where it states no sizes.
    std::string body_annotation(const ir::Value& value);
    void begin_statement();

    // control.cpp: as statements of Python, where they are; false: nothing is written.
    bool write_statement(const ir::Node& node, size_t indent);
    bool write_if(const ir::Node& node, size_t indent);
    bool write_loop(const ir::Node& node, size_t indent);
    bool are_all_read(const ir::Node& node) const;
    void write_branch(const ir::Graph& graph, const Targets& targets, size_t indent);
    bool leave_out_condition(const ir::Graph& body);
    void write_assignment(const Targets& targets, std::span<ir::Value* const> values,
                          size_t indent);
    void know_types(const ir::Graph& graph, int depth);
    void know_subgraph(const ir::Node& node, const ir::Graph& graph);
    void know_results(const ir::Node& node);

    Targets targets_of(const ir::Node& node);
    void check_callee(const ir::Node& node, const ir::Function& callee);
    Expression call(const ir::Node& node);
    // As an operator of Python; nothing: it would be another node.
    std::optional<Expression> symbol(const ir::Node& node);
    bool has_attributes(const ir::Node& node) const;
    Expression argument(const ir::Node& node, size_t index);
    // The value by its name, or where it is stored.
    Expression operand(const ir::Value& value);
    // A constant as a literal that the compiler makes the same tensor of; nothing: it may not.
    std::optional<Expression> literal(const ir::Node& node, size_t index);
    bool is_literal_at(const ir::Node& node, size_t index) const;
    // Whether no statement makes a constant: it stands in each of its uses, as a literal or by its
    // name in the file of weights.
    bool is_inline(const ir::Value& value) const;
    std::optional<Expression> attribute(const ir::Node& node, const ir::Attribute& attribute);
    Expression attribute_value(const ir::Node& node, const ir::Attribute& attribute);
    bool is_default(const ir::Node& node, const ir::Attribute& attribute) const;
    const std::string& name_of(const ir::Value& value, std::string_view fallback);

    Module& module_;
    const ir::Graph& graph_;
    const ir::Function* function_;
    std::string name_;
    Facts facts_;
    Names names_;
    std::unordered_map<const ir::Value*, std::string> values_;
    std::unordered_map<const ir::Graph*, std::string> graphs_;
    std::map<std::string, std::string, std::less<>> parameters_;  // of attributes
    std::unordered_set<const ir::Value*> left_out_;               // results that have no statement
    std::unordered_set<const ir::Value*> of_loops_;  // counts and conditions, whose types are known
    std::string text_;
    bool opens_block_ = false;  // nothing stands in the block yet
    bool follows_def_ = false;  // a blank line is due
    bool names_opset_ = false;  // the text has `op.`
    std::optional<Error> error_;
};

}  // namespace sardonyx::decompile
