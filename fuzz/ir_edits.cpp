// Any bytes as edits of a model, those at the end first: each is done or refused with the reason,
// what comes of them keeps the invariants of the ir, and what is written of it reads as the same
// model. The model is that of the bytes, where they are one.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "ir/edit.h"
#include "ir/graph_walk.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "proto/forms.h"
#include "proto/proto.h"
#include "proto/same.h"

namespace {

using namespace sardonyx;

constexpr const char* kModel = R"(
< ir_version: 10, opset_import: ["" : 20, "local" : 1] >
g (float[N,4] x, float[4,4] w, bool flag) => (float[N,4] y)
< float[4] half = {0.5, 1, 2, 4}, int64[2] shape = {0, -1}, float[N,4] s >
{
    h = MatMul(x, w)
    t = local.scaled <k: float = 2.0> (h)
    flat = Reshape(t, shape)
    s = Softmax <axis: int = -1> (flat)
    y = If (flag) <
        then_branch: graph = g1 () => (a) { a = Mul(s, half) },
        else_branch: graph = g2 () => (b) { c = Neg(h)  b = Elu <alpha = 0.1> (c) }
    >
}
< domain: "local", opset_import: ["" : 20] >
scaled <k> (v) => (r) { c = Constant <value_float: float = @k> ()  r = Mul(v, c) }
)";

class Edits {
  public:
    Edits(ir::Model& model, std::span<const uint8_t> bytes)
        : model_(model), editor_(model), bytes_(bytes) {
        see(*model.graph);
        for (ir::Function* function : model.functions) {
            see(*function->body);
        }
    }

    bool at_end() const { return bytes_.empty(); }
    void next();
    void settle() { editor_.settle(); }

  private:
    uint8_t byte() {
        if (bytes_.empty()) {
            return 0;
        }
        uint8_t last = bytes_.back();
        bytes_ = bytes_.first(bytes_.size() - 1);
        return last;
    }
    template <typename T>
    T* one_of(const std::vector<T*>& all) {
        size_t place = byte() * 256u + byte();
        return all.empty() ? nullptr : all[place % all.size()];
    }
    ir::Value* value() { return byte() % 8 == 0 ? nullptr : one_of(values_); }
    std::vector<ir::Value*> values() {
        std::vector<ir::Value*> some;
        for (size_t count = byte() % 4; count > 0; --count) {
            some.push_back(value());
        }
        return some;
    }
    std::string name() {
        constexpr const char* kNames[] = {"x", "h", "half", "new", "", "a b", "\"", "r", "k"};
        return kNames[byte() % std::size(kNames)];
    }
    std::string op_type() {
        constexpr const char* kOperators[] = {"Neg", "Add", "If", "Loop", "scaled", "Constant", ""};
        return kOperators[byte() % std::size(kOperators)];
    }
    std::string domain() { return byte() % 3 == 0 ? "local" : ""; }
    Tensor tensor() {
        std::vector<float> numbers(byte() % 5, 1.5F);
        return Tensor::of<float>({static_cast<int64_t>(numbers.size())}, numbers);
    }
    ir::Attribute attribute(const std::string& name);
    ir::Editor::OutputNames output_names();

    void see(ir::Graph& graph);
    void see(ir::Value* one) { values_.push_back(one); }
    void see(ir::Node& node);
    void edit_node(ir::Node& node, uint8_t kind);
    void edit_value(ir::Value& one, uint8_t kind);
    void edit_graph(ir::Graph& graph, uint8_t kind);
    void insert(ir::Graph& graph);
    // Refusals have words.
    template <typename T>
    bool is_done(const Result<T>& result) {
        SDX_CHECK(result.ok() || !result.error().message.empty());
        return result.ok();
    }

    ir::Model& model_;
    ir::Editor editor_;
    std::span<const uint8_t> bytes_;
    // All that have been in the model.
    std::vector<ir::Graph*> graphs_;
    std::vector<ir::Node*> nodes_;
    std::vector<ir::Value*> values_;
};

void Edits::see(ir::Graph& graph) {
    graphs_.push_back(&graph);
    values_.insert(values_.end(), graph.inputs.begin(), graph.inputs.end());
    values_.insert(values_.end(), graph.initializers.begin(), graph.initializers.end());
    for (ir::Node& node : graph) {
        see(node);
    }
}

void Edits::see(ir::Node& node) {
    nodes_.push_back(&node);
    values_.insert(values_.end(), node.outputs().begin(), node.outputs().end());
    ir::for_each_subgraph(node, [&](ir::Graph& inner) { see(inner); });
}

ir::Attribute Edits::attribute(const std::string& name) {
    switch (byte() % 6) {
        case 0:
            return ir::make_attribute(name, int64_t{byte()});
        case 1:
            return ir::make_attribute(name, std::string("text"));
        case 2:
            return ir::make_attribute(name, tensor());
        case 3:
            return ir::make_attribute(name, one_of(graphs_));
        case 4: {
            ir::Attribute reference;
            reference.name = name;
            reference.reference = "k";
            reference.type = ir::AttributeType::kFloat;
            return reference;
        }
        default:
            return ir::make_attribute(name, std::vector<float>(byte() % 3, 1));
    }
}

ir::Editor::OutputNames Edits::output_names() {
    ir::Editor::OutputNames names(byte() % 3);
    for (std::optional<std::string>& one : names) {
        one = byte() % 2 == 0 ? std::nullopt : std::optional(name());
    }
    return names;
}

void Edits::insert(ir::Graph& graph) {
    std::vector<ir::Value*> inputs = values();
    std::string op = op_type(), of = domain(), attribute_name = "axis";
    ir::Editor::NewNode wanted;
    wanted.op_type = op;
    wanted.domain = of;
    wanted.inputs = inputs;
    wanted.outputs = output_names();
    if (byte() % 4 == 0) {
        wanted.attributes.push_back(attribute(attribute_name));
    }
    ir::Node* position = byte() % 2 == 0 ? nullptr : one_of(nodes_);
    Result<ir::Node*> made = editor_.insert(graph, position, wanted);
    if (is_done(made)) {
        see(**made);
    }
}

void Edits::edit_node(ir::Node& node, uint8_t kind) {
    std::string text = name();
    switch (kind) {
        case 0: {
            std::vector<ir::Node*> gone{&node};
            for (size_t more = byte() % 3; more > 0; --more) {
                gone.push_back(one_of(nodes_));
            }
            is_done(editor_.remove(gone));
            return;
        }
        case 1:
            is_done(editor_.move(node, byte() % 4 == 0 ? nullptr : one_of(nodes_)));
            return;
        case 2:
            is_done(editor_.set_inputs(node, values()));
            return;
        case 3:
            is_done(editor_.set_input(node, byte() % 4, value()));
            return;
        case 4:
            is_done(editor_.set_operator(node, domain(), op_type(), byte() % 8 == 0 ? text : ""));
            return;
        case 5:
            is_done(editor_.set_attribute(node, attribute(text)));
            return;
        case 6:
            is_done(editor_.remove_attribute(node, byte() % 2 == 0 ? "then_branch" : "axis"));
            return;
        default: {
            Result<ir::Graph*> made =
                editor_.add_subgraph(node, byte() % 2 == 0 ? "body" : "then_branch", text);
            if (is_done(made)) {
                see(**made);
            }
        }
    }
}

void Edits::edit_value(ir::Value& one, uint8_t kind) {
    switch (kind) {
        case 0:
            is_done(editor_.remove(one));
            return;
        case 1:
            is_done(editor_.set_tensor(one, tensor()));
            return;
        case 2:
            is_done(editor_.set_type(
                one, byte() % 3 == 0 ? Type()
                                     : Type::tensor(ElementType::kInt64, Shape({Dim(byte())}))));
            return;
        case 3:
            is_done(editor_.rename(one, name()));
            return;
        default:
            is_done(editor_.replace_uses(one, *one_of(values_)));
    }
}

void Edits::edit_graph(ir::Graph& graph, uint8_t kind) {
    std::string text = name();
    switch (kind) {
        case 0: {
            Result<ir::Value*> made = editor_.add_input(graph, text, Type());
            is_done(made) ? see(*made) : void();
            return;
        }
        case 1: {
            Result<ir::Value*> made = editor_.add_initializer(graph, text, tensor());
            is_done(made) ? see(*made) : void();
            return;
        }
        case 2:
            is_done(editor_.set_outputs(graph, values()));
            return;
        case 3:
            is_done(editor_.set_opset(domain(), byte() % 24));
            return;
        case 4:
            if (!model_.functions.empty()) {
                is_done(editor_.remove_function(*model_.functions.front()));
            }
            return;
        default:
            insert(graph);
    }
}

void Edits::next() {
    uint8_t kind = byte() % 24;
    if (kind < 8 && !nodes_.empty()) {
        edit_node(*one_of(nodes_), kind);
    } else if (kind < 13 && !values_.empty()) {
        edit_value(*one_of(values_), kind - 8);
    } else {
        edit_graph(*one_of(graphs_), kind - 13);
    }
}

void check(const ir::Model& model) {
    SDX_CHECK(ir::verify(model).empty());
    Result<std::string> bytes = proto::write_model(model);
    SDX_CHECK(bytes.ok());
    auto owner = std::make_shared<std::string>(std::move(*bytes));
    auto again = proto::read_model(std::as_bytes(std::span<const char>(*owner)), owner);
    SDX_CHECK(again.ok());
    Result<bool> same = proto::is_same(model, **again);
    SDX_CHECK(same.ok() && *same);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string builtin = *proto::bytes_of_text(kModel, proto::Form::kOnnxText);
    auto model = proto::read_model(std::as_bytes(std::span<const uint8_t>(data, size)), nullptr);
    if (!model.ok() || (*model)->graph == nullptr) {
        model = proto::read_model(std::as_bytes(std::span<const char>(builtin)), nullptr);
    }
    Edits edits(**model, {data, size});
    for (int count = 0; count < 64 && !edits.at_end(); ++count) {
        edits.next();
        if (count % 16 == 15) {
            edits.settle();
            check(**model);
        }
    }
    edits.settle();
    check(**model);
    return 0;
}
