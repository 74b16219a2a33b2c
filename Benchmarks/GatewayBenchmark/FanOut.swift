import ArgumentParser
import Benchmarking
import Foundation
import PushDevice
import PushSender
import PushTypes

/// Measures the rate and the latency of pushes from one provider to many connected devices.
struct FanOut: AsyncParsableCommand {
    /// The number of pushes in a batch when the rate is measured.
    private static let batch = 2000
    private static let tick: Duration = .milliseconds(1)
    /// The duration of each measurement of latency.
    private static let latencySeconds = 5.0

    @OptionGroup var swarm: SwarmOptions
    @OptionGroup var pushes: PushOptions
    @Option(help: "Pushes for the rate.") var count = 20_000
    @Option(help: "Pushes a second for the latency at a steady rate.") var rate = 1000.0

    func run() async throws {
        let devices = try DeviceFile.read(self.swarm.file).prefix(self.swarm.devices)
        let swarm = try Swarm(self.swarm, devices)
        try await swarm.connect()
        guard let authority = devices.first?.identity.serviceAuthority else { throw BenchmarkFailure("no devices") }
        let sender = try Provider.sender(self.pushes, authority: authority)
        var run = FanOutRun(swarm: swarm, sender: sender, tokens: devices.compactMap(\.token))
        _ = try await run.rate(Self.batch, batch: Self.batch)
        let gateway = try ProcessStatistics(pid: self.swarm.pid).cpuSeconds
        let own = try ProcessStatistics.own().cpuSeconds
        let perSecond = try await run.rate(self.count, batch: Self.batch)
        let count = Double(self.count)
        figure("fanout_rate", perSecond, "pushes/s delivered to \(devices.count) devices")
        figure(
            "fanout_gateway_cpu",
            (try ProcessStatistics(pid: self.swarm.pid).cpuSeconds - gateway) * 1e6 / count,
            "us/push"
        )
        figure("fanout_load_cpu", (try ProcessStatistics.own().cpuSeconds - own) * 1e6 / count, "us/push")
        for (name, rate) in [("\(Int(self.rate))_per_s", self.rate), ("half_load", perSecond / 2)] {
            let latencies = try await run.latencies(rate: rate, seconds: Self.latencySeconds, tick: Self.tick)
            for share in [50, 99] {
                figure("fanout_latency_p\(share)_\(name)", latencies[latencies.count * share / 100], "us")
            }
        }
        await sender.close()
        await swarm.disconnect()
    }
}

/// Sends pushes to the devices in turn, and checks that each reaches its device once.
struct FanOutRun {
    let swarm: Swarm
    let sender: Sender
    let tokens: [DeviceToken]
    private var next = 0

    init(swarm: Swarm, sender: Sender, tokens: [DeviceToken]) {
        self.swarm = swarm
        self.sender = sender
        self.tokens = tokens
    }

    private mutating func pushes(_ count: Int) -> [Push] {
        let time = Stamp.now
        defer { self.next += count }
        return (self.next..<self.next + count).map { number in
            Provider.push(Stamp(number, time: time), to: self.tokens[number % self.tokens.count])
        }
    }

    /// Returns the pushes per second that were delivered. The sender always has work.
    mutating func rate(_ count: Int, batch: Int) async throws -> Double {
        let batches = stride(from: 0, to: count, by: batch).map { self.pushes(min(batch, count - $0)) }
        let sender = self.sender
        let start = Stamp.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, pushes) in batches.enumerated() {
                if index >= 2 { try await group.next() }
                group.addTask { try await Provider.send(pushes, with: sender) }
            }
            try await group.waitForAll()
        }
        try await self.allArrive()
        return Double(count) / (Double(self.swarm.counters.counts.lastArrival - start) / 1e9)
    }

    /// Returns the sorted times from the call of the sender to the arrival at the device, in microseconds. Pushes start at a
    /// constant rate, regardless of the earlier ones.
    mutating func latencies(rate: Double, seconds: Double, tick: Duration) async throws -> [Double] {
        let sender = self.sender
        self.swarm.counters.update { counts in
            counts.latencies = []
            counts.keepsLatencies = true
        }
        try await withThrowingDiscardingTaskGroup { group in
            let start = ContinuousClock.now
            var sent = 0
            while sent < Int(rate * seconds) {
                try await Task.sleep(for: tick)
                let due = min(Int(rate * seconds), Int((ContinuousClock.now - start) / .seconds(1) * rate))
                guard due > sent else { continue }
                let pushes = self.pushes(due - sent)
                sent = due
                group.addTask { try await Provider.send(pushes, with: sender) }
            }
        }
        try await self.allArrive()
        return self.swarm.counters.update { counts in
            counts.keepsLatencies = false
            return counts.latencies.sorted()
        }
    }

    private func allArrive() async throws {
        let count = self.next
        try await self.swarm.counters.wait(for: "\(count) messages", seconds: 60) { $0.total >= count }
        try await Task.sleep(for: .milliseconds(200))
        let counts = self.swarm.counters.counts
        guard counts.total == count, counts.stamps.count == count, counts.doubled == 0 else {
            throw BenchmarkFailure("\(counts.total) messages for \(count) pushes, \(counts.doubled) came twice")
        }
    }
}
