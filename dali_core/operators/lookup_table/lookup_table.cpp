#include "dali_core/operators/lookup_table/lookup_table.hpp"

#include "dali_core/operators/lookup_table/lookup_table_data.hpp"

namespace dali_core {
namespace {

template <typename To, typename From>
void look_up(const From* __restrict in, To* __restrict out, int64_t count, const To* table,
             int64_t num_keys) {
  for (int64_t i = 0; i < count; ++i) out[i] = table[table_entry(in[i], num_keys)];
}

}  // namespace

class LookupTable : public Operator {
 public:
  explicit LookupTable(const OperatorConfig& config) : table_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    visit_integer(input.type, [&](auto from) {
      Tensor& output = sample.output(0, table_.type(), input.shape, input.layout);
      visit_type(table_.type(), [&](auto to) {
        using To = decltype(to);
        look_up(input.as<decltype(from)>(), output.as<To>(), input.num_elements(),
                reinterpret_cast<const To*>(table_.bytes().data()), table_.num_keys());
      });
    });
  }

 private:
  LookupTableData table_;
};

DALI_CORE_REGISTER_OPERATOR("lookup_table", LookupTable)

}  // namespace dali_core
