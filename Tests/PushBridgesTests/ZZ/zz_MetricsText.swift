/// The text of a page of metrics, as Prometheus reads it.
struct MetricsText: Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    /// Returns the sum of all series of a metric, or 0 if there is none.
    /// - Parameter label: The text that a series has among its labels, such as `state="accepted"`.
    func sum(of name: String, with label: String = "") -> Double {
        self.text.split(separator: "\n").reduce(0) { sum, line in
            guard line.hasPrefix(name), let next = line.dropFirst(name.count).first, next == " " || next == "{",
                label.isEmpty || line.contains(label),
                let value = line.split(separator: " ").last.flatMap({ Double($0) })
            else { return sum }
            return sum + value
        }
    }
}
