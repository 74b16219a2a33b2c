import ArgumentParser
import Benchmarking
import PushDevice
import PushSender

/// Measures a reconnect storm: all devices disconnect, get one message each, and reconnect at once.
struct Storm: AsyncParsableCommand {
    @OptionGroup var swarm: SwarmOptions
    @OptionGroup var pushes: PushOptions

    func run() async throws {
        let devices = try DeviceFile.read(self.swarm.file).prefix(self.swarm.devices)
        guard let authority = devices.first?.identity.serviceAuthority else { throw BenchmarkFailure("no devices") }
        let count = devices.count
        let swarm = try Swarm(self.swarm, devices)
        let first = try await swarm.connect()
        figure("storm_first_connect", Double(Stamp.now - first) / 1e9, "s for \(count) devices")
        await swarm.disconnect()

        let sender = try Provider.sender(self.pushes, authority: authority)
        let pushes = devices.enumerated().compactMap { index, device in
            device.token.map { Provider.push(Stamp(index), to: $0) }
        }
        try await Provider.send(pushes, with: sender)
        await sender.close()

        let gateway = try ProcessStatistics(pid: self.swarm.pid).cpuSeconds
        let own = try ProcessStatistics.own().cpuSeconds
        let start = try await swarm.connect()
        try await swarm.counters.wait(for: "\(count) messages", seconds: 60) { $0.total >= count }
        // A duplicate would arrive in this second.
        try await Task.sleep(for: .seconds(1))
        let counts = swarm.counters.counts
        guard counts.stamps.count == count, counts.messages.allSatisfy({ $0 == 1 }) else {
            throw BenchmarkFailure(
                "\(counts.stamps.count) of \(count) messages came, \(counts.doubled) of them twice"
            )
        }
        figure(
            "storm_reconnect",
            Double(counts.lastArrival - start) / 1e9,
            "s until \(count) devices have their message"
        )
        figure(
            "storm_gateway_cpu",
            (try ProcessStatistics(pid: self.swarm.pid).cpuSeconds - gateway) * 1e6 / Double(count),
            "us/device"
        )
        figure("storm_load_cpu", (try ProcessStatistics.own().cpuSeconds - own) * 1e6 / Double(count), "us/device")
        await swarm.disconnect()
    }
}
