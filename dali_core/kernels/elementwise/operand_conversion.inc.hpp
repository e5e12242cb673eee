// Loops that convert operands, compiled for every instruction set (see simd.hpp), hence without
// guard. BOOL has the bits of an unsigned number, and integers that become longer have the same
// bits whatever the sign of their new type.

template <typename From, typename To>
inline void convert_all(const void* in, void* out, int64_t count) {
  const From* const from = static_cast<const From*>(in);
  To* const __restrict to = static_cast<To*>(out);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<From, Half>)
      to[i] = static_cast<To>(to_float(from[i]));
    else if constexpr (std::is_same_v<To, Half>)
      to[i] = to_half(static_cast<float>(from[i]));
    else
      to[i] = static_cast<To>(from[i]);
  }
}

template <typename To>
inline ConvertOperand select_to_float(DataType from) {
  switch (from) {
    case DataType::kUInt8:
    case DataType::kBool:
      return &convert_all<uint8_t, To>;
    case DataType::kUInt16:
      return &convert_all<uint16_t, To>;
    case DataType::kUInt32:
      return &convert_all<uint32_t, To>;
    case DataType::kUInt64:
      return &convert_all<uint64_t, To>;
    case DataType::kInt8:
      return &convert_all<int8_t, To>;
    case DataType::kInt16:
      return &convert_all<int16_t, To>;
    case DataType::kInt32:
      return &convert_all<int32_t, To>;
    case DataType::kInt64:
      return &convert_all<int64_t, To>;
    case DataType::kFloat16:
      return &convert_all<Half, To>;
    case DataType::kFloat:
      return std::is_same_v<To, double> ? &convert_all<float, double> : nullptr;
    default:
      return std::is_same_v<To, float> ? &convert_all<double, float> : nullptr;
  }
}

// Integers of one byte or more become longer ones.
template <typename From>
inline ConvertOperand select_longer(int64_t bytes) {
  using Short = std::conditional_t<std::is_signed_v<From>, int16_t, uint16_t>;
  using Long = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
  using Longest = std::conditional_t<std::is_signed_v<From>, int64_t, uint64_t>;
  if constexpr (sizeof(From) < 2)
    if (bytes == 2) return &convert_all<From, Short>;
  if constexpr (sizeof(From) < 4)
    if (bytes == 4) return &convert_all<From, Long>;
  if constexpr (sizeof(From) < 8)
    if (bytes == 8) return &convert_all<From, Longest>;
  return nullptr;
}

// Null where nothing is ever converted in expressions.
inline ConvertOperand select_conversion(DataType from, DataType to) {
  if (to == DataType::kFloat) return select_to_float<float>(from);
  if (to == DataType::kFloat64) return select_to_float<double>(from);
  if (to == DataType::kFloat16)
    return from == DataType::kFloat ? &convert_all<float, Half> : nullptr;
  switch (from) {
    case DataType::kUInt8:
    case DataType::kBool:
      return select_longer<uint8_t>(size_of(to));
    case DataType::kUInt16:
      return select_longer<uint16_t>(size_of(to));
    case DataType::kUInt32:
      return select_longer<uint32_t>(size_of(to));
    case DataType::kInt8:
      return select_longer<int8_t>(size_of(to));
    case DataType::kInt16:
      return select_longer<int16_t>(size_of(to));
    case DataType::kInt32:
      return select_longer<int32_t>(size_of(to));
    default:
      return nullptr;
  }
}
