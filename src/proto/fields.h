// The field numbers of onnx.proto, for the reader and the writer. Internal to proto/.
#pragma once

#include <cstdint>

namespace sardonyx::proto {

struct ModelField {
    enum : uint32_t {
        kIrVersion = 1,
        kProducerName = 2,
        kProducerVersion = 3,
        kDomain = 4,
        kModelVersion = 5,
        kDoc = 6,
        kGraph = 7,
        kOpsetImport = 8,
        kMetadata = 14,
        kTrainingInfo = 20,
        kFunctions = 25,
        kConfiguration = 26,
    };
};

struct GraphField {
    enum : uint32_t {
        kNode = 1,
        kName = 2,
        kInitializer = 5,
        kDoc = 10,
        kInput = 11,
        kOutput = 12,
        kValueInfo = 13,
        kQuantizationAnnotation = 14,
        kSparseInitializer = 15,
        kMetadata = 16,
    };
};

struct FunctionField {
    enum : uint32_t {
        kName = 1,
        kInput = 4,
        kOutput = 5,
        kAttribute = 6,
        kNode = 7,
        kDoc = 8,
        kOpsetImport = 9,
        kDomain = 10,
        kAttributeProto = 11,
        kValueInfo = 12,
        kOverload = 13,
        kMetadata = 14,
    };
};

struct NodeField {
    enum : uint32_t {
        kInput = 1,
        kOutput = 2,
        kName = 3,
        kOpType = 4,
        kAttribute = 5,
        kDoc = 6,
        kDomain = 7,
        kOverload = 8,
        kMetadata = 9,
        kDeviceConfigurations = 10,
    };
};

struct AttributeField {
    enum : uint32_t {
        kName = 1,
        kFloat = 2,
        kInt = 3,
        kString = 4,
        kTensor = 5,
        kGraph = 6,
        kFloats = 7,
        kInts = 8,
        kStrings = 9,
        kTensors = 10,
        kGraphs = 11,
        kDoc = 13,
        kTypeProto = 14,
        kTypeProtos = 15,
        kType = 20,
        kReference = 21,
        kSparseTensor = 22,
        kSparseTensors = 23,
    };
};

struct TensorField {
    enum : uint32_t {
        kDims = 1,
        kDataType = 2,
        kSegment = 3,
        kFloatData = 4,
        kInt32Data = 5,
        kStringData = 6,
        kInt64Data = 7,
        kName = 8,
        kRawData = 9,
        kDoubleData = 10,
        kUint64Data = 11,
        kDoc = 12,
        kExternalData = 13,
        kDataLocation = 14,
        kMetadata = 16,
    };
};

struct SparseTensorField {
    enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
};

struct ValueInfoField {
    enum : uint32_t { kName = 1, kType = 2, kDoc = 3, kMetadata = 4 };
};

struct TypeField {
    enum : uint32_t {
        kTensor = 1,
        kSequence = 4,
        kMap = 5,
        kDenotation = 6,
        kOpaque = 7,
        kSparseTensor = 8,
        kOptional = 9,
    };
};

// TypeProto.Tensor and TypeProto.SparseTensor
struct TensorTypeField {
    enum : uint32_t { kElementType = 1, kShape = 2 };
};

// TypeProto.Sequence and TypeProto.Optional
struct ContainerTypeField {
    enum : uint32_t { kElement = 1 };
};

struct MapTypeField {
    enum : uint32_t { kKey = 1, kValue = 2 };
};

struct ShapeField {
    enum : uint32_t { kDim = 1 };
};

struct DimField {
    enum : uint32_t { kValue = 1, kParameter = 2, kDenotation = 3 };
};

// StringStringEntryProto
struct EntryField {
    enum : uint32_t { kKey = 1, kValue = 2 };
};

struct OpsetImportField {
    enum : uint32_t { kDomain = 1, kVersion = 2 };
};

struct TrainingField {
    enum : uint32_t { kInitialization = 1, kAlgorithm = 2 };
};

}  // namespace sardonyx::proto
