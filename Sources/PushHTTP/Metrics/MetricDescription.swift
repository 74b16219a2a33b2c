/// The help text of a metric of a ``PrometheusRegistry``, and the buckets of a histogram.
package struct MetricDescription: Hashable, Sendable {
    /// The buckets of a histogram that has no others: up to 10 s, for requests.
    package static let requestBuckets: [Double] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// The name as it is shown, with its suffix.
    package var name: String
    /// One line.
    package var help: String
    /// The upper bounds of the buckets, in seconds and ascending. A last bucket is for durations beyond all bounds.
    package var buckets: [Double]

    package init(_ name: String, _ help: String, buckets: [Double] = Self.requestBuckets) {
        (self.name, self.help, self.buckets) = (name, help, buckets)
    }
}
