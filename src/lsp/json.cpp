#include "lsp/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sardonyx::lsp {
namespace {

constexpr size_t kDeepest = 100;

// Receives the events of nlohmann's reader, and puts the values together.
class Builder : public nlohmann::json_sax<nlohmann::json> {
  public:
    bool null() override { return put(Json()); }
    bool boolean(bool value) override { return put(Json(value)); }
    bool number_integer(number_integer_t value) override {
        return put(Json(static_cast<int64_t>(value)));
    }
    bool number_unsigned(number_unsigned_t value) override {
        return value > INT64_MAX ? put(Json(static_cast<double>(value)))
                                 : put(Json(static_cast<int64_t>(value)));
    }
    bool number_float(number_float_t value, const string_t&) override { return put(Json(value)); }
    bool string(string_t& value) override { return put(Json(std::move(value))); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool key(string_t& name) override {
        keys_.back() = std::move(name);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

    Json result;

  private:
    bool put(Json value) {
        if (open_.empty()) {
            result = std::move(value);
        } else if (open_.back().is_object()) {
            open_.back().set(std::move(keys_.back()), std::move(value));
        } else {
            open_.back().add(std::move(value));
        }
        return true;
    }
    bool open(Json value) {
        open_.push_back(std::move(value));
        keys_.emplace_back();
        return open_.size() <= kDeepest;
    }
    bool close() {
        Json value = std::move(open_.back());
        open_.pop_back();
        keys_.pop_back();
        return put(std::move(value));
    }

    std::vector<Json> open_;
    std::vector<std::string> keys_;
};

}  // namespace

Json Json::array(std::vector<Json> items) {
    Json result;
    result.kind_ = Kind::kArray;
    result.items_ = std::move(items);
    return result;
}

Json Json::object(std::vector<Member> members) {
    Json result;
    result.kind_ = Kind::kObject;
    result.members_ = std::move(members);
    return result;
}

const Json& Json::operator[](std::string_view name) const {
    static const Json kNull;
    for (const Member& member : members_) {
        if (member.first == name) {
            return member.second;
        }
    }
    return kNull;
}

std::string Json::write() const {
    std::string out;
    write_to(out);
    return out;
}

void Json::write_to(std::string& out) const {
    switch (kind_) {
        case Kind::kNull:
            out += "null";
            break;
        case Kind::kBool:
            out += integer_ != 0 ? "true" : "false";
            break;
        case Kind::kInt:
            out += fmt::format("{}", integer_);
            break;
        case Kind::kFloat:
            out += std::isfinite(real_) ? fmt::format("{}", real_) : "null";
            break;
        case Kind::kString:
            out += json_string(text_);
            break;
        case Kind::kArray: {
            out += '[';
            for (size_t i = 0; i < items_.size(); ++i) {
                out += i == 0 ? "" : ",";
                items_[i].write_to(out);
            }
            out += ']';
            break;
        }
        case Kind::kObject: {
            out += '{';
            for (size_t i = 0; i < members_.size(); ++i) {
                out += i == 0 ? "" : ",";
                out += json_string(members_[i].first);
                out += ':';
                members_[i].second.write_to(out);
            }
            out += '}';
            break;
        }
    }
}

std::optional<Json> read_json(std::string_view text) {
    Builder builder;
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
        return std::nullopt;
    }
    return std::move(builder.result);
}

}  // namespace sardonyx::lsp
