// The messages of onnx.proto as data: names, numbers and kinds of their fields, for the forms of a
// model that name them (JSON, protobuf's text format). Internal to proto/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx::proto {

enum class FieldKind : uint8_t {
    kInt32,
    kInt64,
    kUint64,
    kFloat,
    kDouble,
    kString,  // UTF-8
    kBytes,
    kAttributeType,  // enumerations
    kDataLocation,
    kMessage,
};

enum class FieldRule : uint8_t {
    kOne,
    kAlternative,  // one of those of its message that are alternatives
    kMany,
    kPacked,  // many, in one run of bytes
};

struct MessageInfo;

struct FieldInfo {
    uint32_t number;
    std::string_view name;
    FieldKind kind;
    FieldRule rule;
    const MessageInfo* message = nullptr;

    constexpr bool is_repeated() const { return rule >= FieldRule::kMany; }
};

struct MessageInfo {
    std::string_view name;
    std::span<const FieldInfo> fields;  // by number

    const FieldInfo* find(uint32_t number) const;  // null: none
    const FieldInfo* find(std::string_view name) const;
};

extern const MessageInfo kAttributeProto;
extern const MessageInfo kDeviceConfigurationProto;
extern const MessageInfo kFunctionProto;
extern const MessageInfo kGraphProto;
extern const MessageInfo kIntIntListEntryProto;
extern const MessageInfo kModelProto;
extern const MessageInfo kNodeDeviceConfigurationProto;
extern const MessageInfo kNodeProto;
extern const MessageInfo kOperatorSetIdProto;
extern const MessageInfo kShardedDimProto;
extern const MessageInfo kShardingSpecProto;
extern const MessageInfo kSimpleShardedDimProto;
extern const MessageInfo kSparseTensorProto;
extern const MessageInfo kStringStringEntryProto;
extern const MessageInfo kTensorAnnotation;
extern const MessageInfo kTensorProto;
extern const MessageInfo kTensorProtoSegment;
extern const MessageInfo kTensorShapeProto;
extern const MessageInfo kTensorShapeProtoDimension;
extern const MessageInfo kTrainingInfoProto;
extern const MessageInfo kTypeProto;
extern const MessageInfo kTypeProtoMap;
extern const MessageInfo kTypeProtoOpaque;
extern const MessageInfo kTypeProtoOptional;
extern const MessageInfo kTypeProtoSequence;
extern const MessageInfo kTypeProtoSparseTensor;
extern const MessageInfo kTypeProtoTensor;
extern const MessageInfo kValueInfoProto;

// What protobuf's JSON calls a field beside its own name: `ir_version` is `irVersion`.
bool is_json_name(std::string_view text, std::string_view name);

// The names of an enumeration's values; empty and -1: there is none.
std::string_view enum_name(FieldKind kind, int64_t value);
int64_t enum_value(FieldKind kind, std::string_view name);

}  // namespace sardonyx::proto
