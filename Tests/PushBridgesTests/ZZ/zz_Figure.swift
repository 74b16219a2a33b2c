/// An error of a measurement, or a push that was lost or duplicated.
struct BenchmarkFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Prints a line that the scripts collect.
func figure(_ name: String, _ value: Double, _ unit: String) {
    print("figure \(name) \(Int(exactly: value).map(String.init) ?? String(value)) \(unit)")
}
