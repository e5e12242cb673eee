// What contexts and the report need to know of events.
#pragma once

#include <cstddef>

#include "context.hpp"

namespace simulated {

std::size_t number_of_events();
void forget_events(Context& context);

}  // namespace simulated
