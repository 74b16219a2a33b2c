import Synchronization

/// Where the numbers at `/metrics` come from: closures under a ``Metric``'s name, called whenever somebody asks.
final class GaugeSource: Sendable {
    /// One number, and what tells it from others of the same name.
    struct Sample: Hashable, Sendable {
        var labels: [String: String] = [:]
        var value: Int
    }

    typealias Samples = @Sendable () async throws -> [Sample]

    private let sources = Mutex<[(metric: Metric, read: Samples)]>([])

    /// A number that is always there.
    func add(
        _ metric: Metric,
        _ labels: [String: String] = [:],
        _ value: @escaping @Sendable () async throws -> Int
    ) {
        self.add(metric) { [Sample(labels: labels, value: try await value())] }
    }

    /// Numbers that come and go.
    func add(_ metric: Metric, samples: @escaping Samples) {
        self.sources.withLock { $0.append((metric, samples)) }
    }

    /// Text format 0.0.4 of Prometheus: each name once, in the order in which they were added.
    func text() async throws -> String {
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

/// Text format 0.0.4 of Prometheus.
enum PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func lines(_ metric: Metric, _ samples: [GaugeSource.Sample]) -> String {
        var text = "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
        for sample in samples { text += "\(metric.name)\(Self.labels(sample.labels)) \(sample.value)\n" }
        return text
    }

    private static func labels(_ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
