import Foundation

/// The scale of a chart's upright axis: from 0 to a round number above all values, with a few lines.
struct ChartScale: Equatable {
    let maximum: Double
    /// The values with a line and a label, from 0 on.
    let ticks: [Double]

    /// - Parameter largest: The largest value; without one the scale ends at 1.
    init(upTo largest: Double) {
        guard largest.isFinite, largest > 0 else {
            (self.maximum, self.ticks) = (1, [0, 1])
            return
        }
        let step = Self.step(largest / 4)
        let count = max(1, Int((largest / step).rounded(.up)))
        self.ticks = (0...count).map { Double($0) * step }
        self.maximum = Double(count) * step
    }

    /// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not smaller.
    private static func step(_ least: Double) -> Double {
        let power = pow(10, floor(log10(least)))
        guard power > 0, power.isFinite else { return least }
        return [1, 2, 2.5, 5, 10].lazy.map { $0 * power }.first { $0 >= least } ?? least
    }
}
