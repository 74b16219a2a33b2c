extension Duration {
    /// The whole milliseconds. Saturates at the ends of the 64-bit range.
    package var milliseconds: Int64 { self.whole(perSecond: 1000) }

    /// The whole microseconds. Saturates at the ends of the 64-bit range.
    package var microseconds: Int64 { self.whole(perSecond: 1_000_000) }

    private func whole(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: units)
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / units))
        return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration for people, such as `3 ms`, `12 s` or `2 h 5 min`.
    package var readable: String {
        let microseconds = self.microseconds
        if microseconds <= 0 { return "less than 1 ms" }
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 10_000_000 { return "\(microseconds / 1000) ms" }
        let seconds = self.components.seconds
        if seconds < 600 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        if seconds < 48 * 3600 { return "\(seconds / 3600) h \(seconds % 3600 / 60) min" }
        return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
    }
}
