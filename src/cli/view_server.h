// A server of one page, for the browser of the person at this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace sardonyx::cli {

// Serves what `page` gives (HTML; again at each request, so that a reload shows the file as it is)
// on the loopback interface until the program is interrupted, and prints the address first. `port`
// 0: a free one. The address has a secret word, so that other pages of the browser and other users
// of the machine do not find the page. Error: no such port is to be had.
Result<void> serve_page(const std::function<Result<std::string>()>& page, uint16_t port);

}  // namespace sardonyx::cli
