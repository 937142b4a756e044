// Text of JSON, written member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx {

enum class JsonText : uint8_t {
    kPlain,   // what is no UTF-8 becomes U+FFFD
    kInPage,  // so that the string can stand inside of a <script> element
    kExact,   // what is no UTF-8 stays, so that a name that is read back is the same
};

// A string with its quotes.
std::string json_string(std::string_view text, JsonText kind = JsonText::kPlain);

// Objects and lists, two columns deeper each; the commas are set by themselves.
class JsonWriter {
  public:
    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_list() { return open('['); }
    JsonWriter& end_list() { return close(']'); }
    JsonWriter& key(std::string_view name);
    JsonWriter& value(std::string_view text) { return put(json_string(text)); }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(int64_t number) { return put(std::to_string(number)); }
    JsonWriter& value(size_t number) { return put(std::to_string(number)); }
    JsonWriter& value(double number);  // null where it is not finite: JSON has no words for it
    JsonWriter& value(bool truth) { return put(truth ? "true" : "false"); }
    JsonWriter& null() { return put("null"); }
    template <typename T>
    JsonWriter& member(std::string_view name, const T& what) {
        return key(name).value(what);
    }
    // With a line break at its end.
    std::string take();

  private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    JsonWriter& put(std::string_view text);
    void begin_item();

    std::string text_;
    size_t depth_ = 0;
    bool is_first_ = true;
    bool follows_key_ = false;
};

}  // namespace sardonyx
