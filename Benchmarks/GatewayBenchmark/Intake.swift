import ArgumentParser
import Benchmarking
import Foundation

/// Keeps devices connected, which acknowledge while another program sends.
///
/// It prints `ready`. Then it responds to each line `begin` on standard input with `begun`, and to each line `end COUNT` with the
/// microseconds of the gateway and of this process per push.
struct Intake: AsyncParsableCommand {
    /// The time limit for the last acknowledgements, in seconds.
    private static let deadline = 60.0
    /// After the last message: acknowledgements are worked off, and nothing more may come.
    private static let settling: Duration = .milliseconds(500)

    @OptionGroup var swarm: SwarmOptions

    func run() async throws {
        let devices = try DeviceFile.read(self.swarm.file).prefix(self.swarm.devices)
        let swarm = try Swarm(self.swarm, devices)
        try await swarm.connect()
        Self.say("ready")
        var before = (gateway: try ProcessStatistics(pid: self.swarm.pid), own: try ProcessStatistics.own())
        var counts = swarm.counters.counts
        while let line = readLine() {
            if line == "begin" {
                before = (try ProcessStatistics(pid: self.swarm.pid), try ProcessStatistics.own())
                counts = swarm.counters.counts
                Self.say("begun")
            } else if let count = line.split(separator: " ").last.flatMap({ Int($0) }) {
                try await self.await(count, since: counts, swarm)
                let gateway = try ProcessStatistics(pid: self.swarm.pid).cpuSeconds - before.gateway.cpuSeconds
                let own = try ProcessStatistics.own().cpuSeconds - before.own.cpuSeconds
                Self.say("\(gateway * 1e6 / Double(count)) \(own * 1e6 / Double(count))")
            }
        }
        await swarm.disconnect()
    }

    /// Waits for `count` messages. The pushes went to the devices in turn, so their numbers differ by one at most.
    private func await(_ count: Int, since before: ConnectionCounters.Counts, _ swarm: Swarm) async throws {
        try await swarm.counters.wait(for: "\(count) messages", seconds: Self.deadline) {
            $0.total >= before.total + count
        }
        try await Task.sleep(for: Self.settling)
        let after = swarm.counters.counts
        guard after.total == before.total + count else {
            throw BenchmarkFailure("\(after.total - before.total) messages for \(count) pushes")
        }
        let share = count / self.swarm.devices
        for (after, before) in zip(after.messages, before.messages) where !(share...share + 1).contains(after - before)
        {
            throw BenchmarkFailure("a device got \(after - before) messages, not \(share)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
