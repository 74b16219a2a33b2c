import Synchronization

/// The sources of the gauges at `/metrics`: closures that are called at each request.
package final class GaugeRegistry: Sendable {
    /// One value, with the labels that distinguish it from others of the same name.
    package struct Sample: Hashable, Sendable {
        package var labels: [String: String] = [:]
        package var value: Int

        package init(labels: [String: String] = [:], value: Int) {
            self.labels = labels
            self.value = value
        }
    }

    package typealias Samples = @Sendable () async throws -> [Sample]

    private let sources = Mutex<[(metric: Metric, read: Samples)]>([])

    package init() {}

    /// Adds a metric with one value.
    package func add(
        _ metric: Metric,
        _ labels: [String: String] = [:],
        _ value: @escaping @Sendable () async throws -> Int
    ) {
        self.add(metric) { [Sample(labels: labels, value: try await value())] }
    }

    /// Adds a metric whose samples come and go.
    package func add(_ metric: Metric, samples: @escaping Samples) {
        self.sources.withLock { $0.append((metric, samples)) }
    }

    /// Returns all samples in the text format 0.0.4 of Prometheus, each name once and in the order of their addition.
    package func text() async throws -> String {
        let sources = self.sources.withLock { $0 }
        var metrics: [Metric] = []
        var samples: [Metric: [Sample]] = [:]
        for source in sources {
            if samples[source.metric] == nil { metrics.append(source.metric) }
            samples[source.metric, default: []] += try await source.read()
        }
        return metrics.map { PrometheusText.lines($0, samples[$0] ?? []) }.joined()
    }
}
