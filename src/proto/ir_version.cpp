// The lowest IR version that a model's content needs, by the comments on `enum Version` in
// onnx.proto; the number beside each rule is the version whose comment says it.
#include <algorithm>

#include "base/stop.h"
#include "ops/ops.h"
#include "proto/fields.h"
#include "proto/proto.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

// 4: initializers need not be inputs, BFLOAT16. Nothing is written for an older version, where
// every initializer had to be an input.
constexpr int64_t kLowest = 4;
constexpr int64_t kQuantizationAnnotation = 5;
constexpr int64_t kSparseTensors = 6;  // SparseTensorProto, sparse initializers
constexpr int64_t kTrainingInfo = 7;
constexpr int64_t kFunctions = 8;  // also TypeProto.SparseTensor and TypeProto.Optional
constexpr int64_t kAttributeDefaults = 9;
constexpr int64_t kOverloads = 10;  // also metadata_props outside of ModelProto
constexpr int64_t kDevices = 11;

constexpr int64_t version_of(ElementType type) {
    switch (type) {
        case ElementType::kFloat8E4M3FN:
        case ElementType::kFloat8E4M3FNUZ:
        case ElementType::kFloat8E5M2:
        case ElementType::kFloat8E5M2FNUZ:
            return 9;
        case ElementType::kUint4:
        case ElementType::kInt4:
            return 10;
        case ElementType::kFloat4E2M1:
            return 11;
        case ElementType::kFloat8E8M0:
            return 12;
        case ElementType::kUint2:
        case ElementType::kInt2:
            return 13;
        case ElementType::kFloat6E2M3:
        case ElementType::kFloat6E3M2:
            return 14;
        default:
            return kLowest;
    }
}

class VersionFinder {
  public:
    int64_t result() const { return version_; }

    void add_model(const ir::Model& model) {
        add_imports(model.opset_imports);
        if (!model.preserved.empty()) {
            add_preserved(model.preserved);
        }
        if (model.graph != nullptr) {
            add_graph(*model.graph);
        }
        for (const ir::Function* function : model.functions) {
            need(kFunctions);
            add_imports(function->opset_imports);
            need(function->attribute_defaults.empty() ? kLowest : kAttributeDefaults);
            need(function->overload.empty() ? kLowest : kOverloads);
            add_metadata(function->metadata);
            add_attributes(function->attribute_defaults);
            add_graph(*function->body);
        }
    }

  private:
    void need(int64_t version) { version_ = std::max(version_, version); }

    void add_metadata(const ir::Metadata& metadata) {
        need(metadata.empty() ? kLowest : kOverloads);
    }

    void add_imports(const std::vector<ir::OpsetImport>& imports) {
        for (const ir::OpsetImport& import : imports) {
            need(ops::ir_version_for_opset(import.domain, import.version));
        }
    }

    void add_preserved(std::string_view fields) {
        protozero::pbf_reader message(fields);
        while (message.next()) {
            need(message.tag() == ModelField::kTrainingInfo ? kTrainingInfo : kDevices);
            message.skip();
        }
    }

    void add_type(const Type& type) {
        need(version_of(type.element_type()));
        if (type.kind() == TypeKind::kSparseTensor || type.kind() == TypeKind::kOptional) {
            need(kFunctions);
        }
        if (type.element().is_known()) {
            add_type(type.element());
        }
    }

    void add_value(const ir::Value& value) {
        add_metadata(value.metadata);
        add_type(value.type);
    }

    void add_graph(const ir::Graph& graph) {
        add_metadata(graph.metadata);
        need(graph.preserved.empty() ? kLowest : kQuantizationAnnotation);
        for (const ir::Value* input : graph.inputs) {
            add_value(*input);
        }
        for (const ir::Value* initializer : graph.initializers) {
            if (initializer->sparse != nullptr) {
                need(kSparseTensors);
                need(version_of(initializer->sparse->values.element_type()));
            } else {
                add_metadata(initializer->metadata);
                need(version_of(initializer->constant->element_type()));
            }
        }
        StopCounter stops;
        for (const ir::Node& node : graph) {
            stops.step();
            add_node(node);
        }
    }

    void add_node(const ir::Node& node) {
        add_metadata(node.metadata);
        need(node.overload.empty() ? kLowest : kOverloads);
        need(node.preserved.empty() ? kLowest : kDevices);
        for (const ir::Value* output : node.outputs()) {
            add_value(*output);
        }
        add_attributes(node.attributes);
    }

    void add_attributes(const std::vector<ir::Attribute>& attributes) {
        for (const ir::Attribute& attribute : attributes) {
            std::visit([&](const auto& value) { add_part(value); }, attribute.value);
        }
    }

    void add_part(const Tensor& tensor) { need(version_of(tensor.element_type())); }
    void add_part(const ir::SparseTensor& tensor) {
        need(kSparseTensors);
        add_part(tensor.values);
    }
    void add_part(const Type& type) { add_type(type); }
    void add_part(ir::Graph* graph) { add_graph(*graph); }
    template <typename T>
    void add_part(const std::vector<T>& values) {
        for (const T& value : values) {
            add_part(value);
        }
    }
    // Numbers and texts need no version.
    void add_part(std::monostate) {}
    void add_part(float) {}
    void add_part(int64_t) {}
    void add_part(const std::string&) {}

    int64_t version_ = kLowest;
};

}  // namespace

int64_t needed_ir_version(const ir::Model& model) {
    if (model.ir_version != 0) {
        return model.ir_version;
    }
    VersionFinder finder;
    finder.add_model(model);
    return finder.result();
}

}  // namespace sardonyx::proto
