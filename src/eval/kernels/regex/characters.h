// Code points of UTF-8 text, and their case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::eval {

// Stands for a byte that belongs to no code point; no character class contains it.
inline constexpr uint32_t kNoCharacter = 0x110000;

std::vector<uint32_t> code_points(std::string_view text);

// The other case where it is one code point, else the same.
uint32_t lower_case(uint32_t c);
uint32_t upper_case(uint32_t c);

// Bytes that are no UTF-8 stay as they are.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

}  // namespace sardonyx::eval
