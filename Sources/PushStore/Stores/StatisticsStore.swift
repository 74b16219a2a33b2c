package import PushTypes

/// The counters of charts.
package protocol StatisticsStore: Sendable {
    /// Writes what was counted since the last time, which charts show then. A process that is killed before loses it.
    func writeStatistics() async throws
    /// Returns the intervals of a range in which something was counted, in their order, as sums over apps.
    /// - Parameters:
    ///   - from: The beginning of the first interval.
    ///   - to: The end of the last interval, which does not count.
    func statistics(
        apps: [Int64],
        from: Timestamp,
        to: Timestamp,
        step: StatisticStep
    ) async throws -> [StatisticPoint]
    /// Returns the most frequent reasons of what was not accepted in a range.
    func topReasons(apps: [Int64], from: Timestamp, to: Timestamp, limit: Int) async throws -> [ReasonCount]
}
