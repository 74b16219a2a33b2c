/// The text format 0.0.4 of Prometheus.
package enum PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func header(_ name: String, _ help: String?, _ kind: String) -> String {
        let help = help.map { "# HELP \(name) \($0)\n" } ?? ""
        return "\(help)# TYPE \(name) \(kind)\n"
    }

    /// Returns a number without a fraction where it has none.
    static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Returns the upper bound of a bucket, as the libraries of Prometheus write it.
    static func bound(_ value: Double) -> String { "\(value)" }

    static func labels(_ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        let escapes: [UnicodeScalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]
        return value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
