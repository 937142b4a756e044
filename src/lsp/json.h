// JSON as data: what messages hold. Reading is nlohmann's, with a limit on depth; texts that are no
// UTF-8 are written with U+FFFD in their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sardonyx::lsp {

class Json {
  public:
    enum class Kind : uint8_t { kNull, kBool, kInt, kFloat, kString, kArray, kObject };
    using Member = std::pair<std::string, Json>;

    Json() = default;
    Json(bool value) : kind_(Kind::kBool), integer_(value) {}
    Json(int value) : kind_(Kind::kInt), integer_(value) {}
    Json(uint32_t value) : kind_(Kind::kInt), integer_(value) {}
    Json(int64_t value) : kind_(Kind::kInt), integer_(value) {}
    Json(double value) : kind_(Kind::kFloat), real_(value) {}
    Json(const char* value) : kind_(Kind::kString), text_(value) {}
    Json(std::string value) : kind_(Kind::kString), text_(std::move(value)) {}
    Json(std::string_view value) : kind_(Kind::kString), text_(value) {}
    static Json array(std::vector<Json> items = {});
    static Json object(std::vector<Member> members = {});

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::kNull; }
    bool is_string() const { return kind_ == Kind::kString; }
    bool is_object() const { return kind_ == Kind::kObject; }

    // The member of an object; of all else, and where there is none, null.
    const Json& operator[](std::string_view name) const;
    const std::vector<Json>& items() const { return items_; }  // empty but of an array
    // Another kind gives what is empty.
    std::string_view text() const { return text_; }
    int64_t integer() const { return kind_ == Kind::kInt ? integer_ : 0; }
    bool is_true() const { return kind_ == Kind::kBool && integer_ != 0; }

    void add(Json item) { items_.push_back(std::move(item)); }
    void set(std::string name, Json value) {
        members_.emplace_back(std::move(name), std::move(value));
    }

    std::string write() const;

  private:
    void write_to(std::string& out) const;

    Kind kind_ = Kind::kNull;
    int64_t integer_ = 0;
    double real_ = 0;
    std::string text_;
    std::vector<Json> items_;
    std::vector<Member> members_;
};

// Nothing where the text is no JSON, or deeper than any message.
std::optional<Json> read_json(std::string_view text);

}  // namespace sardonyx::lsp
