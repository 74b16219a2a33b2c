import Foundation
import PushSender
import PushTypes

/// Sends one push repeatedly and measures the time.
struct BenchmarkRun: Sendable {
    struct Result {
        var count: Int
        var wallSeconds: Double
        var cpuSeconds: Double
        /// The sorted latencies in microseconds; empty for bulk runs.
        var latencies: [Double] = []
        /// The growth of resident memory over the run, in kilobytes.
        var growthKB: Int

        var json: String {
            let values = [
                ("requests", Double(self.count)), ("seconds", self.wallSeconds),
                ("requestsPerSecond", Double(self.count) / self.wallSeconds),
                ("cpuMicrosecondsPerRequest", self.cpuSeconds * 1e6 / Double(self.count)),
                ("latencyP50Microseconds", self.percentile(0.5)), ("latencyP99Microseconds", self.percentile(0.99)),
                ("memoryGrowthKilobytes", Double(self.growthKB)),
            ]
            return "{" + values.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        }

        private func percentile(_ share: Double) -> Double {
            guard !self.latencies.isEmpty else { return 0 }
            return self.latencies[min(self.latencies.count - 1, Int(Double(self.latencies.count) * share))]
        }
    }

    struct RejectedPush: Error, CustomStringConvertible {
        var description: String
    }

    let sender: Sender
    let push: Push
    let batch: Int

    /// Sends `count` pushes in batches, with `calls` batches in flight so that the sender always has work.
    func bulk(_ count: Int, calls: Int) async throws -> Result {
        let pushes = Array(repeating: self.push, count: self.batch)
        let before = Memory.residentKB
        let start = ContinuousClock.now
        let cpu = CPUTime.seconds
        try await withThrowingTaskGroup(of: Void.self) { group in
            var left = count
            var running = 0
            while left > 0 {
                let part = min(left, self.batch)
                if running == calls {
                    try await group.next()
                    running -= 1
                }
                group.addTask { try Self.check(await self.sender.send(Array(pushes.prefix(part))), count: part) }
                left -= part
                running += 1
            }
            try await group.waitForAll()
        }
        return Result(
            count: count,
            wallSeconds: (ContinuousClock.now - start) / .seconds(1),
            cpuSeconds: CPUTime.seconds - cpu,
            growthKB: Memory.residentKB - before
        )
    }

    /// Sends `count` pushes, each in a call of its own.
    func singles(_ count: Int, inFlight: Int) async throws -> Result {
        let before = Memory.residentKB
        let start = ContinuousClock.now
        let cpu = CPUTime.seconds
        var latencies = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<inFlight {
                group.addTask { try await self.sequential(count / inFlight) }
            }
            return try await group.reduce(into: [Double]()) { $0 += $1 }
        }
        let wall = (ContinuousClock.now - start) / .seconds(1)
        latencies.sort()
        return Result(
            count: latencies.count,
            wallSeconds: wall,
            cpuSeconds: CPUTime.seconds - cpu,
            latencies: latencies,
            growthKB: Memory.residentKB - before
        )
    }

    /// Sends pushes one after the other and returns their latencies in microseconds.
    private func sequential(_ count: Int) async throws -> [Double] {
        var latencies: [Double] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try Self.check([await self.sender.send(self.push)], count: 1)
            latencies.append((ContinuousClock.now - start) / .microseconds(1))
        }
        return latencies
    }

    /// Checks that every push has an outcome, and that each was accepted.
    private static func check(_ outcomes: [Outcome], count: Int) throws {
        guard outcomes.count == count else { throw RejectedPush(description: "\(outcomes.count) of \(count) outcomes") }
        for outcome in outcomes {
            guard case .accepted = outcome else { throw RejectedPush(description: "\(outcome)") }
        }
    }
}
