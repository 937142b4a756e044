#include "proto/messages.h"

#include <cstddef>

namespace sardonyx::proto {
namespace {

using enum FieldKind;
using enum FieldRule;

constexpr FieldInfo kAttributeProtoFields[] = {
    {1, "name", kString, kOne},
    {2, "f", kFloat, kOne},
    {3, "i", kInt64, kOne},
    {4, "s", kBytes, kOne},
    {5, "t", kMessage, kOne, &kTensorProto},
    {6, "g", kMessage, kOne, &kGraphProto},
    {7, "floats", kFloat, kMany},
    {8, "ints", kInt64, kMany},
    {9, "strings", kBytes, kMany},
    {10, "tensors", kMessage, kMany, &kTensorProto},
    {11, "graphs", kMessage, kMany, &kGraphProto},
    {13, "doc_string", kString, kOne},
    {14, "tp", kMessage, kOne, &kTypeProto},
    {15, "type_protos", kMessage, kMany, &kTypeProto},
    {20, "type", kAttributeType, kOne},
    {21, "ref_attr_name", kString, kOne},
    {22, "sparse_tensor", kMessage, kOne, &kSparseTensorProto},
    {23, "sparse_tensors", kMessage, kMany, &kSparseTensorProto},
};

constexpr FieldInfo kDeviceConfigurationProtoFields[] = {
    {1, "name", kString, kOne},
    {2, "num_devices", kInt32, kOne},
    {3, "device", kString, kMany},
};

constexpr FieldInfo kFunctionProtoFields[] = {
    {1, "name", kString, kOne},
    {4, "input", kString, kMany},
    {5, "output", kString, kMany},
    {6, "attribute", kString, kMany},
    {7, "node", kMessage, kMany, &kNodeProto},
    {8, "doc_string", kString, kOne},
    {9, "opset_import", kMessage, kMany, &kOperatorSetIdProto},
    {10, "domain", kString, kOne},
    {11, "attribute_proto", kMessage, kMany, &kAttributeProto},
    {12, "value_info", kMessage, kMany, &kValueInfoProto},
    {13, "overload", kString, kOne},
    {14, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
};

constexpr FieldInfo kGraphProtoFields[] = {
    {1, "node", kMessage, kMany, &kNodeProto},
    {2, "name", kString, kOne},
    {5, "initializer", kMessage, kMany, &kTensorProto},
    {10, "doc_string", kString, kOne},
    {11, "input", kMessage, kMany, &kValueInfoProto},
    {12, "output", kMessage, kMany, &kValueInfoProto},
    {13, "value_info", kMessage, kMany, &kValueInfoProto},
    {14, "quantization_annotation", kMessage, kMany, &kTensorAnnotation},
    {15, "sparse_initializer", kMessage, kMany, &kSparseTensorProto},
    {16, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
};

constexpr FieldInfo kIntIntListEntryProtoFields[] = {
    {1, "key", kInt64, kOne},
    {2, "value", kInt64, kMany},
};

constexpr FieldInfo kModelProtoFields[] = {
    {1, "ir_version", kInt64, kOne},
    {2, "producer_name", kString, kOne},
    {3, "producer_version", kString, kOne},
    {4, "domain", kString, kOne},
    {5, "model_version", kInt64, kOne},
    {6, "doc_string", kString, kOne},
    {7, "graph", kMessage, kOne, &kGraphProto},
    {8, "opset_import", kMessage, kMany, &kOperatorSetIdProto},
    {14, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
    {20, "training_info", kMessage, kMany, &kTrainingInfoProto},
    {25, "functions", kMessage, kMany, &kFunctionProto},
    {26, "configuration", kMessage, kMany, &kDeviceConfigurationProto},
};

constexpr FieldInfo kNodeDeviceConfigurationProtoFields[] = {
    {1, "configuration_id", kString, kOne},
    {2, "sharding_spec", kMessage, kMany, &kShardingSpecProto},
    {3, "pipeline_stage", kInt32, kOne},
};

constexpr FieldInfo kNodeProtoFields[] = {
    {1, "input", kString, kMany},
    {2, "output", kString, kMany},
    {3, "name", kString, kOne},
    {4, "op_type", kString, kOne},
    {5, "attribute", kMessage, kMany, &kAttributeProto},
    {6, "doc_string", kString, kOne},
    {7, "domain", kString, kOne},
    {8, "overload", kString, kOne},
    {9, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
    {10, "device_configurations", kMessage, kMany, &kNodeDeviceConfigurationProto},
};

constexpr FieldInfo kOperatorSetIdProtoFields[] = {
    {1, "domain", kString, kOne},
    {2, "version", kInt64, kOne},
};

constexpr FieldInfo kShardedDimProtoFields[] = {
    {1, "axis", kInt64, kOne},
    {2, "simple_sharding", kMessage, kMany, &kSimpleShardedDimProto},
};

constexpr FieldInfo kShardingSpecProtoFields[] = {
    {1, "tensor_name", kString, kOne},
    {2, "device", kInt64, kMany},
    {3, "index_to_device_group_map", kMessage, kMany, &kIntIntListEntryProto},
    {4, "sharded_dim", kMessage, kMany, &kShardedDimProto},
};

constexpr FieldInfo kSimpleShardedDimProtoFields[] = {
    {1, "dim_value", kInt64, kAlternative},
    {2, "dim_param", kString, kAlternative},
    {3, "num_shards", kInt64, kOne},
};

constexpr FieldInfo kSparseTensorProtoFields[] = {
    {1, "values", kMessage, kOne, &kTensorProto},
    {2, "indices", kMessage, kOne, &kTensorProto},
    {3, "dims", kInt64, kMany},
};

constexpr FieldInfo kStringStringEntryProtoFields[] = {
    {1, "key", kString, kOne},
    {2, "value", kString, kOne},
};

constexpr FieldInfo kTensorAnnotationFields[] = {
    {1, "tensor_name", kString, kOne},
    {2, "quant_parameter_tensor_names", kMessage, kMany, &kStringStringEntryProto},
};

constexpr FieldInfo kTensorProtoFields[] = {
    {1, "dims", kInt64, kMany},
    {2, "data_type", kInt32, kOne},
    {3, "segment", kMessage, kOne, &kTensorProtoSegment},
    {4, "float_data", kFloat, kPacked},
    {5, "int32_data", kInt32, kPacked},
    {6, "string_data", kBytes, kMany},
    {7, "int64_data", kInt64, kPacked},
    {8, "name", kString, kOne},
    {9, "raw_data", kBytes, kOne},
    {10, "double_data", kDouble, kPacked},
    {11, "uint64_data", kUint64, kPacked},
    {12, "doc_string", kString, kOne},
    {13, "external_data", kMessage, kMany, &kStringStringEntryProto},
    {14, "data_location", kDataLocation, kOne},
    {16, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
};

constexpr FieldInfo kTensorProtoSegmentFields[] = {
    {1, "begin", kInt64, kOne},
    {2, "end", kInt64, kOne},
};

constexpr FieldInfo kTensorShapeProtoFields[] = {
    {1, "dim", kMessage, kMany, &kTensorShapeProtoDimension},
};

constexpr FieldInfo kTensorShapeProtoDimensionFields[] = {
    {1, "dim_value", kInt64, kAlternative},
    {2, "dim_param", kString, kAlternative},
    {3, "denotation", kString, kOne},
};

constexpr FieldInfo kTrainingInfoProtoFields[] = {
    {1, "initialization", kMessage, kOne, &kGraphProto},
    {2, "algorithm", kMessage, kOne, &kGraphProto},
    {3, "initialization_binding", kMessage, kMany, &kStringStringEntryProto},
    {4, "update_binding", kMessage, kMany, &kStringStringEntryProto},
};

constexpr FieldInfo kTypeProtoFields[] = {
    {1, "tensor_type", kMessage, kAlternative, &kTypeProtoTensor},
    {4, "sequence_type", kMessage, kAlternative, &kTypeProtoSequence},
    {5, "map_type", kMessage, kAlternative, &kTypeProtoMap},
    {6, "denotation", kString, kOne},
    {7, "opaque_type", kMessage, kAlternative, &kTypeProtoOpaque},
    {8, "sparse_tensor_type", kMessage, kAlternative, &kTypeProtoSparseTensor},
    {9, "optional_type", kMessage, kAlternative, &kTypeProtoOptional},
};

constexpr FieldInfo kTypeProtoMapFields[] = {
    {1, "key_type", kInt32, kOne},
    {2, "value_type", kMessage, kOne, &kTypeProto},
};

constexpr FieldInfo kTypeProtoOpaqueFields[] = {
    {1, "domain", kString, kOne},
    {2, "name", kString, kOne},
};

constexpr FieldInfo kTypeProtoOptionalFields[] = {
    {1, "elem_type", kMessage, kOne, &kTypeProto},
};

constexpr FieldInfo kTypeProtoSequenceFields[] = {
    {1, "elem_type", kMessage, kOne, &kTypeProto},
};

constexpr FieldInfo kTypeProtoSparseTensorFields[] = {
    {1, "elem_type", kInt32, kOne},
    {2, "shape", kMessage, kOne, &kTensorShapeProto},
};

constexpr FieldInfo kTypeProtoTensorFields[] = {
    {1, "elem_type", kInt32, kOne},
    {2, "shape", kMessage, kOne, &kTensorShapeProto},
};

constexpr FieldInfo kValueInfoProtoFields[] = {
    {1, "name", kString, kOne},
    {2, "type", kMessage, kOne, &kTypeProto},
    {3, "doc_string", kString, kOne},
    {4, "metadata_props", kMessage, kMany, &kStringStringEntryProto},
};

struct EnumRow {
    FieldKind kind;
    int64_t value;
    std::string_view name;
};

constexpr EnumRow kEnumRows[] = {
    {kAttributeType, 0, "UNDEFINED"},
    {kAttributeType, 1, "FLOAT"},
    {kAttributeType, 2, "INT"},
    {kAttributeType, 3, "STRING"},
    {kAttributeType, 4, "TENSOR"},
    {kAttributeType, 5, "GRAPH"},
    {kAttributeType, 11, "SPARSE_TENSOR"},
    {kAttributeType, 13, "TYPE_PROTO"},
    {kAttributeType, 6, "FLOATS"},
    {kAttributeType, 7, "INTS"},
    {kAttributeType, 8, "STRINGS"},
    {kAttributeType, 9, "TENSORS"},
    {kAttributeType, 10, "GRAPHS"},
    {kAttributeType, 12, "SPARSE_TENSORS"},
    {kAttributeType, 14, "TYPE_PROTOS"},
    {kDataLocation, 0, "DEFAULT"},
    {kDataLocation, 1, "EXTERNAL"},
};

}  // namespace

const MessageInfo kAttributeProto{"AttributeProto", kAttributeProtoFields};
const MessageInfo kDeviceConfigurationProto{"DeviceConfigurationProto",
                                            kDeviceConfigurationProtoFields};
const MessageInfo kFunctionProto{"FunctionProto", kFunctionProtoFields};
const MessageInfo kGraphProto{"GraphProto", kGraphProtoFields};
const MessageInfo kIntIntListEntryProto{"IntIntListEntryProto", kIntIntListEntryProtoFields};
const MessageInfo kModelProto{"ModelProto", kModelProtoFields};
const MessageInfo kNodeDeviceConfigurationProto{"NodeDeviceConfigurationProto",
                                                kNodeDeviceConfigurationProtoFields};
const MessageInfo kNodeProto{"NodeProto", kNodeProtoFields};
const MessageInfo kOperatorSetIdProto{"OperatorSetIdProto", kOperatorSetIdProtoFields};
const MessageInfo kShardedDimProto{"ShardedDimProto", kShardedDimProtoFields};
const MessageInfo kShardingSpecProto{"ShardingSpecProto", kShardingSpecProtoFields};
const MessageInfo kSimpleShardedDimProto{"SimpleShardedDimProto", kSimpleShardedDimProtoFields};
const MessageInfo kSparseTensorProto{"SparseTensorProto", kSparseTensorProtoFields};
const MessageInfo kStringStringEntryProto{"StringStringEntryProto", kStringStringEntryProtoFields};
const MessageInfo kTensorAnnotation{"TensorAnnotation", kTensorAnnotationFields};
const MessageInfo kTensorProto{"TensorProto", kTensorProtoFields};
const MessageInfo kTensorProtoSegment{"TensorProto.Segment", kTensorProtoSegmentFields};
const MessageInfo kTensorShapeProto{"TensorShapeProto", kTensorShapeProtoFields};
const MessageInfo kTensorShapeProtoDimension{"TensorShapeProto.Dimension",
                                             kTensorShapeProtoDimensionFields};
const MessageInfo kTrainingInfoProto{"TrainingInfoProto", kTrainingInfoProtoFields};
const MessageInfo kTypeProto{"TypeProto", kTypeProtoFields};
const MessageInfo kTypeProtoMap{"TypeProto.Map", kTypeProtoMapFields};
const MessageInfo kTypeProtoOpaque{"TypeProto.Opaque", kTypeProtoOpaqueFields};
const MessageInfo kTypeProtoOptional{"TypeProto.Optional", kTypeProtoOptionalFields};
const MessageInfo kTypeProtoSequence{"TypeProto.Sequence", kTypeProtoSequenceFields};
const MessageInfo kTypeProtoSparseTensor{"TypeProto.SparseTensor", kTypeProtoSparseTensorFields};
const MessageInfo kTypeProtoTensor{"TypeProto.Tensor", kTypeProtoTensorFields};
const MessageInfo kValueInfoProto{"ValueInfoProto", kValueInfoProtoFields};

const FieldInfo* MessageInfo::find(uint32_t number) const {
    for (const FieldInfo& field : fields) {
        if (field.number == number) {
            return &field;
        }
    }
    return nullptr;
}

const FieldInfo* MessageInfo::find(std::string_view wanted) const {
    for (const FieldInfo& field : fields) {
        if (field.name == wanted) {
            return &field;
        }
    }
    return nullptr;
}

bool is_json_name(std::string_view text, std::string_view name) {
    size_t at = 0;
    bool is_upper = false;
    for (char c : name) {
        if (c == '_') {
            is_upper = true;
            continue;
        }
        char wanted = is_upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (at == text.size() || text[at] != wanted) {
            return false;
        }
        is_upper = false;
        ++at;
    }
    return at == text.size();
}

std::string_view enum_name(FieldKind kind, int64_t value) {
    for (const EnumRow& row : kEnumRows) {
        if (row.kind == kind && row.value == value) {
            return row.name;
        }
    }
    return {};
}

int64_t enum_value(FieldKind kind, std::string_view name) {
    for (const EnumRow& row : kEnumRows) {
        if (row.kind == kind && row.name == name) {
            return row.value;
        }
    }
    return -1;
}

}  // namespace sardonyx::proto
