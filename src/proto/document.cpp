#include "proto/document.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/stack.h"
#include "base/stop.h"
#include "proto/wire.h"

namespace sardonyx::proto {

float Item::float32() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
double Item::float64() const {
    return std::bit_cast<double>(bits);
}
uint64_t bits_of(float value) {
    return std::bit_cast<uint32_t>(value);
}
uint64_t bits_of(double value) {
    return std::bit_cast<uint64_t>(value);
}

const Field* Message::find(uint32_t number) const {
    for (const Field& field : fields) {
        if (field.info->number == number) {
            return &field;
        }
    }
    return nullptr;
}

const Item* Message::item(uint32_t number) const {
    const Field* field = find(number);
    return field == nullptr || field->items.empty() ? nullptr : field->items.data();
}

std::string_view Message::text(uint32_t number) const {
    const Item* found = item(number);
    return found == nullptr ? std::string_view() : found->bytes;
}

int64_t Message::integer(uint32_t number) const {
    const Item* found = item(number);
    return found == nullptr ? 0 : found->integer();
}

std::span<const Item> Message::items(uint32_t number) const {
    const Field* field = find(number);
    return field == nullptr ? std::span<const Item>() : std::span<const Item>(field->items);
}

Field& Message::at(const FieldInfo& wanted) {
    auto next = fields.begin();
    while (next != fields.end() && next->info->number < wanted.number) {
        ++next;
    }
    if (next == fields.end() || next->info != &wanted) {
        next = fields.insert(next, Field{&wanted, {}});
    }
    return *next;
}

const Field* Message::alternative_to(const FieldInfo& info) const {
    if (info.rule == FieldRule::kAlternative) {
        for (const Field& field : fields) {
            if (field.info->rule == FieldRule::kAlternative && field.info != &info) {
                return &field;
            }
        }
    }
    return nullptr;
}

namespace {

using protozero::pbf_wire_type;

pbf_wire_type wire_type_of(FieldKind kind) {
    switch (kind) {
        case FieldKind::kFloat:
            return pbf_wire_type::fixed32;
        case FieldKind::kDouble:
            return pbf_wire_type::fixed64;
        case FieldKind::kString:
        case FieldKind::kBytes:
        case FieldKind::kMessage:
            return pbf_wire_type::length_delimited;
        default:
            return pbf_wire_type::varint;
    }
}

class WireReader {
  public:
    explicit WireReader(Document& document) : document_(document) {}

    std::string error;

    bool read(std::string_view bytes, Message& target) {
        if (++depth_ > Document::kMaxDepth || is_stack_low()) {
            return fail("messages are nested too deep");
        }
        protozero::pbf_reader reader(bytes);
        while (reader.next()) {
            stop_point();
            const FieldInfo* info = target.info->find(reader.tag());
            bool is_packed = info != nullptr && info->is_repeated() &&
                             wire_type_of(info->kind) != pbf_wire_type::length_delimited &&
                             reader.wire_type() == pbf_wire_type::length_delimited;
            if (info == nullptr || (!is_packed && reader.wire_type() != wire_type_of(info->kind))) {
                return fail(fmt::format("field {} of {} is none of onnx.proto, and has no name",
                                        static_cast<uint32_t>(reader.tag()), target.info->name));
            }
            if (!(is_packed ? read_packed(reader, target.at(*info))
                            : read_field(reader, *info, target))) {
                return false;
            }
        }
        --depth_;
        return true;
    }

  private:
    bool fail(std::string message) {
        error = std::move(message);
        return false;
    }

    static void drop_alternative(Message& target, const FieldInfo& info) {
        if (const Field* other = target.alternative_to(info)) {
            target.fields.erase(target.fields.begin() + (other - target.fields.data()));
        }
    }

    // The last one counts where there is one; messages are merged, as protobuf does.
    bool read_field(protozero::pbf_reader& reader, const FieldInfo& info, Message& target) {
        drop_alternative(target, info);
        Field& field = target.at(info);
        Item item;
        if (info.kind == FieldKind::kMessage) {
            bool is_more = !info.is_repeated() && !field.items.empty();
            item.message = is_more ? field.items[0].message : document_.make(*info.message);
        } else if (wire_type_of(info.kind) == pbf_wire_type::length_delimited) {
            item.bytes = reader.get_view();
        } else if (info.kind == FieldKind::kFloat) {
            item.bits = bits_of(reader.get_float());
        } else if (info.kind == FieldKind::kDouble) {
            item.bits = bits_of(reader.get_double());
        } else {
            item.bits = varint(info.kind, reader.get_uint64());
        }
        if (!add(field, item)) {
            return false;
        }
        return item.message == nullptr || read(reader.get_view(), *item.message);
    }

    static uint64_t varint(FieldKind kind, uint64_t value) {
        bool is_wide = kind == FieldKind::kInt64 || kind == FieldKind::kUint64;
        return is_wide ? value
                       : static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
    }

    bool add(Field& field, const Item& item) {
        if (!document_.take()) {
            return fail("there are too many values");
        }
        if (!field.info->is_repeated()) {
            field.items.clear();
        }
        field.items.push_back(item);
        return true;
    }

    bool read_packed(protozero::pbf_reader& reader, Field& field) {
        std::string_view bytes = reader.get_view();
        size_t width = field.info->kind == FieldKind::kFloat    ? 4
                       : field.info->kind == FieldKind::kDouble ? 8
                                                                : 0;
        if (width != 0 && bytes.size() % width != 0) {
            return fail(fmt::format("`{}` ends within a number", field.info->name));
        }
        const char* data = bytes.data();
        const char* end = data + bytes.size();
        while (data != end) {
            Item item;
            if (width == 0) {
                item.bits = varint(field.info->kind, protozero::decode_varint(&data, end));
            } else {
                std::memcpy(&item.bits, data, width);
                data += width;
            }
            if (!add(field, item)) {
                return false;
            }
        }
        return true;
    }

    Document& document_;
    int depth_ = 0;
};

// A message stands behind its size, so each is measured before it is written: the sizes come in the
// order in which write() takes them.
class WireWriter {
  public:
    std::string write_all(const Message& message) {
        size_t size = measure(message);
        out_.reserve(size);
        write(message);
        return std::move(out_);
    }

  private:
    static size_t item_size(FieldKind kind, const Item& item) {
        switch (wire_type_of(kind)) {
            case pbf_wire_type::fixed32:
                return sizeof(float);
            case pbf_wire_type::fixed64:
                return sizeof(double);
            case pbf_wire_type::length_delimited:
                return item.bytes.size();
            default:
                return static_cast<size_t>(protozero::length_of_varint(item.bits));
        }
    }

    static size_t delimited(uint32_t number, size_t size) {
        return (number < 16 ? 1 : 2) + static_cast<size_t>(protozero::length_of_varint(size)) +
               size;
    }

    size_t measure(const Message& message) {
        stop_point();
        size_t size = 0;
        for (const Field& field : message.fields) {
            uint32_t number = field.info->number;
            size_t packed = 0;
            for (const Item& item : field.items) {
                if (field.info->kind == FieldKind::kMessage) {
                    size_t slot = sizes_.size();
                    sizes_.push_back(0);
                    sizes_[slot] = measure(*item.message);
                    size += delimited(number, sizes_[slot]);
                } else if (field.info->rule == FieldRule::kPacked) {
                    packed += item_size(field.info->kind, item);
                } else if (is_delimited(field)) {
                    size += delimited(number, item.bytes.size());
                } else {
                    size += (number < 16 ? 1 : 2) + item_size(field.info->kind, item);
                }
            }
            if (field.info->rule == FieldRule::kPacked && !field.items.empty()) {
                sizes_.push_back(packed);
                size += delimited(number, packed);
            }
        }
        return size;
    }

    static bool is_delimited(const Field& field) {
        return wire_type_of(field.info->kind) == pbf_wire_type::length_delimited;
    }

    void varint(uint64_t value) { protozero::add_varint_to_buffer(&out_, value); }

    void begin(uint32_t number, size_t size) {
        varint(bytes_field(number));
        varint(size);
    }

    void scalar(FieldKind kind, const Item& item) {
        pbf_wire_type type = wire_type_of(kind);
        if (type == pbf_wire_type::varint) {
            varint(item.bits);
        } else {
            size_t size = type == pbf_wire_type::fixed32 ? sizeof(float) : sizeof(double);
            out_.append(reinterpret_cast<const char*>(&item.bits), size);
        }
    }

    void write(const Message& message) {
        stop_point();
        for (const Field& field : message.fields) {
            uint32_t number = field.info->number;
            bool is_packed = field.info->rule == FieldRule::kPacked;
            if (is_packed && !field.items.empty()) {
                begin(number, sizes_[next_++]);
            }
            for (const Item& item : field.items) {
                if (field.info->kind == FieldKind::kMessage) {
                    begin(number, sizes_[next_++]);
                    write(*item.message);
                } else if (is_delimited(field)) {
                    begin(number, item.bytes.size());
                    out_ += item.bytes;
                } else {
                    if (!is_packed) {
                        varint(protozero::tag_and_type(number, wire_type_of(field.info->kind)));
                    }
                    scalar(field.info->kind, item);
                }
            }
        }
    }

    std::vector<size_t> sizes_;
    size_t next_ = 0;
    std::string out_;
};

}  // namespace

Result<void> read_wire(std::string_view bytes, Document& document) {
    WireReader reader(document);
    try {
        if (!reader.read(bytes, document.root())) {
            return Error{reader.error};
        }
    } catch (const protozero::exception& exception) {
        return Error{damage_text(exception)};
    }
    return {};
}

std::string write_wire(const Message& message) {
    return WireWriter().write_all(message);
}

}  // namespace sardonyx::proto
