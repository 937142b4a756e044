// Texts within HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx {

// As the content of an element or an attribute in quotes, of XML and HTML.
std::string markup(std::string_view text);

}  // namespace sardonyx
