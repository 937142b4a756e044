// TensorProto in all its encodings.
//
// raw_data and external data become views of the mapped file. Where a message lies in a protobuf
// file is arbitrary, so a tensor of elements of more than one byte is aligned only by chance:
// Tensor::view_of copies small ones, and large ones when somebody wants them aligned. Types of one
// byte and less are never copied. The typed
// lists (float_data, int32_data, ...) are decoded into new storage of exactly the size that the
// dims ask for, after a look at whether the message is long enough to fill it.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "proto/fields.h"
#include "proto/read_context.h"
#include "proto/wire.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

// The list that holds the elements of a type when raw_data does not, and how many low bytes of an
// entry count (comments on the *_data fields in onnx.proto). Two entries make a complex number; an
// entry of a 2-bit or 4-bit type is a byte of packed elements. FLOAT6 entries are one element each.
struct ListEncoding {
    uint32_t field;
    uint8_t entry_bytes;
};

constexpr ListEncoding list_encoding(ElementType type) {
    switch (type) {
        case ElementType::kFloat:
        case ElementType::kComplex64:
            return {TensorField::kFloatData, 4};
        case ElementType::kDouble:
        case ElementType::kComplex128:
            return {TensorField::kDoubleData, 8};
        case ElementType::kInt64:
            return {TensorField::kInt64Data, 8};
        case ElementType::kUint64:
            return {TensorField::kUint64Data, 8};
        case ElementType::kUint32:
            return {TensorField::kUint64Data, 4};
        case ElementType::kString:
            return {TensorField::kStringData, 0};
        case ElementType::kInt32:
            return {TensorField::kInt32Data, 4};
        case ElementType::kInt16:
        case ElementType::kUint16:
        case ElementType::kFloat16:
        case ElementType::kBfloat16:
            return {TensorField::kInt32Data, 2};
        default:
            return {TensorField::kInt32Data, 1};
    }
}

constexpr std::string_view data_field_name(uint32_t field) {
    switch (field) {
        case TensorField::kFloatData:
            return "float_data";
        case TensorField::kInt32Data:
            return "int32_data";
        case TensorField::kStringData:
            return "string_data";
        case TensorField::kInt64Data:
            return "int64_data";
        case TensorField::kDoubleData:
            return "double_data";
        case TensorField::kUint64Data:
            return "uint64_data";
        default:
            return "raw_data";
    }
}

constexpr bool is_float6(ElementType type) {
    return type == ElementType::kFloat6E2M3 || type == ElementType::kFloat6E3M2;
}

// The fields of a TensorProto, before the elements are decoded.
struct Parts {
    std::string_view bytes;  // of the whole message
    int64_t type_number = 0;
    Dims dims;
    std::optional<std::string_view> raw;
    std::vector<std::string_view> strings;
    uint32_t data_fields = 0;  // bit n: field n, one of the *_data lists, has entries
    size_t list_bytes = 0;     // of all the *_data lists
    bool is_external = false;
    bool has_segment = false;
    ExternalData external;

    int64_t count = 0;
    ElementType type = ElementType::kUndefined;
    size_t size = 0;  // of the elements in bytes
};

void read_external_entry(std::string_view bytes, ExternalData* result) {
    std::string_view key, value;
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(EntryField::kKey):
                key = message.get_view();
                break;
            case bytes_field(EntryField::kValue):
                value = message.get_view();
                break;
            default:
                message.skip();
        }
    }
    if (key == "location") {
        result->location = value;
    } else if (key == "offset") {
        result->offset = value;
    } else if (key == "length") {
        result->length = value;
    }
}

// Notes the presence of a *_data list, whose elements are decoded later.
void note_list(pbf_reader* message, Parts* parts) {
    uint32_t field = message->tag();
    size_t before = message->length();
    message->skip();
    size_t size = before - message->length();
    // A packed list without entries is one byte of length.
    if (message->wire_type() != protozero::pbf_wire_type::length_delimited || size > 1) {
        parts->data_fields |= 1U << field;
        parts->list_bytes += size;
    }
}

bool read_parts(ReadContext& context, Parts* parts, NamedTensor* result) {
    pbf_reader message(parts->bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case varint_field(TensorField::kDims):
                if (!context.take()) {
                    return false;
                }
                parts->dims.push_back(message.get_int64());
                break;
            case bytes_field(TensorField::kDims):
                if (!read_varints(context, message.get_view(), &parts->dims)) {
                    return false;
                }
                break;
            case varint_field(TensorField::kDataType):
                parts->type_number = message.get_int64();
                break;
            case bytes_field(TensorField::kSegment):
                parts->has_segment = true;
                message.skip();
                break;
            case varint_field(TensorField::kInt32Data):
            case bytes_field(TensorField::kInt32Data):
            case varint_field(TensorField::kInt64Data):
            case bytes_field(TensorField::kInt64Data):
            case varint_field(TensorField::kUint64Data):
            case bytes_field(TensorField::kUint64Data):
            case fixed32_field(TensorField::kFloatData):
            case bytes_field(TensorField::kFloatData):
            case fixed64_field(TensorField::kDoubleData):
            case bytes_field(TensorField::kDoubleData):
                note_list(&message, parts);
                break;
            case bytes_field(TensorField::kStringData):
                if (!context.take()) {
                    return false;
                }
                parts->data_fields |= 1U << TensorField::kStringData;
                parts->strings.push_back(message.get_view());
                break;
            case bytes_field(TensorField::kRawData):
                parts->raw = message.get_view();
                break;
            case bytes_field(TensorField::kName):
                result->name = message.get_view();
                break;
            case bytes_field(TensorField::kDoc):
                result->doc = message.get_view();
                break;
            case bytes_field(TensorField::kMetadata):
                if (!read_metadata(context, message.get_view(), &result->metadata)) {
                    return false;
                }
                break;
            case bytes_field(TensorField::kExternalData):
                read_external_entry(message.get_view(), &parts->external);
                break;
            case varint_field(TensorField::kDataLocation):
                parts->is_external = message.get_int64() == 1;
                break;
            default:
                message.skip();
        }
    }
    return true;
}

// Takes the entries of the typed list one by one and lays their low bytes behind one another.
class ListDecoder {
  public:
    ListDecoder(ReadContext& context, ElementType type, std::span<std::byte> target,
                int64_t entry_count)
        : context_(context),
          type_(type),
          encoding_(list_encoding(type)),
          target_(target),
          entry_count_(entry_count) {}

    bool read(std::string_view bytes) {
        pbf_reader message(bytes);
        while (message.next()) {
            if (message.tag() != encoding_.field) {
                message.skip();
                continue;
            }
            if (!read_field(&message)) {
                return false;
            }
        }
        return done_ == entry_count_ || fail_count();
    }

  private:
    bool fail_count() {
        return context_.fail(fmt::format(
            "`{}` has {} {} entries, the dims need {}", data_field_name(encoding_.field),
            done_ > entry_count_ ? "more than" : "only",
            done_ > entry_count_ ? entry_count_ : done_, entry_count_));
    }

    bool read_field(pbf_reader* message) {
        bool is_varint = encoding_.field != TensorField::kFloatData &&
                         encoding_.field != TensorField::kDoubleData;
        switch (message->wire_type()) {
            case protozero::pbf_wire_type::varint:
                if (is_varint) {
                    return add(static_cast<uint64_t>(message->get_int64()));
                }
                break;
            case protozero::pbf_wire_type::fixed32:
                if (encoding_.field == TensorField::kFloatData) {
                    return add(message->get_fixed32());
                }
                break;
            case protozero::pbf_wire_type::fixed64:
                if (encoding_.field == TensorField::kDoubleData) {
                    return add(message->get_fixed64());
                }
                break;
            case protozero::pbf_wire_type::length_delimited:
                return is_varint ? add_varints(message->get_view())
                                 : add_fixed(message->get_view());
            default:
                break;
        }
        message->skip();
        return true;
    }

    bool add_varints(std::string_view packed) {
        const char* data = packed.data();
        const char* end = data + packed.size();
        while (data != end) {
            if (!add(protozero::decode_varint(&data, end))) {
                return false;
            }
        }
        return true;
    }

    bool add_fixed(std::string_view packed) {
        if (packed.size() % encoding_.entry_bytes != 0) {
            return context_.fail(
                fmt::format("`{}` is cut off within an entry", data_field_name(encoding_.field)));
        }
        int64_t entries = static_cast<int64_t>(packed.size() / encoding_.entry_bytes);
        if (entries > entry_count_ - done_) {
            done_ = entry_count_ + 1;
            return fail_count();
        }
        if (entries > 0) {
            std::memcpy(target_.data() + done_ * encoding_.entry_bytes, packed.data(),
                        packed.size());
        }
        done_ += entries;
        return true;
    }

    bool add(uint64_t entry) {
        if (done_ >= entry_count_) {
            done_ = entry_count_ + 1;
            return fail_count();
        }
        if (is_float6(type_)) {
            return add_float6(entry);
        }
        if (type_ == ElementType::kBool) {
            entry = entry != 0 ? 1 : 0;
        }
        std::memcpy(target_.data() + done_ * encoding_.entry_bytes, &entry, encoding_.entry_bytes);
        ++done_;
        return true;
    }

    // The elements are one stream of bits, from the low bits up.
    bool add_float6(uint64_t entry) {
        if (entry > 0x3F) {
            return context_.fail("a FLOAT6 entry of `int32_data` has more than 6 bits");
        }
        size_t bit = static_cast<size_t>(done_) * 6;
        uint32_t shifted = static_cast<uint32_t>(entry) << (bit % 8);
        target_[bit / 8] |= static_cast<std::byte>(shifted & 0xFF);
        if (shifted > 0xFF) {
            target_[bit / 8 + 1] |= static_cast<std::byte>(shifted >> 8);
        }
        ++done_;
        return true;
    }

    ReadContext& context_;
    ElementType type_;
    ListEncoding encoding_;
    std::span<std::byte> target_;
    int64_t entry_count_;
    int64_t done_ = 0;
};

bool read_list(ReadContext& context, Parts& parts, Tensor* result) {
    int64_t entries = is_float6(parts.type) ? parts.count
                                            : static_cast<int64_t>(parts.size) /
                                                  list_encoding(parts.type).entry_bytes;
    // An entry takes at least a byte: this bounds what hostile dims can make us allocate.
    if (entries > static_cast<int64_t>(parts.list_bytes)) {
        return context.fail(fmt::format("the dims need {} elements, `{}` has fewer", parts.count,
                                        data_field_name(list_encoding(parts.type).field)));
    }
    Tensor tensor = Tensor::zeros(parts.type, std::move(parts.dims));
    if (!ListDecoder(context, parts.type, tensor.mutable_bytes(), entries).read(parts.bytes)) {
        return false;
    }
    *result = std::move(tensor);
    return true;
}

bool read_strings(ReadContext& context, Parts& parts, Tensor* result) {
    if (static_cast<int64_t>(parts.strings.size()) != parts.count) {
        return context.fail(fmt::format("`string_data` has {} entries, the dims need {}",
                                        parts.strings.size(), parts.count));
    }
    *result =
        Tensor::of_strings(std::move(parts.dims),
                           std::vector<std::string>(parts.strings.begin(), parts.strings.end()));
    return true;
}

// FLOAT6 is the one type whose unused last bits must be 0 (comment on raw_data in onnx.proto).
bool check_padding(ReadContext& context, const Parts& parts, std::span<const std::byte> bytes) {
    size_t used_bits = static_cast<size_t>(parts.count % 4) * 6 % 8;
    if (is_float6(parts.type) && used_bits != 0 &&
        (static_cast<uint32_t>(bytes.back()) >> used_bits) != 0) {
        return context.fail("the bits after the last FLOAT6 element are not 0");
    }
    return true;
}

// A BOOL byte other than 0 and 1 means true, but must not be looked at as a C++ bool.
bool has_odd_booleans(std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) {
        if (static_cast<uint8_t>(byte) > 1) {
            return true;
        }
    }
    return false;
}

bool view_bytes(ReadContext& context, Parts& parts, std::span<const std::byte> bytes,
                const std::shared_ptr<const void>& owner, Tensor* result) {
    if (!check_padding(context, parts, bytes)) {
        return false;
    }
    if (parts.type != ElementType::kBool || !has_odd_booleans(bytes)) {
        *result = Tensor::view_of(parts.type, std::move(parts.dims), bytes, owner);
        return true;
    }
    Tensor tensor = Tensor::zeros(parts.type, std::move(parts.dims));
    std::span<std::byte> target = tensor.mutable_bytes();
    for (size_t i = 0; i < bytes.size(); ++i) {
        target[i] = static_cast<std::byte>(bytes[i] != std::byte{0});
    }
    *result = std::move(tensor);
    return true;
}

bool read_raw(ReadContext& context, Parts& parts, Tensor* result) {
    if (parts.type == ElementType::kString) {
        return context.fail(
            "the elements of a STRING tensor are in `raw_data`, not in "
            "`string_data`");
    }
    if (parts.raw->size() != parts.size) {
        return context.fail(fmt::format("`raw_data` has {} bytes, {} elements of {} need {}",
                                        parts.raw->size(), parts.count, name(parts.type),
                                        parts.size));
    }
    std::span<const char> characters(parts.raw->data(), parts.raw->size());
    return view_bytes(context, parts, std::as_bytes(characters), context.owner, result);
}

bool read_external(ReadContext& context, Parts& parts, Tensor* result) {
    if (parts.type == ElementType::kString) {
        return context.fail("a STRING tensor cannot have external data");
    }
    MappedFile data;
    return map_external(context, parts.external, parts.size, &data) &&
           view_bytes(context, parts, data.bytes, data.owner, result);
}

// What is wrong with the dims and with the data fields that are there.
bool check_parts(ReadContext& context, Parts* parts) {
    if (parts->has_segment) {
        return context.fail("the tensor is one segment of a larger one, which cannot be read");
    }
    parts->type = element_type_from_number(parts->type_number);
    if (parts->type == ElementType::kUndefined) {
        return context.fail(parts->type_number == 0
                                ? std::string("the tensor has no `data_type`")
                                : fmt::format("there is no element type {}", parts->type_number));
    }
    std::optional<int64_t> count = element_count(parts->dims);
    if (!count.has_value() || *count > std::numeric_limits<int64_t>::max() / 128) {
        return context.fail("a dim is negative, or the dims are too large");
    }
    parts->count = *count;
    parts->size = byte_size(parts->type, *count);
    int sources = (parts->is_external ? 1 : 0) + (parts->raw && !parts->raw->empty() ? 1 : 0) +
                  (parts->data_fields != 0 ? 1 : 0);
    if (sources > 1 || (parts->data_fields & (parts->data_fields - 1)) != 0) {
        return context.fail("the elements are given twice");
    }
    uint32_t expected = list_encoding(parts->type).field;
    if (parts->data_fields != 0 && parts->data_fields != 1U << expected) {
        return context.fail(fmt::format("the elements of a {} tensor belong in `{}` or `raw_data`",
                                        name(parts->type), data_field_name(expected)));
    }
    return true;
}

}  // namespace

bool read_tensor(ReadContext& context, std::string_view bytes, NamedTensor* result) {
    Parts parts;
    parts.bytes = bytes;
    if (!context.take() || !read_parts(context, &parts, result) || !check_parts(context, &parts)) {
        return false;
    }
    if (parts.is_external) {
        return read_external(context, parts, &result->tensor);
    }
    if (!check_unused_external(context, parts.external)) {
        return false;
    }
    if (parts.raw.has_value() && parts.data_fields == 0) {
        return read_raw(context, parts, &result->tensor);
    }
    return parts.type == ElementType::kString ? read_strings(context, parts, &result->tensor)
                                              : read_list(context, parts, &result->tensor);
}

}  // namespace sardonyx::proto
