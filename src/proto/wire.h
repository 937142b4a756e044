// The wire format, by protozero: only the sources of proto/ include this.
//
// The field of a known number with another wire type is an unknown field, as in libprotobuf: it
// falls to the `default` of a switch on tag_and_type() and is skipped. So no accessor of
// protozero is ever called on a wire type that it does not expect.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#define PROTOZERO_USE_VIEW std::string_view
#include <protozero/buffer_string.hpp>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace sardonyx::proto {

static_assert(std::endian::native == std::endian::little,
              "raw_data is little-endian and is used as it lies");

// The message for what protozero throws.
inline std::string damage_text(const protozero::exception& error) {
    const char* reason = "a number is too long";  // varint_too_long_exception
    if (dynamic_cast<const protozero::end_of_buffer_exception*>(&error) != nullptr) {
        reason = "they end too early";
    } else if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&error) != nullptr) {
        reason = "a field has an unknown type";
    } else if (dynamic_cast<const protozero::invalid_tag_exception*>(&error) != nullptr) {
        reason = "a field has an invalid number";
    } else if (dynamic_cast<const protozero::invalid_length_exception*>(&error) != nullptr) {
        reason = "a field has an invalid length";
    }
    return std::string("the bytes are damaged or cut off: ") + reason;
}

// Case labels for tag_and_type().
constexpr uint32_t varint_field(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr uint32_t fixed32_field(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32);
}
constexpr uint32_t fixed64_field(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed64);
}
constexpr uint32_t bytes_field(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

// Appends the current field as it lies, tag and all, and steps over it.
inline void preserve_field(protozero::pbf_reader* message, std::string* target) {
    uint32_t tag = message->tag_and_type();
    const char* start = message->data().data();
    message->skip();
    protozero::add_varint_to_buffer(target, tag);
    target->append(start, message->data().data());
}

}  // namespace sardonyx::proto
