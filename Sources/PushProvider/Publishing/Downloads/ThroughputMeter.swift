import PushTypes

/// Measures the average bytes per second over the last ten seconds. The caller passes in the time.
struct ThroughputMeter: Sendable {
    /// The length of the measured period, in seconds.
    static let window: Int64 = 10

    /// The number of bytes in each second of the window. The index is the second modulo ``window``.
    private var seconds = [(second: Int64, bytes: Int)](repeating: (.min, 0), count: Int(Self.window))

    mutating func add(_ bytes: Int, now: Timestamp) {
        let second = now.seconds
        let index = Int(second.quotientAndRemainder(dividingBy: Self.window).remainder.magnitude)
        let before = self.seconds[index].second == second ? self.seconds[index].bytes : 0
        self.seconds[index] = (second, before + bytes)
    }

    /// Returns the average bytes per second over the window that ends now.
    func rate(now: Timestamp) -> Int {
        let latest = now.seconds
        let sum = self.seconds.reduce(0) { sum, entry in
            entry.second <= latest && entry.second > latest - Self.window ? sum + entry.bytes : sum
        }
        return sum / Int(Self.window)
    }
}
