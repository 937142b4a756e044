// Sizes in .pt2 files: numbers, and sympy's expressions as `sympy.srepr` writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"

namespace sardonyx::torch {

// Names of dimensions in place of torch's, such as `s77`.
using DimNames = std::map<std::string, std::string, std::less<>>;

// A polynomial of symbols; what is none, such as a quotient, is a symbol by its text.
class Size {
  public:
    using Product = std::vector<std::string>;

    Size() = default;
    explicit Size(int64_t number);
    static Size symbol(std::string name);

    // `is_exact()` is false of what does not fit into 64 bits.
    friend Size operator+(const Size& a, const Size& b);
    friend Size operator*(const Size& a, const Size& b);
    friend bool operator==(const Size&, const Size&) = default;

    bool is_exact() const;
    // Nothing: it has symbols, or is not exact.
    std::optional<int64_t> number() const;
    size_t term_count() const { return terms_.size(); }
    // As a dimension of an annotation; `None`: it has no form as one.
    std::string annotation(const DimNames& names) const;

  private:
    void add(const Product& product, int64_t count);

    std::map<Product, int64_t> terms_;  // how often each product of symbols is in it
    bool has_overflown_ = false;
};

// An expression as `sympy.srepr` writes it; nothing: it is none, or too long.
std::optional<Size> parse_size(std::string_view expression);

// `{"as_int": 4}`, `4`, or `{"as_expr": {"expr_str": "Symbol('s77', ...)"}}`.
Result<Size> read_size(JsonValue value);

}  // namespace sardonyx::torch
