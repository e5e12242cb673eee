// Loops of expressions, compiled for every instruction set (see simd.hpp), hence without guard.

template <typename Rule, typename From>
inline void apply_one(const void* const* operands, void* result, int64_t count) {
  using To = decltype(Rule::of(From{}));
  const From* const a = static_cast<const From*>(operands[0]);
  To* const __restrict out = static_cast<To*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i]);
}

// Not inlined: rules with swapped operands call the loops of the others.
template <typename Rule, typename T>
struct Two {
  [[gnu::noinline]] static void apply(const void* const* operands, void* result, int64_t count) {
    using To = decltype(Rule::of(T{}, T{}));
    const T* const a = static_cast<const T*>(operands[0]);
    const T* const b = static_cast<const T*>(operands[1]);
    To* const __restrict out = static_cast<To*>(result);
    for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i], b[i]);
  }
};

template <typename Rule, typename T>
struct Two<SwappedRule<Rule>, T> {
  static void apply(const void* const* operands, void* result, int64_t count) {
    const void* const swapped[2] = {operands[1], operands[0]};
    Two<Rule, T>::apply(swapped, result, count);
  }
};

template <typename T>
inline void apply_clamp(const void* const* operands, void* result, int64_t count) {
  const T* const value = static_cast<const T*>(operands[0]);
  const T* const low = static_cast<const T*>(operands[1]);
  const T* const high = static_cast<const T*>(operands[2]);
  T* const __restrict out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = ClampRule::of(value[i], low[i], high[i]);
}

template <typename Rule>
inline ElementwiseFunction one_float(DataType type) {
  if (type == DataType::kFloat) return &apply_one<Rule, float>;
  return type == DataType::kFloat64 ? &apply_one<Rule, double> : nullptr;
}

template <typename Rule>
inline ElementwiseFunction two_floats(DataType type) {
  if (type == DataType::kFloat) return &Two<Rule, float>::apply;
  return type == DataType::kFloat64 ? &Two<Rule, double>::apply : nullptr;
}

// Types of one size share a loop where the bits of results do not depend on the sign. BOOL, too,
// has the bits of an unsigned number.
template <typename Rule>
inline ElementwiseFunction one_of_bits(DataType type) {
  switch (size_of(type)) {
    case 1:
      return &apply_one<Rule, uint8_t>;
    case 2:
      return &apply_one<Rule, uint16_t>;
    case 4:
      return &apply_one<Rule, uint32_t>;
    default:
      return &apply_one<Rule, uint64_t>;
  }
}

template <typename Rule>
inline ElementwiseFunction two_of_bits(DataType type) {
  switch (size_of(type)) {
    case 1:
      return &Two<Rule, uint8_t>::apply;
    case 2:
      return &Two<Rule, uint16_t>::apply;
    case 4:
      return &Two<Rule, uint32_t>::apply;
    default:
      return &Two<Rule, uint64_t>::apply;
  }
}

template <typename Rule>
inline ElementwiseFunction one_of_bits_or_float(DataType type) {
  return is_float_type(type) ? one_float<Rule>(type) : one_of_bits<Rule>(type);
}

template <typename Rule>
inline ElementwiseFunction two_of_bits_or_floats(DataType type) {
  return is_float_type(type) ? two_floats<Rule>(type) : two_of_bits<Rule>(type);
}

template <typename Rule>
inline ElementwiseFunction one_signed(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return &apply_one<Rule, int8_t>;
    case DataType::kInt16:
      return &apply_one<Rule, int16_t>;
    case DataType::kInt32:
      return &apply_one<Rule, int32_t>;
    default:
      return &apply_one<Rule, int64_t>;
  }
}

template <typename Rule>
inline ElementwiseFunction two_integers(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return &Two<Rule, int8_t>::apply;
    case DataType::kInt16:
      return &Two<Rule, int16_t>::apply;
    case DataType::kInt32:
      return &Two<Rule, int32_t>::apply;
    case DataType::kInt64:
      return &Two<Rule, int64_t>::apply;
    default:
      return two_of_bits<Rule>(type);
  }
}

template <typename Rule>
inline ElementwiseFunction two_of(DataType type) {
  return is_float_type(type) ? two_floats<Rule>(type) : two_integers<Rule>(type);
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
  switch (type) {
    case DataType::kUInt8:
      return &divide_all<uint8_t, kRemainder>;
    case DataType::kUInt16:
      return &divide_all<uint16_t, kRemainder>;
    case DataType::kUInt32:
      return &divide_all<uint32_t, kRemainder>;
    case DataType::kInt8:
      return &divide_all<int8_t, kRemainder>;
    case DataType::kInt16:
      return &divide_all<int16_t, kRemainder>;
    case DataType::kInt32:
      return &divide_all<int32_t, kRemainder>;
    default:
      return nullptr;
  }
}

inline ElementwiseFunction clamp_of(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return &apply_clamp<uint8_t>;
    case DataType::kUInt16:
      return &apply_clamp<uint16_t>;
    case DataType::kUInt32:
      return &apply_clamp<uint32_t>;
    case DataType::kUInt64:
      return &apply_clamp<uint64_t>;
    case DataType::kInt8:
      return &apply_clamp<int8_t>;
    case DataType::kInt16:
      return &apply_clamp<int16_t>;
    case DataType::kInt32:
      return &apply_clamp<int32_t>;
    case DataType::kInt64:
      return &apply_clamp<int64_t>;
    case DataType::kFloat:
      return &apply_clamp<float>;
    default:
      return &apply_clamp<double>;
  }
}

inline ElementwiseFunction select_kernel(Function function, DataType type) {
  switch (function) {
    case Function::kPlus:
      return one_of_bits<PlusRule>(type);
    case Function::kMinus:
      return one_of_bits_or_float<MinusRule>(type);
    case Function::kAbs:
    case Function::kFabs:
      if (is_signed_type(type)) return one_signed<AbsRule>(type);
      return is_float_type(type) ? one_float<AbsRule>(type) : one_of_bits<PlusRule>(type);
    case Function::kInvert:
      return type == DataType::kBool ? &apply_one<InvertRule, bool> : one_of_bits<InvertRule>(type);
    case Function::kAdd:
      return two_of_bits_or_floats<AddRule>(type);
    case Function::kSub:
      return two_of_bits_or_floats<SubRule>(type);
    case Function::kMul:
      return two_of_bits_or_floats<MulRule>(type);
    case Function::kTrueDiv:
      return two_floats<DivRule>(type);
    case Function::kFloorDiv:
      return is_float_type(type) ? two_floats<DivRule>(type) : division_of<false>(type);
    case Function::kMod:
      return division_of<true>(type);
    case Function::kMin:
      return two_of<MinRule>(type);
    case Function::kMax:
      return two_of<MaxRule>(type);
    case Function::kClamp:
      return clamp_of(type);
    case Function::kEqual:
      return two_of_bits_or_floats<EqualRule>(type);
    case Function::kNotEqual:
      return two_of_bits_or_floats<NotRule<EqualRule>>(type);
    case Function::kLess:
      return two_of<LessRule>(type);
    case Function::kLessEqual:
      return two_of<LessEqualRule>(type);
    case Function::kGreater:
      return two_of<SwappedRule<LessRule>>(type);
    case Function::kGreaterEqual:
      return two_of<SwappedRule<LessEqualRule>>(type);
    case Function::kAnd:
      return two_of_bits<AndRule>(type);
    case Function::kOr:
      return two_of_bits<OrRule>(type);
    case Function::kXor:
      return two_of_bits<XorRule>(type);
    case Function::kShiftLeft:
      return type == DataType::kBool ? &Two<ShiftLeftRule, bool>::apply
                                     : two_of_bits<ShiftLeftRule>(type);
    case Function::kShiftRight:
      return two_integers<ShiftRightRule>(type);
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
