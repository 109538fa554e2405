internal import EventStore
internal import Telemetry

extension ContinuousVerification.Status {
    var metrics: [Metric] {
        let readModels = readModels.sorted { $0.key < $1.key }
        return [
            .counter(
                "humon_read_model_rows_compared_total", "Rows of a read model that this node compared with the log.",
                readModels.map { (["read_model": $0.key], Double($0.value.rows)) }),
            .gauge(
                "humon_read_model_rows_differing",
                "Rows of a read model that differed from the log in this node's last pass, or in the present one if there are more.",
                readModels.map { (["read_model": $0.key], Double($0.value.differing)) }),
            .counter(
                "humon_read_model_passes_total", "Times that this node's comparison of rows reached the end of the log.",
                Double(passes)),
        ]
    }
}
