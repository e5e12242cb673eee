// Loops of expressions, compiled for every instruction set (see simd.hpp), hence without guard.

template <typename Rule, typename From>
inline void apply_one(const void* const* operands, void* result, int64_t count) {
  using To = decltype(Rule::of(From{}));
  const From* const a = static_cast<const From*>(operands[0]);
  To* const __restrict out = static_cast<To*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i]);
}

template <typename Rule, typename First, typename Second>
inline void apply_two(const void* const* operands, void* result, int64_t count) {
  using To = decltype(Rule::of(First{}, Second{}));
  const First* const a = static_cast<const First*>(operands[0]);
  const Second* const b = static_cast<const Second*>(operands[1]);
  To* const __restrict out = static_cast<To*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = Rule::of(a[i], b[i]);
}

template <typename T>
inline void apply_clamp(const void* const* operands, void* result, int64_t count) {
  const T* const value = static_cast<const T*>(operands[0]);
  const T* const low = static_cast<const T*>(operands[1]);
  const T* const high = static_cast<const T*>(operands[2]);
  T* const __restrict out = static_cast<T*>(result);
  for (int64_t i = 0; i < count; ++i) out[i] = ClampRule::of(value[i], low[i], high[i]);
}

template <typename Rule>
inline ElementwiseFunction one_of(DataType type) {
  return visit_computed(type, [](auto a) { return &apply_one<Rule, decltype(a)>; });
}

template <typename Rule>
inline ElementwiseFunction two_of(DataType type) {
  return visit_computed(type, [](auto a) { return &apply_two<Rule, decltype(a), decltype(a)>; });
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

template <typename Rule>
inline ElementwiseFunction two_integers(DataType type) {
  return visit_computed(type, [](auto a) -> ElementwiseFunction {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return nullptr;
    else
      return &apply_two<Rule, decltype(a), decltype(a)>;
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
      return one_of<PlusRule>(type);
    case Function::kMinus:
      return one_of<MinusRule>(type);
    case Function::kAbs:
    case Function::kFabs:
      return one_of<AbsRule>(type);
    case Function::kInvert:
      return visit_computed(type, [](auto a) -> ElementwiseFunction {
        if constexpr (std::is_floating_point_v<decltype(a)>)
          return nullptr;
        else
          return &apply_one<InvertRule, decltype(a)>;
      });
    case Function::kAdd:
      return two_of<AddRule>(type);
    case Function::kSub:
      return two_of<SubRule>(type);
    case Function::kMul:
      return two_of<MulRule>(type);
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
      return visit_computed(type, [](auto a) { return &apply_clamp<decltype(a)>; });
    case Function::kEqual:
      return two_of<EqualRule>(type);
    case Function::kNotEqual:
      return two_of<NotRule<EqualRule>>(type);
    case Function::kLess:
      return two_of<LessRule>(type);
    case Function::kLessEqual:
      return two_of<LessEqualRule>(type);
    case Function::kGreater:
      return two_of<SwappedRule<LessRule>>(type);
    case Function::kGreaterEqual:
      return two_of<SwappedRule<LessEqualRule>>(type);
    case Function::kAnd:
      return two_integers<AndRule>(type);
    case Function::kOr:
      return two_integers<OrRule>(type);
    case Function::kXor:
      return two_integers<XorRule>(type);
    case Function::kShiftLeft:
      return two_integers<ShiftLeftRule>(type);
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

// Whether results are ever computed or given in `To` from operands of `From`.
template <typename From, typename To>
constexpr bool is_promoted() {
  if constexpr (std::is_same_v<From, To>)
    return false;
  else if constexpr (std::is_same_v<To, bool>)
    return false;
  else if constexpr (std::is_same_v<To, Half>)
    return std::is_same_v<From, float>;
  else if constexpr (std::is_floating_point_v<To>)
    return true;
  else
    return !is_floating<From>;
}

inline void convert_any(const void* in, DataType input_type, void* out, DataType output_type,
                        int64_t count) {
  visit_type(input_type, [&](auto from) {
    visit_type(output_type, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (is_promoted<From, To>()) convert_all<From, To>(in, out, count);
    });
  });
}
