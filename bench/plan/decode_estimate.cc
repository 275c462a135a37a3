#include "bench/plan/decode_estimate.h"

#include "workloads/models/model_parameters.h"

namespace kvbench {

DecodeEstimate EstimateDecode(const MemoryPlanInput& input, int64_t context, int64_t batch) {
  const int64_t parameters = ParametersPerDevice(input.model, input.tensor_parallel);
  const double unread = (1 - ExpectedExpertShare(input.model, batch)) *
                        static_cast<double>(CountParameters(input.model).experts) /
                        static_cast<double>(input.tensor_parallel);
  DecodeEstimate estimate;
  estimate.weight_bytes =
      static_cast<int64_t>((static_cast<double>(parameters) - unread) * DtypeBytes(input.dtype));
  estimate.kv_bytes = batch * DeviceKvBytes(input, context);
  estimate.step_s = static_cast<double>(estimate.weight_bytes + estimate.kv_bytes) /
                    (kReachedBandwidth * input.hardware.memory_bandwidth_bytes_per_s);
  estimate.output_tokens_per_s = static_cast<double>(batch) / estimate.step_s;
  return estimate;
}

double CostOfMillionTokens(const MemoryPlanInput& input, const DecodeEstimate& estimate,
                           double gpu_hour_price) {
  constexpr double kSecondsPerHour = 3600;
  const double price_per_s =
      gpu_hour_price * static_cast<double>(input.tensor_parallel) / kSecondsPerHour;
  return 1e6 / estimate.output_tokens_per_s * price_per_s;
}

}  // namespace kvbench
