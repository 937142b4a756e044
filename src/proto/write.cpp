// The writer. Fields go in the order of their numbers, as the onnx package's own serialiser has
// them, and lists in the order of the ir: equal models give equal bytes.
//
// What is written although protobuf would not need it: the domain of an opset import and of a
// function, also when it is empty, and raw_data, also without elements (both as onnx.helper does).
#include <fmt/format.h>

#include <limits>
#include <string>
#include <unordered_set>

#include "base/stop.h"
#include "proto/fields.h"
#include "proto/place_external.h"
#include "proto/proto.h"
#include "proto/sink.h"

namespace sardonyx::proto {
namespace {

using ir::AttributeType;

template <typename Sink>
void text(Sink& sink, uint32_t field, std::string_view text) {
    if (!text.empty()) {
        sink.bytes(field, text);
    }
}

template <typename Sink>
void metadata(Sink& sink, uint32_t field, const ir::Metadata& entries) {
    for (const auto& entry : entries) {
        sink.message(field, [&] {
            sink.bytes(EntryField::kKey, entry.first);
            sink.bytes(EntryField::kValue, entry.second);
        });
    }
}

// The preserved fields with numbers from `first` to `last`, in their old order.
template <typename Sink>
void preserved(Sink& sink, std::string_view fields, uint32_t first, uint32_t last) {
    protozero::pbf_reader message(fields);
    while (!fields.empty() && message.next()) {
        uint32_t number = message.tag();
        message.skip();
        size_t size = fields.size() - message.length();
        if (number >= first && number <= last) {
            sink.fields(fields.substr(0, size));
        }
        fields.remove_prefix(size);
    }
}

// --- Types ---------------------------------------------------------------------------------------

template <typename Sink>
void shape(Sink& sink, const Shape& shape) {
    for (const Dim& dim : shape) {
        sink.message(ShapeField::kDim, [&] {
            if (dim.is_static()) {
                sink.varint(DimField::kValue, dim.value());
            } else if (dim.is_symbolic()) {
                sink.bytes(DimField::kParameter, dim.to_string());
            }
        });
    }
}

template <typename Sink>
void type(Sink& sink, const Type& value);

template <typename Sink>
void tensor_type(Sink& sink, const Type& value) {
    if (value.element_type() != ElementType::kUndefined) {
        sink.varint(TensorTypeField::kElementType, static_cast<int64_t>(value.element_type()));
    }
    if (value.has_shape()) {
        sink.message(TensorTypeField::kShape, [&] { shape(sink, value.shape()); });
    }
}

template <typename Sink>
void container_type(Sink& sink, const Type& value) {
    if (value.element().is_known()) {
        sink.message(ContainerTypeField::kElement, [&] { type(sink, value.element()); });
    }
}

template <typename Sink>
void map_type(Sink& sink, const Type& value) {
    sink.varint(MapTypeField::kKey, static_cast<int64_t>(value.element_type()));
    sink.message(MapTypeField::kValue, [&] { type(sink, value.element()); });
}

// The fields of a TypeProto.
template <typename Sink>
void type(Sink& sink, const Type& value) {
    switch (value.kind()) {
        case TypeKind::kUnknown:
            break;
        case TypeKind::kTensor:
            sink.message(TypeField::kTensor, [&] { tensor_type(sink, value); });
            break;
        case TypeKind::kSparseTensor:
            sink.message(TypeField::kSparseTensor, [&] { tensor_type(sink, value); });
            break;
        case TypeKind::kSequence:
            sink.message(TypeField::kSequence, [&] { container_type(sink, value); });
            break;
        case TypeKind::kOptional:
            sink.message(TypeField::kOptional, [&] { container_type(sink, value); });
            break;
        case TypeKind::kMap:
            sink.message(TypeField::kMap, [&] { map_type(sink, value); });
            break;
    }
}

// Whether a value_info entry may say it: runtimes refuse types without an element type, which
// subgraphs in functions have.
bool is_complete(const Type& type) {
    switch (type.kind()) {
        case TypeKind::kUnknown:
            return false;
        case TypeKind::kTensor:
        case TypeKind::kSparseTensor:
            return type.element_type() != ElementType::kUndefined;
        case TypeKind::kMap:
            return type.element_type() != ElementType::kUndefined && is_complete(type.element());
        default:
            return is_complete(type.element());
    }
}

// --- Tensors -------------------------------------------------------------------------------------

struct TensorTexts {
    std::string_view name;
    std::string_view doc;
    const ir::Metadata* metadata = nullptr;
};

template <typename Sink>
void external_data(Sink& sink, const Place& place) {
    const std::pair<std::string_view, std::string_view> entries[] = {
        {"location", place.location}, {"offset", place.offset}, {"length", place.length}};
    for (const auto& [key, value] : entries) {
        sink.message(TensorField::kExternalData, [&, key = key, value = value] {
            sink.bytes(EntryField::kKey, key);
            sink.bytes(EntryField::kValue, value);
        });
    }
    constexpr int64_t kExternal = 1;  // TensorProto.DataLocation
    sink.varint(TensorField::kDataLocation, kExternal);
}

template <typename Sink>
void tensor(Sink& sink, const Tensor& value, const TensorTexts& texts = {},
            const Place* place = nullptr) {
    for (int64_t dim : value.dims()) {
        sink.varint(TensorField::kDims, dim);
    }
    sink.varint(TensorField::kDataType, static_cast<int64_t>(value.element_type()));
    bool is_text = value.element_type() == ElementType::kString;
    if (is_text) {
        for (const std::string& element : value.elements<std::string>()) {
            sink.bytes(TensorField::kStringData, element);
        }
    }
    text(sink, TensorField::kName, texts.name);
    if (!is_text && place == nullptr) {
        std::span<const std::byte> bytes = value.stored_bytes();
        sink.lasting(TensorField::kRawData,
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    text(sink, TensorField::kDoc, texts.doc);
    if (place != nullptr) {
        external_data(sink, *place);
    }
    if (texts.metadata != nullptr) {
        metadata(sink, TensorField::kMetadata, *texts.metadata);
    }
}

template <typename Sink>
void sparse_tensor(Sink& sink, const ir::SparseTensor& value, std::string_view name) {
    sink.message(SparseTensorField::kValues, [&] {
        tensor(sink, value.values, {name, {}, nullptr});
    });
    sink.message(SparseTensorField::kIndices, [&] { tensor(sink, value.indices); });
    for (int64_t dim : value.dims) {
        sink.varint(SparseTensorField::kDims, dim);
    }
}

// --- Attributes ----------------------------------------------------------------------------------

// `places`: where its initializers are that are not written into it.
template <typename Sink>
void graph(Sink& sink, const ir::Graph& value, const Places& places = {});

// One overload for each alternative of AttributeValue, single ones and lists.
template <typename Sink>
struct AttributeValueWriter {
    Sink& sink;

    void operator()(std::monostate) {}
    void operator()(float value) { sink.fixed32(AttributeField::kFloat, value); }
    void operator()(int64_t value) { sink.varint(AttributeField::kInt, value); }
    void operator()(const std::string& value) { sink.bytes(AttributeField::kString, value); }
    void operator()(const Tensor& value) { message(AttributeField::kTensor, value); }
    void operator()(ir::Graph* value) { message(AttributeField::kGraph, value); }
    void operator()(const ir::SparseTensor& value) {
        message(AttributeField::kSparseTensor, value);
    }
    void operator()(const Type& value) { message(AttributeField::kTypeProto, value); }
    void operator()(const std::vector<float>& values) {
        for (float value : values) {
            sink.fixed32(AttributeField::kFloats, value);
        }
    }
    void operator()(const std::vector<int64_t>& values) {
        for (int64_t value : values) {
            sink.varint(AttributeField::kInts, value);
        }
    }
    void operator()(const std::vector<std::string>& values) {
        for (const std::string& value : values) {
            sink.bytes(AttributeField::kStrings, value);
        }
    }
    void operator()(const std::vector<Tensor>& values) { list(AttributeField::kTensors, values); }
    void operator()(const std::vector<ir::Graph*>& values) {
        list(AttributeField::kGraphs, values);
    }
    void operator()(const std::vector<ir::SparseTensor>& values) {
        list(AttributeField::kSparseTensors, values);
    }
    void operator()(const std::vector<Type>& values) { list(AttributeField::kTypeProtos, values); }

    template <typename T>
    void list(uint32_t field, const std::vector<T>& values) {
        for (const T& value : values) {
            message(field, value);
        }
    }
    template <typename T>
    void message(uint32_t field, const T& value) {
        sink.message(field, [&] { fields(value); });
    }
    void fields(const Tensor& value) { tensor(sink, value); }
    void fields(ir::Graph* value) { graph(sink, *value); }
    void fields(const ir::SparseTensor& value) { sparse_tensor(sink, value, {}); }
    void fields(const Type& value) { type(sink, value); }
};

// Whether the value field of an attribute comes after `doc_string` (13) in the order of numbers.
bool is_after_doc(const ir::Attribute& attribute) {
    return attribute.type == AttributeType::kTypeProto ||
           attribute.type == AttributeType::kTypeProtos;
}
// ... and after `type` (20) and `ref_attr_name` (21).
bool is_after_type(const ir::Attribute& attribute) {
    return attribute.type == AttributeType::kSparseTensor ||
           attribute.type == AttributeType::kSparseTensors;
}

template <typename Sink>
void attribute(Sink& sink, const ir::Attribute& value) {
    AttributeValueWriter<Sink> writer{sink};
    sink.bytes(AttributeField::kName, value.name);
    if (!is_after_doc(value) && !is_after_type(value)) {
        std::visit(writer, value.value);
    }
    text(sink, AttributeField::kDoc, value.doc);
    if (is_after_doc(value)) {
        std::visit(writer, value.value);
    }
    sink.varint(AttributeField::kType, static_cast<int64_t>(value.type));
    text(sink, AttributeField::kReference, value.reference);
    if (is_after_type(value)) {
        std::visit(writer, value.value);
    }
}

template <typename Sink>
void attributes(Sink& sink, uint32_t field, const std::vector<ir::Attribute>& values) {
    for (const ir::Attribute& value : values) {
        sink.message(field, [&] { attribute(sink, value); });
    }
}

// --- Nodes and graphs ----------------------------------------------------------------------------

template <typename Sink>
void node(Sink& sink, const ir::Node& value) {
    for (const ir::Use& use : value.inputs()) {
        sink.bytes(NodeField::kInput, use.value != nullptr ? use.value->name : std::string_view());
    }
    for (const ir::Value* output : value.outputs()) {
        sink.bytes(NodeField::kOutput, output->name);
    }
    text(sink, NodeField::kName, value.name);
    sink.bytes(NodeField::kOpType, value.op_type);
    attributes(sink, NodeField::kAttribute, value.attributes);
    text(sink, NodeField::kDoc, value.doc);
    text(sink, NodeField::kDomain, value.domain);
    text(sink, NodeField::kOverload, value.overload);
    metadata(sink, NodeField::kMetadata, value.metadata);
    sink.fields(value.preserved);
}

template <typename Sink>
void nodes(Sink& sink, uint32_t field, const ir::Graph& value) {
    StopCounter stops;
    for (const ir::Node& inner : value) {
        stops.step();
        sink.message(field, [&] { node(sink, inner); });
    }
}

// Whether the bytes that a value's type was read from still say it.
bool is_unchanged(const ir::Value& value) {
    Result<Type> said = read_type(std::as_bytes(std::span(value.preserved)));
    return said.ok() && *said == value.type;
}

template <typename Sink>
void value_info(Sink& sink, uint32_t field, const ir::Value& value) {
    sink.message(field, [&] {
        sink.bytes(ValueInfoField::kName, value.name);
        bool is_known = is_complete(value.type);
        if (!value.preserved.empty() && (!is_known || is_unchanged(value))) {
            sink.bytes(ValueInfoField::kType, value.preserved);
        } else if (is_known) {
            sink.message(ValueInfoField::kType, [&] { type(sink, value.type); });
        }
        text(sink, ValueInfoField::kDoc, value.doc);
        metadata(sink, ValueInfoField::kMetadata, value.metadata);
    });
}

// The results of nodes that have a type or documentation and are not outputs of the graph.
template <typename Sink>
void inner_value_infos(Sink& sink, uint32_t field, const ir::Graph& graph,
                       const std::vector<ir::Value*>& said_elsewhere) {
    std::unordered_set<const ir::Value*> skipped(said_elsewhere.begin(), said_elsewhere.end());
    StopCounter stops;
    for (const ir::Node& inner : graph) {
        stops.step();
        for (const ir::Value* output : inner.outputs()) {
            bool says_something = is_complete(output->type) || !output->preserved.empty() ||
                                  !output->doc.empty() || !output->metadata.empty();
            if (says_something && !output->name.empty() && skipped.count(output) == 0) {
                value_info(sink, field, *output);
            }
        }
    }
}

template <typename Sink>
void initializers(Sink& sink, const ir::Graph& value, const Places& places) {
    for (const ir::Value* initializer : value.initializers) {
        if (initializer->sparse != nullptr) {
            continue;
        }
        SDX_CHECK(initializer->constant.has_value());
        // The documentation of an input is part of the input itself.
        TensorTexts texts{initializer->name, {}, nullptr};
        if (!initializer->is_graph_input()) {
            texts = {initializer->name, initializer->doc, &initializer->metadata};
        }
        auto found = places.find(initializer);
        const Place* place = found != places.end() ? &found->second : nullptr;
        sink.message(GraphField::kInitializer,
                     [&] { tensor(sink, *initializer->constant, texts, place); });
    }
}

template <typename Sink>
void graph(Sink& sink, const ir::Graph& value, const Places& places) {
    nodes(sink, GraphField::kNode, value);
    text(sink, GraphField::kName, value.name);
    initializers(sink, value, places);
    text(sink, GraphField::kDoc, value.doc);
    for (const ir::Value* input : value.inputs) {
        value_info(sink, GraphField::kInput, *input);
    }
    for (const ir::Value* output : value.outputs) {
        value_info(sink, GraphField::kOutput, *output);
    }
    inner_value_infos(sink, GraphField::kValueInfo, value, value.outputs);
    sink.fields(value.preserved);
    for (const ir::Value* initializer : value.initializers) {
        if (initializer->sparse != nullptr) {
            sink.message(GraphField::kSparseInitializer,
                         [&] { sparse_tensor(sink, *initializer->sparse, initializer->name); });
        }
    }
    metadata(sink, GraphField::kMetadata, value.metadata);
}

// --- Functions and models ------------------------------------------------------------------------

template <typename Sink>
void opset_imports(Sink& sink, uint32_t field, const std::vector<ir::OpsetImport>& imports) {
    for (const ir::OpsetImport& import : imports) {
        sink.message(field, [&] {
            sink.bytes(OpsetImportField::kDomain, import.domain);
            sink.varint(OpsetImportField::kVersion, import.version);
        });
    }
}

// IR version 10 brought FunctionProto.value_info.
constexpr int64_t kFunctionValueInfoVersion = 10;

template <typename Sink>
void function_value_infos(Sink& sink, const ir::Graph& body) {
    for (const ir::Value* input : body.inputs) {
        if (is_complete(input->type) || !input->doc.empty() || !input->metadata.empty()) {
            value_info(sink, FunctionField::kValueInfo, *input);
        }
    }
    inner_value_infos(sink, FunctionField::kValueInfo, body, {});
}

template <typename Sink>
void function(Sink& sink, const ir::Function& value, int64_t ir_version) {
    sink.bytes(FunctionField::kName, value.name);
    for (const ir::Value* input : value.body->inputs) {
        sink.bytes(FunctionField::kInput, input->name);
    }
    for (const ir::Value* output : value.body->outputs) {
        sink.bytes(FunctionField::kOutput, output->name);
    }
    for (std::string_view name : value.attributes) {
        sink.bytes(FunctionField::kAttribute, name);
    }
    nodes(sink, FunctionField::kNode, *value.body);
    text(sink, FunctionField::kDoc, value.doc);
    opset_imports(sink, FunctionField::kOpsetImport, value.opset_imports);
    sink.bytes(FunctionField::kDomain, value.domain);
    attributes(sink, FunctionField::kAttributeProto, value.attribute_defaults);
    if (ir_version >= kFunctionValueInfoVersion) {
        function_value_infos(sink, *value.body);
    }
    text(sink, FunctionField::kOverload, value.overload);
    metadata(sink, FunctionField::kMetadata, value.metadata);
    sink.fields(value.body->preserved);
}

template <typename Sink>
void model(Sink& sink, const ir::Model& value, int64_t ir_version, const Places& places) {
    sink.varint(ModelField::kIrVersion, ir_version);
    text(sink, ModelField::kProducerName, value.producer_name);
    text(sink, ModelField::kProducerVersion, value.producer_version);
    text(sink, ModelField::kDomain, value.domain);
    if (value.model_version != 0) {
        sink.varint(ModelField::kModelVersion, value.model_version);
    }
    text(sink, ModelField::kDoc, value.doc);
    if (value.graph != nullptr) {
        sink.message(ModelField::kGraph, [&] { graph(sink, *value.graph, places); });
    }
    opset_imports(sink, ModelField::kOpsetImport, value.opset_imports);
    metadata(sink, ModelField::kMetadata, value.metadata);
    preserved(sink, value.preserved, 0, ModelField::kFunctions - 1);
    for (const ir::Function* inner : value.functions) {
        sink.message(ModelField::kFunctions, [&] { function(sink, *inner, ir_version); });
    }
    preserved(sink, value.preserved, ModelField::kFunctions, UINT32_MAX);
}

// Refuses before anything is allocated for the result.
template <typename Describe>
Result<SizeSink> measured(Describe describe) {
    SizeSink measure;
    describe(measure);
    if (measure.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
        return Error{
            fmt::format("the model takes {} bytes, but protobuf is limited to 2 GiB: store its "
                        "weights in a separate file (`external_bytes=1024`, on the command line "
                        "`--external-data 1024`)",
                        measure.size())};
    }
    return measure;
}

template <typename Describe>
Result<std::string> serialize_checked(Describe describe) {
    SDX_ASSIGN(SizeSink measure, measured(describe));
    return write_measured(std::move(measure), describe);
}

}  // namespace

Result<std::string> write_model(const ir::Model& value, External* external) {
    int64_t ir_version = needed_ir_version(value);
    SDX_ASSIGN(Places places, place_initializers(value, external));
    return serialize_checked([&](auto& sink) { model(sink, value, ir_version, places); });
}

Result<ModelParts> write_model_parts(const ir::Model& value, External* external, Form form) {
    if (form != Form::kBytes) {
        SDX_ASSIGN(std::string bytes, write_model(value, external));
        ModelParts parts;
        SDX_ASSIGN(parts.own, text_of_model(bytes, form));
        return parts;
    }
    int64_t ir_version = needed_ir_version(value);
    SDX_ASSIGN(Places places, place_initializers(value, external));
    auto describe = [&](auto& sink) { model(sink, value, ir_version, places); };
    SDX_ASSIGN(SizeSink measure, measured(describe));
    ModelParts parts;
    parts.own.resize(measure.size() - measure.large());
    PartSink sink(measure.take_sizes(), &parts.own);
    describe(sink);
    SDX_CHECK(sink.is_full());
    parts.others = sink.take_others();
    return parts;
}

Result<std::string> shown_text(const ir::Model& value) {
    constexpr int64_t kMostElements = 1000;  // as NumPy
    External hidden;                         // what would be copied and then cut short
    hidden.smallest = 1;
    hidden.takes = [](const Tensor& tensor) {
        return tensor.element_type() != ElementType::kString && tensor.count() > kMostElements;
    };
    SDX_ASSIGN(std::string bytes, write_model(value, &hidden));
    return shown_text_of_model(bytes, kMostElements);
}

std::vector<std::string_view> ModelParts::parts() const {
    std::vector<std::string_view> all;
    std::string_view rest = own;
    size_t done = 0;
    for (const Other& other : others) {
        all.push_back(rest.substr(0, other.place - done));
        rest.remove_prefix(other.place - done);
        done = other.place;
        all.push_back(other.bytes);
    }
    all.push_back(rest);
    return all;
}

size_t ModelParts::size() const {
    size_t bytes = own.size();
    for (const Other& other : others) {
        bytes += other.bytes.size();
    }
    return bytes;
}

Result<std::string> write_function(const ir::Model& owner, const ir::Function& value) {
    int64_t ir_version = needed_ir_version(owner);
    return serialize_checked([&](auto& sink) { function(sink, value, ir_version); });
}

Result<std::string> write_library(const ir::Model& value, std::span<const std::string> functions) {
    SDX_ASSIGN(std::string bytes, write_model(value));
    for (const std::string& one : functions) {
        protozero::add_varint_to_buffer(&bytes, bytes_field(ModelField::kFunctions));
        protozero::add_varint_to_buffer(&bytes, one.size());
        bytes += one;
    }
    return bytes;
}

std::string write_tensor(const Tensor& value, std::string_view name) {
    auto describe = [&](auto& sink) { tensor(sink, value, {name, {}, nullptr}); };
    SizeSink measure;
    describe(measure);
    return write_measured(std::move(measure), describe);
}

}  // namespace sardonyx::proto
