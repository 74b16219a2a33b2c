package import ProviderModel
package import PushTypes

extension SQLStore {
    package func statistics(
        apps: [Int64],
        from: Timestamp,
        to: Timestamp,
        step: StatisticStep
    ) async throws -> [StatisticPoint] {
        let sums = StatisticCounter.columns.map { "sum(\($0)) AS \($0)" }.joined(separator: ", ")
        let sql = """
            SELECT at / ?4 * ?4 AS start, \(sums) FROM statistic WHERE app = ?1 AND at >= ?2 AND at < ?3 GROUP BY start
            """
        try await self.writeStatistics()
        return try await self.database.query { database in
            var points: [Int64: StatisticPoint] = [:]
            for app in apps {
                for row in try database.rows(sql: sql, [app, from.seconds, to.seconds, step.seconds]) {
                    guard let start = row["start"] as Int64? else { continue }
                    points[start, default: StatisticPoint(at: Timestamp(seconds: start))].add(row)
                }
            }
            return points.values.sorted { $0.at < $1.at }
        }
    }

    package func topReasons(apps: [Int64], from: Timestamp, to: Timestamp, limit: Int) async throws -> [ReasonCount] {
        let sql = """
            SELECT state, text, sum(count) AS count FROM statisticReason JOIN reason ON reason.id = statisticReason.reason
            WHERE app = ? AND at >= ? AND at < ? GROUP BY state, reason.id
            """
        try await self.writeStatistics()
        return try await self.database.query { database in
            var counts: [DeliveryRecord.State: [BytewiseString: Int]] = [:]
            for app in apps {
                for row in try database.rows(sql: sql, [app, from.seconds, to.seconds]) {
                    guard let state = row.value("state") as DeliveryRecord.State?, let text = row["text"] as String?
                    else { continue }
                    counts[state, default: [:]][BytewiseString(text), default: 0] += row["count"] as Int? ?? 0
                }
            }
            let all = counts.flatMap { state, reasons in
                reasons.map { ReasonCount(state: state, reason: $0.key.text, count: $0.value) }
            }
            return Array(all.sorted { ($0.count, $1.reason) > ($1.count, $0.reason) }.prefix(limit))
        }
    }

    package func writeStatistics() async throws { try await self.pageWriter.writeStatistics(to: self.database) }

    package func rollUpStatistics(now: Timestamp) async throws -> Int {
        try await self.writeStatistics()
        return try await self.database.write { database in
            for step in StatisticStep.allCases {
                // Only complete intervals of the next step are rolled up.
                let oldest = (step.next ?? step).start(of: now.advanced(by: .zero - step.retention)).seconds
                for table in StatisticTable.all {
                    let rows = try table.rollUp(step, before: oldest, in: database)
                    if rows > 0 { return rows }
                }
            }
            return 0
        }
    }
}

extension StatisticPoint {
    fileprivate mutating func add(_ row: SQLRow) {
        self.accepted += row["accepted"] as Int? ?? 0
        self.rejected += row["rejected"] as Int? ?? 0
        self.failed += row["failed"] as Int? ?? 0
        self.skipped += row["skipped"] as Int? ?? 0
        self.unknown += row["unknown"] as Int? ?? 0
        self.opened += row["opened"] as Int? ?? 0
        for (index, column) in StatisticCounter.latency.enumerated() {
            self.latency.buckets[index] += row[column] as Int? ?? 0
        }
    }
}

/// A table of counters. As its rows get older, they are rolled up into longer intervals.
private struct StatisticTable {
    let name: String
    /// The columns that, together with the interval, identify a row.
    let keys: [String]
    let numbers: [String]

    static let all = [
        StatisticTable(name: "statistic", keys: ["app"], numbers: StatisticCounter.columns),
        StatisticTable(name: "statisticReason", keys: ["app", "state", "reason"], numbers: ["count"]),
    ]

    /// Adds the oldest rows of a step, a length of intervals, to those of the next longer step, if they begin before
    /// `limit`, in seconds since 1970. Those of the longest step are deleted.
    /// - Returns: The number of rows that were removed from this step.
    func rollUp(_ step: StatisticStep, before limit: Int64, in database: any SQLConnection) throws -> Int {
        let first = "SELECT min(at) FROM \(self.name) WHERE step = ?"
        guard let at = try database.integer(sql: first, [step.seconds]), at < limit else { return 0 }
        let width = (step.next ?? step).seconds
        let (start, end) = (at / width * width, at / width * width + width)
        if let next = step.next {
            let keys = self.keys.joined(separator: ", ")
            let sums = self.numbers.map { "sum(\($0))" }.joined(separator: ", ")
            let additions = self.numbers.map { "\($0) = \(self.name).\($0) + excluded.\($0)" }.joined(separator: ", ")
            let sql = """
                INSERT INTO \(self.name) (\(keys), at, step, \(self.numbers.joined(separator: ", ")))
                SELECT \(keys), ?1, ?2, \(sums) FROM \(self.name) WHERE step = ?3 AND at >= ?1 AND at < ?4 GROUP BY \(keys)
                ON CONFLICT (\(keys), at, step) DO UPDATE SET \(additions)
                """
            try database.run(sql: sql, [start, next.seconds, step.seconds, end])
        }
        let sql = "DELETE FROM \(self.name) WHERE step = ? AND at >= ? AND at < ?"
        return try database.run(sql: sql, [step.seconds, start, end])
    }
}
