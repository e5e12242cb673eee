// Loops of expressions, compiled for every instruction set (see simd.hpp), hence without guard.

template <typename Rule, typename From>
inline void apply_one(const void* const* operands, void* result, int64_t count) {
  using To = decltype(Rule::of(From{}));
  const From* const a = static_cast<const From*>(operands[0]);
  To* const __restrict out = static_cast<To*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i]);
}

template <typename Rule, typename First, typename Second>
[[gnu::noinline]] void apply_two(const void* const* operands, void* result, int64_t count) {
  using To = decltype(Rule::of(First{}, Second{}));
  const First* const a = static_cast<const First*>(operands[0]);
  const Second* const b = static_cast<const Second*>(operands[1]);
  To* const __restrict out = static_cast<To*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i], b[i]);
}

template <typename Rule, typename T>
void apply_swapped(const void* const* operands, void* result, int64_t count) {
  const void* const swapped[2] = {operands[1], operands[0]};
  apply_two<Rule, T, T>(swapped, result, count);
}

template <typename T>
inline void apply_clamp(const void* const* operands, void* result, int64_t count) {
  const T* const value = static_cast<const T*>(operands[0]);
  const T* const low = static_cast<const T*>(operands[1]);
  const T* const high = static_cast<const T*>(operands[2]);
  T* const __restrict out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = ClampRule::of(value[i], low[i], high[i]);
}

// Calls `visitor` with a zero of a type that computes the same bits as `type` does. Without a sign
// where it makes no difference, to have fewer loops.
template <typename Visitor>
inline ElementwiseFunction visit_wrapping(DataType type, Visitor&& visitor) {
  switch (type) {
    case DataType::kUInt8:
    case DataType::kInt8:
      return visitor(uint8_t{});
    case DataType::kUInt16:
    case DataType::kInt16:
      return visitor(uint16_t{});
    case DataType::kUInt32:
    case DataType::kInt32:
      return visitor(uint32_t{});
    case DataType::kUInt64:
    case DataType::kInt64:
      return visitor(uint64_t{});
    case DataType::kFloat:
      return visitor(float{});
    case DataType::kFloat64:
      return visitor(double{});
    case DataType::kBool:
      return visitor(bool{});
    default:
      return nullptr;
  }
}

// Bool is a byte of 0 or 1.
inline DataType byte_of_bool(DataType type) {
  return type == DataType::kBool ? DataType::kUInt8 : type;
}

template <typename Visitor>
inline ElementwiseFunction visit_ordered(DataType type, Visitor&& visitor) {
  return visit_computed(byte_of_bool(type), [&](auto zero) -> ElementwiseFunction {
    if constexpr (std::is_same_v<decltype(zero), bool>)
      return nullptr;
    else
      return visitor(zero);
  });
}

inline ElementwiseFunction copy_of(DataType type) {
  switch (size_of(type)) {
    case 1:
      return &apply_one<PlusRule, uint8_t>;
    case 2:
      return &apply_one<PlusRule, uint16_t>;
    case 4:
      return &apply_one<PlusRule, uint32_t>;
    default:
      return &apply_one<PlusRule, uint64_t>;
  }
}

inline ElementwiseFunction abs_of(DataType type) {
  return visit_computed(type, [&](auto a) -> ElementwiseFunction {
    if constexpr (std::is_signed_v<decltype(a)>)
      return &apply_one<AbsRule, decltype(a)>;
    else
      return copy_of(type);
  });
}

template <typename Rule>
inline ElementwiseFunction two_wrapping(DataType type) {
  return visit_wrapping(type, [](auto a) { return &apply_two<Rule, decltype(a), decltype(a)>; });
}

template <typename Rule>
inline ElementwiseFunction two_equal(DataType type) {
  return two_wrapping<Rule>(byte_of_bool(type));
}

template <typename Rule>
inline ElementwiseFunction two_ordered(DataType type) {
  return visit_ordered(type, [](auto a) { return &apply_two<Rule, decltype(a), decltype(a)>; });
}

template <typename Rule>
inline ElementwiseFunction two_swapped(DataType type) {
  return visit_ordered(type, [](auto a) { return &apply_swapped<Rule, decltype(a)>; });
}

template <typename Rule>
inline ElementwiseFunction one_float(DataType type) {
  if (type == DataType::kFloat) return &apply_one<Rule, float>;
  return type == DataType::kFloat64 ? &apply_one<Rule, double> : nullptr;
}

template <typename Rule>
inline ElementwiseFunction two_floats(DataType type) {
  if (type == DataType::kFloat) return &apply_two<Rule, float, float>;
  return type == DataType::kFloat64 ? &apply_two<Rule, double, double> : nullptr;
}

// The same bits with and without a sign.
template <typename Rule>
inline ElementwiseFunction two_patterns(DataType type) {
  return visit_wrapping(type, [](auto a) -> ElementwiseFunction {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return nullptr;
    else
      return &apply_two<Rule, decltype(a), decltype(a)>;
  });
}

inline ElementwiseFunction shift_right_of(DataType type) {
  return visit_ordered(type, [](auto a) -> ElementwiseFunction {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return nullptr;
    else
      return &apply_two<ShiftRightRule, decltype(a), decltype(a)>;
  });
}

// Quotients or remainders of integers of up to 32 bits. The quotient of two of them is further from
// the next whole number than the rounding of floating point numbers reaches, so that cutting off
// its fraction gives the exact one.
template <typename T, bool kRemainder>
inline void divide_all(const void* const* operands, void* result, int64_t count) {
  using Real = std::conditional_t<(sizeof(T) < 4), float, double>;
  using Quotient = std::conditional_t<std::is_same_v<T, uint32_t>, int64_t, int32_t>;
  constexpr Real kHighest = static_cast<Real>(std::numeric_limits<Quotient>::max());
  const T* const a = static_cast<const T*>(operands[0]);
  const T* const b = static_cast<const T*>(operands[1]);
  T* const __restrict out = static_cast<T*>(result);
  unsigned has_zero = 0;
  for (int64_t i = 0; i < count; ++i) has_zero |= b[i] == 0;
  if (has_zero) throw_zero_divisor(data_type_of<T>());
  for (int64_t i = 0; i < count; ++i) {
    Real quotient = static_cast<Real>(a[i]) / static_cast<Real>(b[i]);
    // Only of the lowest 32-bit number and -1, whose quotient wraps around.
    if constexpr (std::is_same_v<T, int32_t>)
      quotient = quotient > kHighest ? -kHighest - 1 : quotient;
    const T whole = static_cast<T>(static_cast<Quotient>(quotient));
    out[i] = kRemainder ? SubRule::of(a[i], MulRule::of(whole, b[i])) : whole;
  }
}

template <bool kRemainder>
inline ElementwiseFunction division_of(DataType type) {
  return visit_computed(type, [](auto a) -> ElementwiseFunction {
    using T = decltype(a);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 4)
      return &divide_all<T, kRemainder>;
    else
      return nullptr;
  });
}

inline ElementwiseFunction select_kernel(Function function, DataType type) {
  switch (function) {
    case Function::kPlus:
      return type == DataType::kFloat16 ? nullptr : copy_of(type);
    case Function::kMinus:
      return visit_wrapping(type, [](auto a) { return &apply_one<MinusRule, decltype(a)>; });
    case Function::kAbs:
    case Function::kFabs:
      return abs_of(type);
    case Function::kInvert:
      return visit_wrapping(type, [](auto a) -> ElementwiseFunction {
        if constexpr (std::is_floating_point_v<decltype(a)>)
          return nullptr;
        else
          return &apply_one<InvertRule, decltype(a)>;
      });
    case Function::kAdd:
      return two_wrapping<AddRule>(type);
    case Function::kSub:
      return two_wrapping<SubRule>(type);
    case Function::kMul:
      return two_wrapping<MulRule>(type);
    case Function::kTrueDiv:
      return two_floats<DivRule>(type);
    case Function::kFloorDiv:
      return is_float_type(type) ? two_floats<DivRule>(type) : division_of<false>(type);
    case Function::kMod:
      return division_of<true>(type);
    case Function::kMin:
      return two_ordered<MinRule>(type);
    case Function::kMax:
      return two_ordered<MaxRule>(type);
    case Function::kClamp:
      return visit_ordered(type, [](auto a) { return &apply_clamp<decltype(a)>; });
    case Function::kEqual:
      return two_equal<EqualRule>(type);
    case Function::kNotEqual:
      return two_equal<NotRule<EqualRule>>(type);
    case Function::kLess:
      return two_ordered<LessRule>(type);
    case Function::kLessEqual:
      return two_ordered<LessEqualRule>(type);
    case Function::kGreater:
      return two_swapped<LessRule>(type);
    case Function::kGreaterEqual:
      return two_swapped<LessEqualRule>(type);
    case Function::kAnd:
      return two_patterns<AndRule>(byte_of_bool(type));
    case Function::kOr:
      return two_patterns<OrRule>(byte_of_bool(type));
    case Function::kXor:
      return two_patterns<XorRule>(byte_of_bool(type));
    case Function::kShiftLeft:
      return two_patterns<ShiftLeftRule>(type);
    case Function::kShiftRight:
      return shift_right_of(type);
    case Function::kSqrt:
      return one_float<SqrtRule>(type);
    case Function::kRsqrt:
      return one_float<RsqrtRule>(type);
    case Function::kFloor:
      return one_float<FloorRule>(type);
    case Function::kCeil:
      return one_float<CeilRule>(type);
    default:
      return nullptr;
  }
}

template <typename From, typename To>
void convert_integers(const void* in, void* out, int64_t count) {
  const From* const from = static_cast<const From*>(in);
  To* const __restrict to = static_cast<To*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

template <typename From>
inline IntegerConversion convert_integers_from(int64_t bytes) {
  switch (bytes) {
    case 1:
      return convert_integers<From, uint8_t>;
    case 2:
      return convert_integers<From, uint16_t>;
    case 4:
      return convert_integers<From, uint32_t>;
    default:
      return convert_integers<From, uint64_t>;
  }
}

// Of different widths: the sign of the output makes no difference, nor does that of the input where
// the output is narrower.
inline IntegerConversion select_conversion(DataType from, int64_t bytes) {
  switch (from) {
    case DataType::kInt8:
      return convert_integers_from<int8_t>(bytes);
    case DataType::kInt16:
      return convert_integers_from<int16_t>(bytes);
    case DataType::kInt32:
      return convert_integers_from<int32_t>(bytes);
    case DataType::kUInt8:
    case DataType::kBool:
      return convert_integers_from<uint8_t>(bytes);
    case DataType::kUInt16:
      return convert_integers_from<uint16_t>(bytes);
    case DataType::kUInt32:
      return convert_integers_from<uint32_t>(bytes);
    default:
      return convert_integers_from<uint64_t>(bytes);
  }
}
